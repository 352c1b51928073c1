// Failure: the first exception of several threads. The first one wins; the others see failed() and
// stop. Thread-safe.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

namespace gsort {

class Failure {
 public:
  // Keeps the current exception, if it is the first.
  void capture() noexcept {
    const std::scoped_lock lock(mutex_);
    if (!first_) first_ = std::current_exception();
    failed_.store(true, std::memory_order_release);
  }

  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }

  // Throws the exception that was kept, if there is one.
  void rethrow() {
    const std::scoped_lock lock(mutex_);
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace gsort
