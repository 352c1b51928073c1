// The only file that uses oneTBB. ThreadSanitizer cannot see into that library or the state that
// its headers share with it, so this file is not instrumented; it tells the sanitizer itself about
// the order of tasks and callers (HandOver).
#include "base/tasks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <latch>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <tbb/blocked_range.h>
#include <tbb/cache_aligned_allocator.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "base/bytes.hpp"
#include "base/failure.hpp"
#include "base/made_once.hpp"

#if defined(GSORT_TELLS_TSAN)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace gsort {
namespace {

constexpr unsigned kMostThreads = 1023;

// Makes oneTBB load its allocator before main(). Later there may be no memory for that: glibc 2.36
// writes through a null pointer if dlopen() fails for lack of it.
[[maybe_unused]] const bool kAllocatorIsLoaded = [] {
  tbb::cache_aligned_allocator<char> allocator;
  allocator.deallocate(allocator.allocate(1), 1);
  return true;
}();

// All writes before let_go() are visible after the take() that follows it.
class HandOver {
 public:
#if defined(GSORT_TELLS_TSAN)
  void let_go() {
    __tsan_release(this);
  }
  void take() {
    __tsan_acquire(this);
  }
#else
  void let_go() {}
  void take() {}
#endif
};

// The most addresses that the C library reserves when a thread first allocates memory.
class HeapAddresses {
 public:
  HeapAddresses()
      : begin_(::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                      0)) {
    if (begin_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~HeapAddresses() { ::munmap(begin_, kBytes); }
  HeapAddresses(const HeapAddresses&) = delete;
  HeapAddresses& operator=(const HeapAddresses&) = delete;

 private:
  static constexpr std::size_t kBytes = 128 * kMiB;
  void* const begin_;
};

// The number of wanted threads that the system allows in addition to the existing ones. Under a
// limit on addresses (ulimit -v), each has room for its heap, or the heap of an earlier thread
// could take the room of a later one's stack.
unsigned threads_given(unsigned wanted) noexcept {
  std::latch leave(1);
  std::list<HeapAddresses> heaps;  // an empty one needs no memory
  std::vector<std::jthread> threads;
  try {
    threads.reserve(wanted);  // a thread without a place here would be waited for
    while (threads.size() < wanted) {
      heaps.emplace_back();
      threads.emplace_back([&leave] { leave.wait(); });
    }
  } catch (const std::exception&) {  // the system allows no more
  }
  leave.count_down();
  return static_cast<unsigned>(threads.size());
}

// Makes oneTBB start its threads now, and no other ones later: each gets a task that ends when all
// have started. It does not wait forever, because other code in the process may use these threads.
void start_threads(unsigned count) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  std::atomic<unsigned> here{0};
  const auto be_here = [&] {
    ++here;
    while (here <= count && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  };
  tbb::task_arena arena(static_cast<int>(count + 1));
  arena.execute([&]() noexcept {
    tbb::task_group group;
    for (unsigned thread = 0; thread < count; ++thread) group.run(be_here);
    be_here();
    group.wait();
  });
}

// If oneTBB does not get a thread, it waits forever inside its pool. So it gets a limit that the
// system has shown to allow.
class ThreadLimit {
 public:
  // Gives `arena` the wanted number of threads, or as many as possible, and returns their number.
  // The system is asked once, and again if an arena wants more than any before and the system gave
  // all of those. oneTBB prints a warning about an arena larger than the limit, so the arena is
  // made before others can lower the limit.
  unsigned take(unsigned wanted, tbb::task_arena& arena) {
    const std::scoped_lock lock(mutex_);
    if (wanted > asked_ && given_ == asked_) ask(wanted);
    const unsigned given = std::min(wanted, given_);
    arena.initialize(static_cast<int>(1 + given));
    return given;
  }

 private:
  // If the system gives all threads, the limit for other code that uses oneTBB in this process does
  // not fall below its own.
  void ask(unsigned wanted) noexcept {
    asked_ = wanted;
    given_ = threads_given(wanted);
    const auto own_limit = static_cast<unsigned>(tbb::info::default_concurrency());
    control_.emplace(tbb::global_control::max_allowed_parallelism,
                     given_ < asked_ ? 1 + given_ : std::max(1 + given_, own_limit));
    if (given_ > 0) start_threads(given_);
  }

  std::mutex mutex_;
  unsigned asked_ = 0;
  unsigned given_ = 0;
  std::optional<tbb::global_control> control_;
};

// False in a process forked from one that had used oneTBB: it has none of the threads, and
// a lock of oneTBB may stay locked forever.
bool may_use_threads() {
  return made_once([] { return forks_before(); }) == forks_before();
}

ThreadLimit& thread_limit() {
  return made_once_a_process([] { return ThreadLimit(); });
}

// Runs tasks so that no exception passes through oneTBB, and the first one is kept.
class Guard {
 public:
  Guard() { before_.let_go(); }

  // Each function that oneTBB calls begins with enter() and ends with leave().
  void enter() { before_.take(); }
  void leave() { after_.let_go(); }

  template <class Work, class OnFailure>
  void run(const Work& work, const OnFailure& on_failure) noexcept {
    try {
      work();
    } catch (...) {
      failure_.capture();
      on_failure();
    }
  }

  [[nodiscard]] bool failed() const { return failure_.failed(); }

  // Call it when all have returned.
  void end() {
    after_.take();
    failure_.rethrow();
  }

 private:
  HandOver before_;
  HandOver after_;
  Failure failure_;
};

}  // namespace

struct TaskArena::Arena {
  explicit Arena(unsigned wanted) : threads(thread_limit().take(wanted, tbb)) {}

