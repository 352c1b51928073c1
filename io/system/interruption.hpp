// Interruption: a callback for calls that wait for another program and are interrupted by a signal:
// a host of the library, such as an interpreter, can end the call then. Without it the call goes
// on.
#pragma once

#include <functional>
#include <utility>

namespace gsort::io {

// Applies to the calls of this thread while it lives; `look`, which outlives it, may throw.
class Interruption {
 public:
  explicit Interruption(const std::function<void()>& look) : before_(std::exchange(look_, &look)) {}
  ~Interruption() { look_ = before_; }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Throws: what `look` throws.
  static void look() {
    if (look_ != nullptr) (*look_)();
  }

 private:
  const std::function<void()>* before_;
  static inline thread_local const std::function<void()>* look_ = nullptr;
};

}  // namespace gsort::io
