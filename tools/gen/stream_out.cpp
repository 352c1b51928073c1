#include "gen/stream_out.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/system/file.hpp"
#include "io/system/sys.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kBlockBytes = 4 * kMiB;  // a multiple of every key's size

io::File open_for_writing(const std::string& path) {
  const bool to_stdout = path == "-";
  const int fd = to_stdout ? io::sys::duplicate(STDOUT_FILENO)
                           : io::sys::open_at(AT_FDCWD, path.c_str(),
                                              O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const std::string name = to_stdout ? "standard output" : path;
  if (fd < 0) throw io::failed_call(ErrorKind::kOutput, "opening", name, errno);
  return {fd, name, ErrorKind::kOutput};
}

// Passes on blocks in the order of their numbers, whichever thread makes them; after a failure no
// thread waits any more.
class Turns {
 public:
  // Returns false when another thread has failed.
  bool wait_for(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ != nullptr || next_ == number; });
    return failure_ == nullptr;
  }
  void pass_on() {
    const std::lock_guard lock(mutex_);
    ++next_;
    changed_.notify_all();
  }
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) failure_ = std::move(failure);
    changed_.notify_all();
  }
  [[nodiscard]] bool has_failed() {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
  }
  void rethrow() {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void stream_out(const std::string& path, std::uint64_t total_bytes, unsigned threads,
                const MakeBlock& make) {
  io::File file = open_for_writing(path);
  const bool any_order = path != "-" && S_ISREG(file.facts().st_mode);
  const std::uint64_t blocks = div_up(total_bytes, kBlockBytes);
  std::atomic<std::uint64_t> next_block = 0;
  Turns turns;
  const auto work = [&] {
    try {
      std::vector<std::byte> buffer(std::min(kBlockBytes, total_bytes));
      for (std::uint64_t number = next_block++; number < blocks; number = next_block++) {
        const std::uint64_t offset = number * kBlockBytes;
        const auto block = std::span(buffer).first(std::min(kBlockBytes, total_bytes - offset));
        make(offset, block);
        if (any_order) {
          if (turns.has_failed()) return;
          file.write_full_at(block, offset);
        } else {
          if (!turns.wait_for(number)) return;
          file.write_full(block);
          turns.pass_on();
        }
      }
    } catch (...) {
      turns.fail(std::current_exception());
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work);
  }
  turns.rethrow();
  file.close();
}

}  // namespace gsort
