// circular_buffer: a window that slides over a long array, in a small array that never moves.
//
// Problem. The tiled merge loads a tile of A and a tile of B for every tile of output, but
// consumes only half of what it loaded: the other half is loaded again.
//
// Idea. Keep what was not consumed where it is. The window's element i stands at place (start +
// i) mod capacity; consuming c elements moves the start by c, and the c places that were freed,
// which follow the window's end around the corner, take the next c elements of the array.
//
// Example. Capacity 4 over the array 10 20 30 40 50 60 70:
//   start 0, places 10 20 30 40: the window reads 10 20 30 40
//   consume 3: start 3; places 0 1 2 are refilled with 50 60 70
//   start 3, places 50 60 70 40: the window reads 40 50 60 70
//
// Cost. Each element is loaded once. Each read pays for the wrap: one comparison and one
// subtraction, since start and i are both less than the capacity, or at most equal to it.
//
// Source. Hwu, Kirk, El Hajj, "Programming Massively Parallel Processors", 4th edition, 2022,
// section 12.7, doi:10.1016/C2020-0-02969-5. There the wrap is spelled out in the co-rank and in
// the merge; here both read through a view and know nothing of it.
#pragma once

#include "base/host_device.hpp"

namespace gsort::textbook {

// Where element `index` of a window that begins at `start` stands.
// Requires: start < capacity, index <= capacity.
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned circular_place(unsigned start, unsigned index,
                                                                  unsigned capacity) {
  const unsigned place = start + index;
  return place >= capacity ? place - capacity : place;
}

// The window as an array. Words is a pointer; capacity words live there.
template <class Words>
struct CircularView {
  Words words;
  unsigned start;
  unsigned capacity;

  GSORT_HOST_DEVICE constexpr decltype(auto) operator[](unsigned index) const {
    return words[circular_place(start, index, capacity)];
  }
  // The same window without its first `count` elements. Requires: count <= capacity.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr CircularView from(unsigned count) const {
    return {words, circular_place(start, count, capacity), capacity};
  }
};

}  // namespace gsort::textbook
