// tile_lists: how a tile of shared memory holds many lists, to be sorted side by side. Index
// arithmetic alone, for the host and the device; batch_tile.cuh has the kernels' part.
//
// Problem. Arrays of a batch have any length; a tile has rows of E words, a thread a row, and the
// merge levels of block_merge.cuh take whole rows.
//
// Idea. An array of d keys takes ceil(d / E) rows, the last one filled up with the greatest key.
// Its rows are numbered from 0, and the level that merges lists of L rows joins the rows [2Lm, 2Lm
// + L) with [2Lm + L, 2Lm + 2L), cut off where the array ends; what has no partner waits. So any
// number of rows will do, and after ceil(log2(rows)) levels the array is sorted; the greatest keys
// are behind its own, and are not stored. An array of at most E / 2 keys would waste most of a row:
// a row then holds E / S of them, S the next power of two, and a network of S keys sorts each.
//
// Example. E = 4. d = 9: three rows: 0 1 2; level L = 1 joins 0 with 1, level L = 2 joins 0 1
// with 2.
//   d = 2: a row holds two arrays; d = 3: a row holds one.
//
// Rows of an array lie in one warp if that wastes little, since the barriers of its levels are then
// the warp's own; else arrays follow each other with no gap, and the block's barriers serve.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "gpu/merge/thread_sort.hpp"

namespace gsort::gpu {

inline constexpr unsigned kWarpRows = 32;

// The facts that the thread of a row has. Position is 32 bits wide where sources count from the
// tile's first key, 64 bits where they count in the input: registers are dear here.
template <class Position>
struct TileRow {
  Position source = 0;     // of the row's first key
  unsigned count = 0;      // keys of the row, end to end from there; 0: the row is idle
  unsigned list_row = 0;   // the row's number in its list
  unsigned list_rows = 0;  // rows of its list
};

// Row `list_row` of a list of `length` keys that begins at `begin`.
template <class Position>
[[nodiscard]] GSORT_HOST_DEVICE constexpr TileRow<Position> row_of_list(Position begin,
                                                                        unsigned length,
                                                                        unsigned list_row,
                                                                        unsigned row_words) {
  const unsigned skipped = list_row * row_words;
  if (skipped >= length) return {};
  const unsigned left = length - skipped;
  return {begin + skipped, left < row_words ? left : row_words, list_row,
          (length + row_words - 1) / row_words};
}

// The two lists that a level joins, as far as one row is concerned. Rows count in the row's list.
struct LevelLists {
  unsigned first_row = 0;
  unsigned rows = 0;       // of both together; 0: the row's list has no partner in this level
  bool in_second = false;  // the row belongs to the second list
};

template <class Position>
[[nodiscard]] GSORT_HOST_DEVICE constexpr LevelLists level_lists(const TileRow<Position>& row,
                                                                 unsigned joined_rows) {
  LevelLists lists;
  lists.first_row = row.list_row & ~(2 * joined_rows - 1);
  if (lists.first_row + joined_rows >= row.list_rows) return lists;
  const unsigned left = row.list_rows - lists.first_row;
  lists.rows = left < 2 * joined_rows ? left : 2 * joined_rows;
  lists.in_second = (row.list_row & joined_rows) != 0;
  return lists;
}

// Sorts each kListWords neighbours of the keys, ascending.
template <std::size_t kListWords, class Key, std::size_t kCount>
GSORT_HOST_DEVICE constexpr void thread_sort_lists(Key (&keys)[kCount]) {
  static_assert(kCount % kListWords == 0);
  if constexpr (kListWords > 1) {
    constexpr std::size_t kPairs = batcher_pair_count(kListWords);
    static_for<kPairs*(kCount / kListWords)>([&](auto index) {
      constexpr std::size_t kIndex = decltype(index)::value;
      constexpr std::size_t kList = kIndex / kPairs * kListWords;
      constexpr ComparatorPair kPair = kBatcherPairs<kListWords>[kIndex % kPairs];
      thread_compare_exchange<comparator_at(kIndex)>(keys[kList + kPair.first],
                                                     keys[kList + kPair.second]);
    });
  }
}

// Word `slot` of a row with lists of list_words words that hold array_keys keys each: which of the
// row's keys it is; kNoKey for fill. Places beyond the row's count are fill as well.
inline constexpr unsigned kNoKey = ~0U;
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned key_of_slot(unsigned slot, unsigned list_words,
                                                               unsigned array_keys) {
  if (array_keys >= list_words) return slot;
  const unsigned place = slot & (list_words - 1);
  return place < array_keys ? slot / list_words * array_keys + place : kNoKey;
}

// Where the tiles of a launch have their arrays, all of the same length. An item is one array or,
// where rows hold several, a row of them.
struct EvenLayout {
  std::uint64_t total_keys = 0;
  std::uint64_t item_count = 0;
  unsigned array_keys = 0;
  unsigned list_words = 0;  // S: words of an array in its row; E for arrays of whole rows
  unsigned row_words = 0;   // E
  unsigned item_keys = 0;
  unsigned item_rows = 0;
  unsigned item_stride = 0;   // rows from one item to the next
  unsigned unit_shift = 0;    // items lie within units of 2^unit_shift rows: a warp's, or the tile
  unsigned items_a_unit = 0;  // at least 1
  unsigned items_a_tile = 0;
  bool lists_in_warps = false;  // lists of up to 32 rows, aligned in their item, lie in one warp
  bool dense = false;           // the words of a tile are the input's keys, with no fill between

