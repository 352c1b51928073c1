// UniqueTurns: finds the places of the pieces of a sorted sequence after repeated elements are
// dropped. A piece gives the number of its elements that differ from the one before them, waits
// until all earlier pieces have done so, and learns its place.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

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

// Lets pieces do something in the order of their positions. Thread-safe.
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

// Value: a key as a number, or a normalised key. Thread-safe.
template <class Value>
class UniqueTurns {
 public:
  struct Place {
    std::uint64_t position = 0;  // in the output
    std::uint64_t elements = 0;  // that stay
    bool repeats_last = false;   // whether the first element has been put already
  };

  // The pieces, and their output, begin at `begin`; `last`, if any, is the element before the first
  // one.
  explicit UniqueTurns(std::uint64_t begin = 0, std::optional<Value> last = {})
      : turns_(begin), next_place_(begin), last_(std::move(last)) {}

  // `distinct` elements of the piece differ from the one before them, including the first one.
  // Throws: as PieceTurns.
  Place take(std::uint64_t position, std::uint64_t elements, std::uint64_t distinct,
             const Value& first, Value last) {
    return turns_.take(position, elements, [&] {
      const bool repeats_last = last_ == first;
      const Place place{next_place_, distinct - (repeats_last ? 1 : 0), repeats_last};
      next_place_ += place.elements;
      last_ = std::move(last);
      return place;
    });
  }
  void abandon() noexcept { turns_.abandon(); }

 private:
  PieceTurns turns_;
  // For the thread that has the turn:
  std::uint64_t next_place_;   // in the output
  std::optional<Value> last_;  // of the piece before, if there was one
};

}  // namespace gsort
