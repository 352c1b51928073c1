// BlockingQueue: a queue between two stages. pop() waits for an item; close() says that no more
// items come, or that a stage failed and the others should stop. Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace gsort {

template <class T>
class BlockingQueue {
 public:
  // Returns false, and drops the item, if the queue is closed.
  bool push(T item) {
    const std::scoped_lock lock(mutex_);
    if (closed_) return false;
    items_.push_back(std::move(item));
    ready_.notify_one();
    return true;
  }

  // The next item; none when the queue is closed and all items have been taken.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  // The same without waiting.
  std::optional<T> try_pop() {
    const std::scoped_lock lock(mutex_);
    if (items_.empty()) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    ready_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace gsort
