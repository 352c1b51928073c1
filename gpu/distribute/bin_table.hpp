// bin_table: the bins of a distribution, and the search for the bin of a key. For the host and the
// device.
//
// Problem. With 512 bins, a bisection takes nine dependent steps for each key.
//
// Idea. The range of the splitters is divided into equal cells, four times as many as there are
// bins, and each cell into 2^21 slots. A cell has an entry of 32 bits: the bin of its least key
// and, if one splitter lies in the cell, the slot before that splitter. So a key takes one look-up
// and one comparison, with no branch. A splitter that is alone in its cell is rounded down to the
// beginning of its slot, unless it bounds a bin of one key. This moves few keys to another bin,
// unless the keys are clustered: then a bin can become twice as long. In a cell with two splitters,
// or with one inside a slot, a key is searched for by bisection. If the keys are distributed
// evenly, few of them need this.
//
// Crowded cells. Normally distributed floats have most splitters in few cells, keys with far
// outliers in one. If one of a thread's keys needs a search, the thread searches for all its keys,
// in as many steps as the cell with the most splitters takes, so that the steps of several keys
// overlap. If this takes many steps, it descends a tree of all splitters instead (tree_node_of).
//
// Example: cells of 8 keys with slots of 2, from 0; splitters 0 5 20 22. Splitter 5 is alone in
// cell 0 and becomes 4, where slot 2 begins; the entry has bin 0 and slot 1. Key 3 is in slot 1:
// bin 0. Key 4 is in slot 2, after slot 1: bin 1. Cell 2 has two splitters: its keys are searched
// for in two steps, and are in bin 1, 2 or 3.
//
// Repeated keys. Bin i has the keys from splitter i to splitter i + 1, less one. If key v is so
// frequent in the sample that it is chosen as a splitter twice, the second one becomes v + 1. Then
// v has a bin of its own, which needs no sorting. Only one of equal splitters is kept: more would
// make the search in their cell longer, and the most frequent keys are in that cell.
//
// Example of repeated keys. Chosen splitters 0 20 20 20 30 become 0 20 21 21 30, of which 0 20 21
// 30 are kept: bin 1 has only 20, bin 2 has 21 to 29.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort::gpu {

inline constexpr unsigned kMostBinBits = 9;
inline constexpr unsigned kMostBins = 1U << kMostBinBits;
inline constexpr unsigned kCellBitsMore = 2;  // cells: four times as many as bins
inline constexpr unsigned kMostCells = kMostBins << kCellBitsMore;

// The place of a bin's number, or a cell's entry, in shared memory. It has a gap after every 32:
// keys in bit-reversed order, for example, have bins far apart, whose numbers would lie in one
// bank.
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned spread_place(unsigned number) {
  return number + number / 32;
}

// The place of number `number` > 0 of 2^bits ascending ones in a tree: node n has children 2n and
// 2n + 1, node 1 the middle number. A search descends `bits` times, to the right if the node is not
// above the key. No step branches, so the steps of several keys overlap; the nodes of a level lie
// side by side, so lanes seldom meet in a bank, as they do where the steps are powers of two.
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned tree_node_of(unsigned number, unsigned bits) {
  unsigned level = bits - 1;
  while (number % 2 == 0) {
    number /= 2;
    --level;
  }
  return (1U << level) + number / 2;
}

// An entry of the table of cells. From the lowest bit: 10 bits for a bin, and one bit that is set
// if the bin is searched for among later ones. The rest is the slot of the cell's splitter, less
// one; without a splitter, or where keys are searched for, the last slot, which no key exceeds.
inline constexpr unsigned kEntrySlotShift = 11;
inline constexpr std::uint32_t kSearched = 1U << 10;
inline constexpr std::uint32_t kEntryBin = kSearched - 1;
inline constexpr std::uint32_t kLastSlot = (1U << (32 - kEntrySlotShift)) - 1;
static_assert(kMostBins <= kEntryBin);
static_assert(kMostCells == 1U << kEntrySlotShift, "a position has the bits of a cell and a slot");

