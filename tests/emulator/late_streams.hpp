// Streams whose work is done late: not when it is queued, but when somebody waits for it, and then
// in a random order of all orders that streams and events allow. So results are wrong if a stream
// does not wait for another one when it must. The streams of a device know nothing of
// those of others. Host memory is treated as pinned: it must live until the copy is done.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

namespace emulator {

// Set when the work before an event is done. Null: there is nothing to wait for.
using Flag = std::shared_ptr<bool>;

// The streams of one device. Thread-safe.
class LateStreams {
 public:
  void add(const void* stream, std::function<void()> work);
  void add_wait(const void* stream, const Flag& flag);
  [[nodiscard]] Flag record(const void* stream);

  void finish(const void* stream);
  void finish(const Flag& flag);
  void finish_all();

  // The stream ends; work that is queued on it is still done.
  void forget(const void* stream);

 private:
  struct Step {
    std::function<void()> work;
    Flag waits_for;
  };
  using Queue = std::deque<Step>;

  void add_step(const void* stream, Step step);
  void run_one();
  [[nodiscard]] std::vector<Queue*> ready();

  std::mutex mutex_;
  std::map<const void*, Queue> queues_;
  std::vector<Queue> forgotten_;
  std::minstd_rand random_;
};

}  // namespace emulator
