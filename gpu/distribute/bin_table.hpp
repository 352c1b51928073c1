// bin_table: the bins of a distribution, and which of them a key belongs to. For the host and the
// device.
//
// Problem. Of 512 bins a search by bisection takes nine dependent steps for each key.
//
// Idea. The range from the first splitter to the last is cut into cells of 2^shift keys, eight
// times as many as there are bins. An entry for each cell says which bin its least key is in and
// how many steps of bisection are left: none if no splitter lies in the cell, one for one splitter.
// So a key takes one look-up and, for most, at most one comparison.
//
// Repetition. Bin i has the keys from splitter i to splitter i + 1, less one. If the sample holds a
// key v so often that it is chosen as a splitter twice, the second one becomes v + 1: then v has a
// bin of its own, which needs no sorting. Only one of equal splitters is kept: more would only make
// the search in their cell longer, and the most frequent keys are there.
//
// Example. Chosen 0 20 20 20 30 become 0 20 21 21 30, of which 0 20 21 30 are kept: bin 1 has 20
// alone, bin 2 has 21 to 29.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort::gpu {

inline constexpr unsigned kMostBinBits = 9;
inline constexpr unsigned kMostBins = 1U << kMostBinBits;
inline constexpr unsigned kCellBitsMore = 3;  // cells: eight times as many as bins
inline constexpr unsigned kMostCells = kMostBins << kCellBitsMore;

// An entry of the table of cells: a bin, and above it the steps of bisection.
inline constexpr unsigned kCellStepShift = 10;
static_assert(kMostBins <= 1U << kCellStepShift);

// What a table says beside its splitters and cells. All keys lie in [least, most].
template <class Key>
struct BinHead {
  Key least;
  Key most;
  Key base;        // splitter 1, where the cells begin
  unsigned shift;  // a cell has 2^shift keys
  unsigned bins;   // the number of splitters that are kept

  // The keys are all the same.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool is_single() const { return least == most; }
};

// One table, wherever it lies.
template <class Key>
struct BinTable {
  const Key* splitters;  // ascending; splitter 0 is head.least
  const std::uint16_t* cells;
  unsigned last_cell;

  // The last bin whose splitter is not above the key.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned bin_of(const BinHead<Key>& head,
                                                            Key key) const {
    const Key cell = static_cast<Key>((key > head.base ? key - head.base : Key{0}) >> head.shift);
    const unsigned entry = cells[cell < last_cell ? static_cast<unsigned>(cell) : last_cell];
    unsigned bin = entry & ((1U << kCellStepShift) - 1);
    for (unsigned step = (1U << (entry >> kCellStepShift)) >> 1; step > 0; step >>= 1) {
      if (bin + step < head.bins && splitters[bin + step] <= key) bin += step;
    }
    return bin;
  }

  // Does bin `bin` hold one key only, however often?
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool is_single_bin(const BinHead<Key>& head,
                                                               unsigned bin) const {
    if (bin + 1 == head.bins) return splitters[bin] == head.most;
    return splitters[bin + 1] - splitters[bin] == 1;
  }
};

// A splitter by the key chosen for it and the one chosen before, neither below `least`.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Key splitter_of(Key before, Key chosen, Key most) {
  return chosen == before && chosen < most ? static_cast<Key>(chosen + 1U) : chosen;
}

// The number of a value's bits, its leading zeros aside.
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned bits_of(std::uint64_t value) {
  unsigned bits = 0;
  for (unsigned step = 32; step > 0; step >>= 1) {
    if (value >> step != 0) {
      bits += step;
      value >>= step;
    }
  }
  return bits + static_cast<unsigned>(value);
}

// How far keys are shifted so that those from `base` to `last` fit 2^cell_bits cells.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned cell_shift(Key base, Key last,
                                                              unsigned cell_bits) {
  const unsigned bits = bits_of(last - base);
  return bits > cell_bits ? bits - cell_bits : 0;
}

// The entry of cell `cell`. `table` needs no cells for this.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned cell_entry(const BinTable<Key>& table,
                                                              const BinHead<Key>& head,
                                                              unsigned cell) {
  const auto last_not_above = [&](Key key) {
    unsigned low = 0;
    unsigned end = head.bins;
    while (end - low > 1) {
      const unsigned middle = low + (end - low) / 2;
      (table.splitters[middle] <= key ? low : end) = middle;
    }
    return low;
  };
  constexpr Key kGreatest = static_cast<Key>(~Key{0});
  const Key room = static_cast<Key>(kGreatest - head.base);
  const Key skipped = static_cast<Key>(Key{cell} << head.shift);
  const Key width = static_cast<Key>((Key{1} << head.shift) - 1U);
  const Key first = skipped < room ? static_cast<Key>(head.base + skipped) : kGreatest;
  const bool ends = cell == table.last_cell || kGreatest - first < width;
  const unsigned low = cell == 0 ? 0 : last_not_above(first);
  const unsigned high = last_not_above(ends ? kGreatest : static_cast<Key>(first + width));
  return low | bits_of(high - low) << kCellStepShift;
}

}  // namespace gsort::gpu
