// SampledCells: cells of a tile whose keys are unevenly spaced, as clustered times and floats near
// zero are. For the host and the device.
//
// Idea. A sorted sample of the tile divides its range into segments of about equally many keys.
// Each segment has equal cells (key_cells.hpp). A key descends a tree of the segments, then takes
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
  static constexpr unsigned kSegmentBits = bits_of(kSegments - 1);
  using Cells = KeyCells<Key, kCellsOfSegment>;

  Key sample[kSegments];  // sorted; the first key is not used
  Key nodes[kSegments];   // where segments begin, as a tree (tree_node_of)
  Cells cells[kSegments];
  std::uint32_t ranks[kSegments];  // of the sample's keys, while it is sorted

  // Makes segment `i`. Requires: the sample lies in [least, greatest].
  GSORT_HOST_DEVICE constexpr void make_segment(unsigned i, Key least, Key greatest) {
    const auto begin_of = [&](unsigned segment) {
      if (segment == 0) return least;
      return splitter_of(segment == 1 ? least : sample[segment - 1], sample[segment], greatest);
    };
    const Key begin = begin_of(i);
    if (i > 0) nodes[tree_node_of(i, kSegmentBits)] = begin;
    Key last = greatest;
    if (i + 1 < kSegments) {
      const Key next = begin_of(i + 1);
      last = next > begin ? static_cast<Key>(next - 1U) : next;
    }
    // Puts the counters of frequent keys into different banks.
    cells[i] = begin == last ? Cells::of_one(begin, i % kCellsOfSegment) : Cells::of(begin, last);
  }

  // Less than kCells; ascends with the key. Requires: the key is in the range.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned of_key(Key key) const {
    unsigned node = 1;
    for (unsigned level = 0; level < kSegmentBits; ++level) {
      node = 2 * node + (nodes[node] <= key ? 1U : 0U);
    }
    const unsigned segment = node - kSegments;  // the last one that begins at or before the key
    return segment * kCellsOfSegment + cells[segment].of_key(key);
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool is_single(unsigned cell) const {
    return cells[cell / kCellsOfSegment].are_single();
  }
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr bool are_single() { return false; }
};

}  // namespace gsort::gpu