  // Position of a tile's first key, and how many keys the tile has.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t tile_begin(std::uint64_t tile) const {
    return tile * items_a_tile * item_keys;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned keys_of_tile(std::uint64_t tile) const {
    const std::uint64_t left = total_keys - tile_begin(tile);
    const unsigned most = items_a_tile * item_keys;
    return left < most ? static_cast<unsigned>(left) : most;
  }

  // Row `row` of a tile of `keys` keys.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr TileRow<std::uint32_t> row_of(unsigned keys,
                                                                          unsigned row) const {
    const unsigned in_unit = row & ((1U << unit_shift) - 1);
    const unsigned index = in_unit / item_stride;
    const unsigned begin = ((row >> unit_shift) * items_a_unit + index) * item_keys;
    if (index >= items_a_unit || begin >= keys) return {};
    const unsigned left = keys - begin;
    return row_of_list<std::uint32_t>(begin, left < item_keys ? left : item_keys,
                                      in_unit - index * item_stride, row_words);
  }
};

// One row in this many may idle so that arrays lie in one warp. Barriers of the block made a block
// sort 6% slower.
inline constexpr unsigned kIdleShare = 16;

// Requires: 0 < array_keys <= tile_rows * row_words; tile_rows and row_words are powers of two,
// tile_rows >= 32.
[[nodiscard]] constexpr EvenLayout even_layout(std::uint64_t array_count, unsigned array_keys,
                                               unsigned row_words, unsigned tile_rows) {
  EvenLayout layout;
  layout.total_keys = array_count * array_keys;
  layout.array_keys = array_keys;
  layout.row_words = row_words;
  layout.list_words = array_keys < row_words ? std::bit_ceil(array_keys) : row_words;
  const unsigned arrays_a_row = row_words / layout.list_words;
  layout.item_keys = array_keys * arrays_a_row;
  layout.item_rows = (array_keys + row_words - 1) / row_words;
  layout.item_count = array_count / arrays_a_row + (array_count % arrays_a_row != 0 ? 1 : 0);

  const unsigned tight = tile_rows / layout.item_rows;
  const unsigned in_warps = tile_rows / kWarpRows * (kWarpRows / layout.item_rows);
  const unsigned whole_warps = (layout.item_rows + kWarpRows - 1) / kWarpRows * kWarpRows;
  unsigned unit_rows = tile_rows;
  layout.item_stride = layout.item_rows;
  if (in_warps * kIdleShare >= tight * (kIdleShare - 1)) {
    unit_rows = kWarpRows;
    layout.lists_in_warps = true;
  } else if (tile_rows / whole_warps == tight) {
    layout.item_stride = whole_warps;
    layout.lists_in_warps = true;
  }
  layout.unit_shift = static_cast<unsigned>(std::countr_zero(unit_rows));
  layout.items_a_unit = unit_rows / layout.item_stride;
  layout.items_a_tile = tile_rows / unit_rows * layout.items_a_unit;
  layout.dense = layout.item_keys == layout.item_stride * row_words &&
                 layout.items_a_unit * layout.item_stride == unit_rows;
  return layout;
}

}  // namespace gsort::gpu