  tbb::task_arena tbb;
  const unsigned threads;
};

TaskArena::TaskArena(unsigned workers)
    : arena_(workers <= 1 || !may_use_threads()
                 ? nullptr
                 : std::make_unique<Arena>(std::min(workers - 1, kMostThreads))),
      workers_(arena_ ? 1 + arena_->threads : 1) {}

TaskArena::~TaskArena() = default;

void TaskArena::for_each(std::size_t count, const Task& task) {
  if (!arena_ || count <= 1) {
    for (std::size_t number = 0; number < count; ++number) task(number);
    return;
  }
  Guard guard;
  arena_->tbb.execute([&]() noexcept {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, count),
        [&](const tbb::blocked_range<std::size_t>& range) {
          guard.enter();
          for (std::size_t number = range.begin(); number < range.end(); ++number) {
            if (!guard.failed()) guard.run([&] { task(number); }, [] {});
          }
          guard.leave();
        },
        tbb::simple_partitioner());
  });
  guard.end();
}

// One loop for each worker instead of oneTBB's pipeline: a worker takes its next number itself, so
// nothing passes between threads between two tasks.
void TaskArena::for_each_in_order(std::size_t count, const WorkerTask& task, const Steps& steps) {
  Guard guard;
  std::mutex mutex;  // guards `next`
  std::size_t next = 0;
  const auto begin = [&]() -> std::optional<std::size_t> {
    const std::scoped_lock lock(mutex);
    if (next == count || guard.failed()) return std::nullopt;
    steps.on_begin();
    return next++;
  };
  const auto work = [&](unsigned worker) {
    guard.enter();
    while (const auto number = begin()) {
      guard.run([&] { task(*number, worker); }, steps.on_failure);
      steps.on_end();
    }
    guard.leave();
  };
  const auto loops = static_cast<unsigned>(std::min<std::size_t>(workers_, count));
  if (loops <= 1) {
    work(0);
  } else {
    arena_->tbb.execute(
        [&]() noexcept { tbb::parallel_for(0U, loops, work, tbb::simple_partitioner()); });
  }
  guard.end();
}

}  // namespace gsort
