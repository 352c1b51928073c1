#include "emulator.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <sanitizer/asan_interface.h>

namespace gsort::gpu {
// The dynamic memory of the block that runs now; kernels declare it.
alignas(128) thread_local unsigned char shared_bytes[emulator::kMostSharedBytes];
}  // namespace gsort::gpu

namespace emulator {

thread_local Extent threadIdx;
thread_local Extent blockIdx;
thread_local Extent blockDim;
thread_local Extent gridDim;

namespace {

using boost::context::fiber;

// Not a power of two: the caches would hold the same bytes of only few stacks.
constexpr std::size_t kStackBytes = (256U << 10) + 64U * 37;
constexpr int kSharedPoison = 0xdb;

using Pool = boost::context::pooled_fixedsize_stack;

// Stacks are used again, also those that threads left by an exception or never: what
// AddressSanitizer knows of their frames goes.
struct Stacks : Pool {
  using Pool::Pool;

  boost::context::stack_context allocate() {
    const boost::context::stack_context stack = Pool::allocate();
    ASAN_UNPOISON_MEMORY_REGION(static_cast<std::byte*>(stack.sp) - stack.size, stack.size);
    return stack;
  }
};

// Lends stacks to one grid at a time. Later grids, on any thread, use them again, since their pages
// are already mapped.
class LentStacks {
 public:
  LentStacks() {
    const std::scoped_lock lock(mutex);
    if (!left.empty()) {
      stacks_ = std::move(left.back());
      left.pop_back();
    } else {
      stacks_ = std::make_unique<Stacks>(kStackBytes);
    }
  }
  ~LentStacks() {
    const std::scoped_lock lock(mutex);
    left.push_back(std::move(stacks_));
  }
  LentStacks(const LentStacks&) = delete;
  LentStacks& operator=(const LentStacks&) = delete;

  [[nodiscard]] Stacks& get() { return *stacks_; }

 private:
  static inline std::mutex mutex;
  static inline std::vector<std::unique_ptr<Stacks>> left;

  std::unique_ptr<Stacks> stacks_;
};

struct Thread {
  fiber context;      // where it goes on
  fiber scheduler;    // where its caller goes on
  unsigned mask = 0;  // of the exchange that it waits for
};

struct Warp {
  unsigned waiting = 0;  // lanes that wait for an exchange
  std::array<std::uint64_t, 32> given{};
  // Results of the exchanges completed in this turn and in the one before. Threads that continue
  // read the results of the turn before, while exchanges with other masks store those of this turn.
  std::array<std::array<std::uint64_t, 32>, 2> told{};
};

class Block {
 public:
  Block(unsigned threads, Stacks& stacks)
      : threads_(threads), warps_((threads + 31) / 32), stacks_(stacks) {}

  void run(const std::function<void()>& kernel, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (unsigned i = 0; i < threads_.size(); ++i) {
      Thread& thread = threads_[i];
      thread.context =
          fiber(std::allocator_arg, stacks_, [this, &thread, &kernel](fiber&& scheduler) {
            thread.scheduler = std::move(scheduler);
            kernel();
            end();
            return std::move(thread.scheduler);
          });
      ready_.push_back(i);
    }
    running_ = static_cast<unsigned>(threads_.size());
    while (!ready_.empty()) {
      std::vector<unsigned> now;
      now.swap(ready_);
      ++turn_;
      std::shuffle(now.begin(), now.end(), random);
      for (const unsigned i : now) {
        threadIdx = i;
        threads_[i].context = std::move(threads_[i].context).resume();
      }
    }
    if (error_) std::rethrow_exception(error_);
    if (running_ > 0) {
      throw std::logic_error("block " + std::to_string(blockIdx.x) + ": " +
                             std::to_string(running_) + " threads wait forever");
    }
  }

