// SortedWindow: the stretch of a sorted input that is in memory. With several inputs, the least of
// the windows' last elements is a bound: all elements that come later are no less.
#pragma once

#include <cstddef>
#include <span>

#include "pipeline/input/sorted_input.hpp"

namespace gsort {

// For one thread at a time. `order` and `room` outlive it.
class SortedWindow {
 public:
  // Requires: room.size() is at least SortedInput::kLeastRead, and an element.
  SortedWindow(SortedInput input, const ElementOrder& order, ByteSpan room);

  // Reads on if half of the room is free. Elements that were taken are then overwritten. Throws: as
  // SortedInput::read().
  void fill();

  [[nodiscard]] ConstByteSpan elements() const { return room_.subspan(begin_, end_ - begin_); }
  [[nodiscard]] bool ended() const { return ended_; }

  // Requires: there are elements.
  [[nodiscard]] const std::byte* last() const { return room_.data() + end_ - element_bytes_; }

  // Takes the elements before `bound`, and with `equal_included` those that are equal to it; all of
  // them if `bound` is null.
  ByteSpan take_up_to(const std::byte* bound, bool equal_included);

 private:
  SortedInput input_;
  const ElementOrder& order_;
  std::size_t element_bytes_;
  ByteSpan room_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
};

// The bound up to which the windows can be taken: the least last element of the windows whose
// inputs continue, and its window; the first one if several end with it.
struct WindowBound {
  const std::byte* element = nullptr;  // null: all inputs have ended
  std::size_t window = 0;
};

[[nodiscard]] WindowBound bound_of(std::span<const SortedWindow> windows,
                                   const ElementOrder& order);

[[nodiscard]] bool anything_left(std::span<const SortedWindow> windows);

// Fills all windows, with at most this many threads.
void fill_all(std::span<SortedWindow> windows, unsigned threads);

}  // namespace gsort