// Splitters low + 1 to high: those in a cell.
struct BinRange {
  std::uint16_t low;
  std::uint16_t high;

  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned count() const { return high - low; }
};

// The data of a table besides its splitters and cells. All keys lie in [least, most].
template <class Key>
struct BinHead {
  Key least;
  Key most;
  Key origin;      // less than splitter 1; where the cells begin
  Key last;        // splitter, before it is rounded; keys above it have its position
  unsigned shift;  // gives the range from origin to last all bits of a key
  unsigned bins;   // the number of splitters that are kept
  unsigned steps;  // the most that a bisection within a cell takes

  // The keys are all the same.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool is_single() const { return least == most; }

  // Ascends with the key. The upper bits are those of its cell.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint32_t position_of(Key key) const {
    const Key from = key > origin ? key : origin;
    const Key inside = from < last ? from : last;
    const Key shifted = static_cast<Key>((inside - origin) << shift);
    return static_cast<std::uint32_t>(shifted >> (8 * sizeof(Key) - 32));
  }
};

// One table, wherever it lies.
template <class Key>
struct BinTable {
  const Key* splitters = nullptr;        // ascending; splitter 0 is head.least
  const std::uint32_t* cells = nullptr;  // at their spread_place
  unsigned cell_bits = 0;

  // From the lowest bit: the bin of a key, unless kSearched is set.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint32_t find(const BinHead<Key>& head,
                                                               Key key) const {
    const std::uint32_t position = head.position_of(key);
    const std::uint32_t entry = cells[spread_place(position >> (32 - cell_bits))];
    const std::uint32_t slot = position << cell_bits & ~((1U << kEntrySlotShift) - 1);
    return (entry & (kSearched | kEntryBin)) + (slot > entry ? 1U : 0U);
  }
  // The last bin whose splitter is not above the key.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned bin_of(const BinHead<Key>& head,
                                                            Key key) const {
    const std::uint32_t found = find(head, key);
    unsigned bin = found & kEntryBin;
    if ((found & kSearched) == 0) return bin;
    for (unsigned step = 1U << head.steps >> 1; step > 0; step >>= 1) {
      if (bin + step < head.bins && splitters[bin + step] <= key) bin += step;
    }
    return bin;
  }

  // Whether bin `bin` holds only one key value, possibly repeated.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool is_single_bin(const BinHead<Key>& head,
                                                               unsigned bin) const {
    if (bin + 1 == head.bins) return splitters[bin] == head.most;
    return splitters[bin + 1] - splitters[bin] == 1;
  }
};

// The splitter for a chosen key and the key chosen before it. Both are at least `least`.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Key splitter_of(Key before, Key chosen, Key most) {
  return chosen == before && chosen < most ? static_cast<Key>(chosen + 1U) : chosen;
}

// The number of a value's bits without leading zeros.
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

// Sets the range that the cells of a table divide. `splitters` are its `bins` splitters, not
// rounded yet.
template <class Key>
GSORT_HOST_DEVICE constexpr void set_cells(const Key* splitters, unsigned bins, unsigned cell_bits,
                                           BinHead<Key>& head) {
  constexpr unsigned kSlotBits = 32 - kEntrySlotShift;
  head.bins = bins;
  head.last = splitters[bins - 1];
  const Key base = splitters[bins > 1 ? 1 : 0];
  // One slot before the base: keys below the base have the first slot.
  const unsigned bits = bits_of(head.last - base) + 1;
  const unsigned slot = bits > cell_bits + kSlotBits ? bits - cell_bits - kSlotBits : 0;
  const auto before = static_cast<Key>(Key{1} << slot);
  head.origin = base > before ? base - before : Key{0};
  head.shift = 8 * sizeof(Key) - bits_of((head.last - head.origin) | 1U);
}

