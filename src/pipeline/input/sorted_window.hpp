// SortedWindow: the stretch of a sorted input that is in memory. Of several inputs, the least of
// the windows' last elements bounds what is known of all: whatever comes later is no less.
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

  // Reads on where half of the room is free. What has been taken is then gone.
  // Throws: as SortedInput::read().
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

// Up to where the windows can be taken: the least of the last elements of those that go on, and
// the window that brought it, of several that end alike the first one.
struct WindowBound {
  const std::byte* element = nullptr;  // null: no input goes on
  std::size_t window = 0;
};

[[nodiscard]] WindowBound bound_of(std::span<const SortedWindow> windows,
                                   const ElementOrder& order);

[[nodiscard]] bool anything_left(std::span<const SortedWindow> windows);

// Fills all of them, by at most so many threads.
void fill_all(std::span<SortedWindow> windows, unsigned threads);

}  // namespace gsort
