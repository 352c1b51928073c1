// PieceTurns: lets the pieces of a sorted sequence find their places, one after the other, when
// repeated elements are dropped.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <fmt/format.h>

#include "base/error.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {

// The error of a piece that ends before element `end` of the remaining ones.
[[nodiscard]] inline Error dropped_others(std::uint64_t end) {
  return Error(ErrorKind::kCorrupt, fmt::format("dropping repeats in front of element {}", end),
               "elements that are not repeats were dropped")
      .hint(kDamageHint);
}

// Thread-safe.
class PieceTurns {
 public:
  // The first piece is at `begin`.
  explicit PieceTurns(std::uint64_t begin = 0) : next_element_(begin) {}

  // Waits for the turn of the piece of `elements` elements at `position`, calls `act`, and passes
  // the turn on. Throws: Error(kOutput) after abandon(); Error(kCorrupt) for a piece that has been
  // put before, whose turn would never come.
  template <class Act>
  auto take(std::uint64_t position, std::uint64_t elements, const Act& act) {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return next_element_ >= position || abandoned_; });
    if (abandoned_) {
      throw Error(ErrorKind::kOutput, "writing", "stopped before the output was complete")
          .hint("see the other message");
    }
    if (next_element_ != position) {
      throw Error(ErrorKind::kCorrupt, fmt::format("dropping repeats at element {}", position),
                  "elements from here on were already written")
          .hint(kDamageHint);
    }
    auto result = act();
    next_element_ += elements;
    turn_.notify_all();
    return result;
  }

  // All waiting calls fail.
  void abandon() noexcept {
    {
      const std::scoped_lock lock(mutex_);
      abandoned_ = true;
    }
    turn_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable turn_;
  std::uint64_t next_element_;  // whose turn it is
  bool abandoned_ = false;
};

}  // namespace gsort
