// Workers: threads that do what the thread of the exchange must not wait for. A task's result is a
// completion, which that thread calls: so all state of the exchange belongs to one thread.
#pragma once

#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "base/blocking_queue.hpp"
#include "base/bytes.hpp"
#include "base/failure.hpp"

namespace gsort::cluster {

class Workers {
 public:
  using Completion = std::function<void()>;
  using Task = std::function<Completion(ByteSpan scratch)>;

  // One thread for each scratch buffer, and `mergers` for tasks that take long, which get none.
  // Throws: Error(kResource) when the system allows no further thread.
  Workers(const std::vector<ByteSpan>& scratch, unsigned mergers);
  ~Workers();  // drops tasks that have not begun, and waits for the others
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // These and finished() are for one thread.
  void load(Task task) {
    loads_.push(std::move(task));
    ++unfinished_;
  }
  void merge(Task task) {
    merges_.push(std::move(task));
    ++unfinished_;
  }
  // Whether there is a task whose completion finished() has not returned.
  [[nodiscard]] bool is_busy() const { return unfinished_ > 0; }

  // The completion of the next task that has ended, if there is one.
  // Throws: what a task has thrown.
  [[nodiscard]] std::optional<Completion> finished();

 private:
  void work(BlockingQueue<Task>& tasks, ByteSpan scratch);
  void stop();

  BlockingQueue<Task> loads_;
  BlockingQueue<Task> merges_;
  BlockingQueue<Completion> finished_;
  std::size_t unfinished_ = 0;
  Failure failure_;
  std::atomic<bool> stopped_{false};
  std::vector<std::jthread> threads_;  // last: they end before the rest goes
};

}  // namespace gsort::cluster