  // Ends the thread that runs now, and the block's run with this error. Does not return; but it
  // neither throws nor says so, as AddressSanitizer, told that a function will not return, takes
  // the fiber's stack for the thread's own.
  void refuse(const char* reason) {
    error_ = std::make_exception_ptr(std::logic_error(reason));
    end();
    suspend();
  }

  unsigned wait_for_block(bool says_yes) {
    yes_ += says_yes ? 1 : 0;
    at_barrier_.push_back(threadIdx.x);
    if (at_barrier_.size() == running_) open_barrier();
    suspend();
    return told_yes_;
  }

  const std::array<std::uint64_t, 32>& exchange(unsigned mask, std::uint64_t value) {
    const unsigned self = threadIdx.x;
    const unsigned first = self & ~31U;
    Warp& warp = warps_[self / 32];
    threads_[self].mask = mask;
    warp.given[self - first] = value;
    warp.waiting |= 1U << (self - first);
    if ((warp.waiting & mask) == mask && all_agree(first, mask)) {
      for (unsigned i = 0; i < 32; ++i) {
        if ((mask >> i & 1U) == 0) continue;
        warp.told[turn_ % 2][i] = warp.given[i];
        ready_.push_back(first + i);
      }
      warp.waiting &= ~mask;
    }
    suspend();
    return warp.told[(turn_ - 1) % 2];
  }

 private:
  [[nodiscard]] bool all_agree(unsigned first, unsigned mask) const {
    for (unsigned i = 0; i < 32; ++i) {
      if ((mask >> i & 1U) != 0 && threads_[first + i].mask != mask) return false;
    }
    return true;
  }

  void open_barrier() {
    told_yes_ = yes_;
    yes_ = 0;
    ready_.insert(ready_.end(), at_barrier_.begin(), at_barrier_.end());
    at_barrier_.clear();
  }

  void end() {
    --running_;
    if (running_ > 0 && at_barrier_.size() == running_) open_barrier();
  }

  void suspend() {
    Thread& thread = threads_[threadIdx.x];
    thread.scheduler = std::move(thread.scheduler).resume();
  }

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Stacks& stacks_;
  std::vector<unsigned> ready_;
  std::vector<unsigned> at_barrier_;
  unsigned turn_ = 0;     // threads that are ready go on once in each
  unsigned running_ = 0;  // threads that have not ended
  unsigned yes_ = 0;
  std::exception_ptr error_;
  unsigned told_yes_ = 0;  // at the last barrier that opened
};

thread_local Block* current = nullptr;
thread_local std::size_t dynamic_bytes = 0;  // of this grid's blocks

}  // namespace

void run_grid(const GridShape& shape, const std::function<void()>& kernel) {
  LentStacks stacks;
  gridDim = shape.blocks;
  blockDim = shape.threads;
  dynamic_bytes = shape.shared_bytes;
  for (unsigned i = 0; i < shape.blocks.x; ++i) {
    Block block(shape.threads.x, stacks.get());
    blockIdx = i;
    std::memset(gsort::gpu::shared_bytes, kSharedPoison, shape.shared_bytes);
    current = &block;
    block.run(kernel, i);
  }
  current = nullptr;
}

unsigned wait_for_block(bool says_yes) {
  return current->wait_for_block(says_yes);
}

const std::array<std::uint64_t, 32>& exchange(unsigned mask, std::uint64_t value) {
  return current->exchange(mask, value);
}

unsigned shared_address(const void* memory) {
  const auto offset = static_cast<const unsigned char*>(memory) - gsort::gpu::shared_bytes;
  if (offset < 0 || static_cast<std::size_t>(offset) > dynamic_bytes) {
    current->refuse("not in dynamic shared memory");
    return 0;
  }
  return static_cast<unsigned>(offset);
}

const void* shared_memory(unsigned address, std::size_t bytes) {
  if (address + bytes > dynamic_bytes) {
    current->refuse("a read beyond shared memory");
    return nullptr;
  }
  return gsort::gpu::shared_bytes + address;
}

}  // namespace emulator