// Slots of the cell below the key's place in it, and whether the key is the first of its slot.
struct CellSlot {
  std::uint32_t number;
  bool is_begin;
};
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr CellSlot slot_of(const BinHead<Key>& head,
                                                           unsigned cell_bits, Key key) {
  constexpr unsigned kSlotBits = 32 - kEntrySlotShift;
  const auto shifted = static_cast<Key>((key - head.origin) << head.shift);
  const auto in_cell = static_cast<Key>(shifted << cell_bits);
  return {static_cast<std::uint32_t>(in_cell >> (8 * sizeof(Key) - kSlotBits)),
          static_cast<Key>(in_cell << kSlotBits) == 0};
}

// Splitter `bin` > 0, rounded down to the beginning of its slot if it may be. Requires: set_cells.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Key rounded_splitter(const BinTable<Key>& table,
                                                               const BinHead<Key>& head,
                                                               unsigned bin) {
  const Key splitter = table.splitters[bin];
  const auto cell_of = [&](unsigned other) {
    return head.position_of(table.splitters[other]) >> (32 - table.cell_bits);
  };
  const bool is_alone = (bin == 1 || cell_of(bin - 1) != cell_of(bin)) &&
                        (bin + 1 == head.bins || cell_of(bin + 1) != cell_of(bin));
  const bool bounds_single = table.is_single_bin(head, bin - 1) || table.is_single_bin(head, bin);
  const unsigned kept = table.cell_bits + 32 - kEntrySlotShift;  // bits of what is shifted
  if (!is_alone || bounds_single || kept >= 8 * sizeof(Key)) return splitter;
  const auto shifted = static_cast<Key>((splitter - head.origin) << head.shift);
  const unsigned lost = 8 * sizeof(Key) - kept;
  const Key rounded = head.origin + static_cast<Key>((shifted >> lost << lost) >> head.shift);
  // Splitter 0 may be as near, if the cells begin at 0.
  return rounded > table.splitters[bin - 1] ? rounded : splitter;
}

// The last bin of the range whose splitter has a place before `end`, or else the first bin;
// place_of(bin) ascends.
template <class PlaceOf>
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint16_t last_bin_before(BinRange range,
                                                                        unsigned end,
                                                                        const PlaceOf& place_of) {
  unsigned low = range.low;
  unsigned bin = range.high + 1U;
  while (bin - low > 1) {
    const unsigned middle = low + (bin - low) / 2;
    (place_of(middle) < end ? low : bin) = middle;
  }
  return static_cast<std::uint16_t>(low);
}

// A cell's entry, and the steps of the bisection within it.
struct CellEntry {
  std::uint32_t bits;
  unsigned steps;
};

// Returns the entry of cell `cell` of a table; needs no other cells. Requires: its splitters are
// rounded.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr CellEntry cell_entry(const BinTable<Key>& table,
                                                               const BinHead<Key>& head,
                                                               unsigned cell) {
  const BinRange all{0, static_cast<std::uint16_t>(head.bins - 1)};
  const auto place_of = [&](unsigned bin) {
    return head.position_of(table.splitters[bin]) >> (32 - table.cell_bits);
  };
  const BinRange range{last_bin_before(all, cell, place_of),
                       last_bin_before(all, cell + 1, place_of)};
  constexpr std::uint32_t kNoSplitter = kLastSlot << kEntrySlotShift;
  if (range.count() == 0) return {kNoSplitter | range.low, 0};
  const CellSlot slot = slot_of(head, table.cell_bits, table.splitters[range.high]);
  if (range.count() > 1 || !slot.is_begin) {
    return {kNoSplitter | kSearched | range.low, bits_of(range.count())};
  }
  if (slot.number == 0) return {kNoSplitter | range.high, 0};
  return {(slot.number - 1) << kEntrySlotShift | range.low, 0};
}

}  // namespace gsort::gpu
