// SampledCells: cells of a tile whose keys are unevenly spaced, as clustered times and floats near
// zero are. For the host and the device.
//
// Idea. A sorted sample of the tile divides its range into segments of about equally many keys.
// Each segment has equal cells (key_cells.hpp). A key takes a bisection among the segments, then
// its cell. A key that the sample has twice gets a segment of its own (splitter_of), so that it
// needs no ranks however often it repeats.
//
// Example. Range 0 to 2000, sample 3 5 5 1000: segments from 0, 5, 6 and 1000. The one from 5 has
// only key 5; cells of the one from 6 are 994 / kCellsOfSegment wide.
#pragma once

#include <cstdint>

#include "gpu/distribute/bin_table.hpp"
#include "gpu/distribute/key_cells.hpp"

namespace gsort::gpu {

template <class Key, unsigned kCells>
struct SampledCells {
  static constexpr unsigned kCellsOfSegment = 32;
  static constexpr unsigned kSegments = kCells / kCellsOfSegment;
  using Cells = KeyCells<Key, kCellsOfSegment>;

  Key sample[kSegments];  // sorted; the first key is not used
  Key begins[kSegments];
  Cells cells[kSegments];

  // Makes segment `i`. Requires: the sample lies in [least, greatest].
  GSORT_HOST_DEVICE constexpr void make_segment(unsigned i, Key least, Key greatest) {
    const auto begin_of = [&](unsigned segment) {
      if (segment == 0) return least;
      return splitter_of(segment == 1 ? least : sample[segment - 1], sample[segment], greatest);
    };
    begins[i] = begin_of(i);
    Key last = greatest;
    if (i + 1 < kSegments) {
      const Key next = begin_of(i + 1);
      last = next > begins[i] ? static_cast<Key>(next - 1U) : next;
    }
    cells[i] = Cells::of(begins[i], last);
  }

  // Less than kCells; ascends with the key. Requires: the key is in the range.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned of_key(Key key) const {
    unsigned segment = 0;  // the last one that begins at or before the key
    for (unsigned step = kSegments / 2; step > 0; step /= 2) {
      if (begins[segment + step] <= key) segment += step;
    }
    return segment * kCellsOfSegment + cells[segment].of_key(key);
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool is_single(unsigned cell) const {
    return cells[cell / kCellsOfSegment].are_single();
  }
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr bool are_single() { return false; }
};

}  // namespace gsort::gpu
