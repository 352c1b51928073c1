// segmented_windows: which block sorts which of many short arrays of different lengths. Index
// arithmetic alone, for the host and the device; segmented_sort_kernel.cuh has the kernels.
//
// Problem. A block's tile has so many rows, an array takes ceil(length / E) of them, and neither
// the host nor any block knows the lengths of the arrays before.
//
// Idea. The offset of an array in the input is already a sum of all lengths before it. Array i gets
// the weight offset[i] + iE; weights ascend, and from one array to the next by at least the rows of
// the first, times E. So a block takes the arrays whose weight lies in a window of KE, and these
// have together at most K + 1 + (rows of the last) rows: K is chosen so that this fits the tile. No
// sum over the arrays is needed, windows hold at most K arrays whether empty or not, and the number
// of windows is known to the host. Arrays that are too long for this are left to others: the longer
// the longest that is not, the more rows of each tile stay empty. So where arrays are short on
// average the limit is lower, and those above it, the middle arrays, are listed and share tiles by
// a sum that is counted (MiddleWindows).
//
// Example. E = 4, a tile of 8 rows, short arrays have at most 8 keys, so K = 5: windows of 20.
//   lengths  3  0  6  1  8    weights  0  7 11 21 26    windows 0 0 0 1 1; rows 1 0 2 | 1 2
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "gpu/segmented/tile_lists.hpp"
#include "gpu/sort/long_arrays.hpp"

namespace gsort::gpu {

// Arrays of at most this many keys share tiles; a longer one has its own. A quarter of a tile: then
// neither leaves much more than that empty. No other was measured.
inline constexpr unsigned kSharedTileKeys = 2048;

// Arrays of at most kShortKeys share windows if arrays have fewer than kLowMeanKeys on average: 16
// rows of a tile have to be kept for the last array, not 64 or 128: on an H200 arrays of 20 to 64
// keys of 32 bits are sorted in 0.86 to 0.91 of the time, those of 100 in 0.96. In tiles of 128
// rows, not 512, words of 64 bits take 0.83 to 0.92: blocks have fewer warps to wait for.
template <class Word>
struct LowWindows {
  static constexpr unsigned kTileRows = sizeof(Word) == 4 ? 256 : 128;
  static constexpr unsigned kShortKeys = sizeof(Word) == 4 ? 512 : 256;
};
inline constexpr std::uint64_t kLowMeanKeys = 256;

inline constexpr std::uint64_t kNoArray = ~std::uint64_t{0};

// Arrays of at most kMostKeys, the short ones.
template <unsigned kRowWords, unsigned kTileRows, unsigned kMostKeys>
struct SegmentedWindows {
  static constexpr unsigned kShortKeys = kMostKeys;
  static_assert(kShortKeys % kRowWords == 0 && kShortKeys / kRowWords + 1 < kTileRows);
  static constexpr unsigned kArrays = kTileRows - kShortKeys / kRowWords - 1;  // K
  static constexpr std::uint64_t kWeight = std::uint64_t{kArrays} * kRowWords;

  [[nodiscard]] GSORT_HOST_DEVICE static constexpr std::uint64_t window_of(std::uint64_t array,
                                                                           std::uint64_t offset) {
    return (offset + array * kRowWords) / kWeight;
  }
  // Windows of arrays with `count` keys in all.
  [[nodiscard]] static constexpr std::uint64_t windows(std::uint64_t array_count,
                                                       std::uint64_t count) {
    return window_of(array_count, count) + 1;
  }
};

// Middle arrays are listed with the number of the first of their rows, counted through all of them.
// An array belongs to the window of kRows rows in which it begins; its last rows may reach past it,
// for which the window's tile has room.
template <unsigned kRowWords, unsigned kTileRows>
struct MiddleWindows {
  static constexpr unsigned kRows = kTileRows - kSharedTileKeys / kRowWords;
  // So no array reaches past the window that follows its own.
  static_assert(kSharedTileKeys % kRowWords == 0 && kRows >= kSharedTileKeys / kRowWords);

  [[nodiscard]] GSORT_HOST_DEVICE static constexpr std::uint64_t rows_of(std::uint64_t length) {
    return (length + kRowWords - 1) / kRowWords;
  }
  [[nodiscard]] GSORT_HOST_DEVICE static constexpr std::uint64_t window_of(std::uint64_t row) {
    return row / kRows;
  }
  // The windows of arrays longer than short_keys with at most `count` keys in all.
  [[nodiscard]] static constexpr std::uint64_t windows(std::uint64_t count,
                                                       std::uint64_t short_keys) {
    return window_of(count / kRowWords + count / short_keys) + 1;
  }
};

// The arrays of a window, in shared memory; so no initial values.
template <unsigned kTileRows, class Position>
struct WindowArrays {
  Position begin[kTileRows];
  unsigned length[kTileRows];     // 0 for arrays that are not sorted here
  unsigned first_row[kTileRows];  // in the tile: the rows of all arrays before
};

// Describes row `row` of the tile. If arrays begin with the same row, all but the last have
// none.
template <unsigned kRowWords, unsigned kTileRows, class Position>
[[nodiscard]] GSORT_HOST_DEVICE constexpr TileRow<Position> row_of_window(
    const WindowArrays<kTileRows, Position>& arrays, unsigned row) {
  const unsigned index = find_last(kTileRows, row, [&](unsigned i) { return arrays.first_row[i]; });
  return row_of_list(arrays.begin[index], arrays.length[index], row - arrays.first_row[index],
                     kRowWords);
}

// The most keys of a tiny array. There are tiny arrays only if the average length is not above it.
inline constexpr unsigned kMostTinyKeys = 16;

// Returns the longest length of tiny arrays, where arrays have `count` / `array_count` keys on
// average, and none more than `longest`; 0: no array is tiny. A thread sorts a tiny one by itself:
// half as many again as the average leave little to the windows, and more would idle. No other
// factor was measured.
[[nodiscard]] constexpr unsigned tiny_keys_for(std::uint64_t array_count, std::uint64_t count,
                                               std::uint64_t longest) {
  if (count > kMostTinyKeys * array_count) return 0;
  for (const unsigned keys : {4U, 8U}) {
    if (longest <= keys || 3 * count <= array_count * keys * 2) return keys;
  }
  return kMostTinyKeys;
}

// Rows of fewer words waste less on tiny arrays: they serve where arrays have few keys on average.
// Chosen by counting words and levels, not measured.
inline constexpr unsigned kNarrowRowWords = 8;
inline constexpr unsigned kNarrowTileRows = 512;
inline constexpr std::uint64_t kNarrowMeanKeys = 12;

// Which windows a batch takes.
struct WindowChoice {
  bool narrow = false;  // rows of kNarrowRowWords words; only if low as well
  bool low = false;     // LowWindows, so there may be middle arrays

  [[nodiscard]] static constexpr WindowChoice of(std::uint64_t array_count, std::uint64_t count) {
    return {count / kNarrowMeanKeys < array_count, count / kLowMeanKeys < array_count};
  }
};

}  // namespace gsort::gpu
