// The layout of many lists in a tile, and a simulated tile that sorts them, against std::sort.
#include "gpu/segmented/tile_lists.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "simulated_tile.hpp"

namespace gsort::gpu {
namespace {

using Keys = std::vector<std::uint32_t>;

Keys random_keys(std::mt19937& random, std::uint64_t count, std::uint32_t distinct) {
  Keys keys(count);
  for (auto& key : keys) {
    const auto drawn = static_cast<std::uint32_t>(random());
    key = distinct == 0 ? drawn : ~(drawn % distinct);
  }
  return keys;
}

Keys sorted_arrays(Keys keys, std::uint64_t array_keys) {
  for (auto begin = keys.begin(); begin != keys.end();
       begin += static_cast<std::ptrdiff_t>(array_keys)) {
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(array_keys));
  }
  return keys;
}

template <unsigned kRowWords>
std::vector<TileRow<std::uint64_t>> rows_of_tile(const EvenLayout& layout, std::uint64_t tile,
                                                 unsigned tile_rows) {
  std::vector<TileRow<std::uint64_t>> rows(tile_rows);
  for (unsigned row = 0; row < tile_rows; ++row) {
    const auto in_tile = layout.row_of(layout.keys_of_tile(tile), row);
    rows[row] = {layout.tile_begin(tile) + in_tile.source, in_tile.count, in_tile.list_row,
                 in_tile.list_rows};
  }
  return rows;
}

// No list that levels within a warp touch may lie in two warps.
void expect_lists_in_warps(const EvenLayout& layout,
                           const std::vector<TileRow<std::uint64_t>>& rows) {
  if (!layout.lists_in_warps) return;
  for (unsigned row = 0; row < rows.size(); ++row) {
    for (unsigned joined = 1; joined < 32 && joined < layout.item_rows; joined *= 2) {
      const LevelLists lists = level_lists(rows[row], joined);
      if (lists.rows == 0) continue;
      const unsigned first = row - rows[row].list_row + lists.first_row;
      ASSERT_EQ(first / 32, (first + lists.rows - 1) / 32);
    }
  }
}

template <unsigned kRowWords, unsigned kListWords>
void sort_with_lists(const EvenLayout& layout, unsigned tile_rows, const Keys& input,
                     Keys& output) {
  std::vector<bool> written(input.size());
  const std::uint64_t tiles = (layout.item_count + layout.items_a_tile - 1) / layout.items_a_tile;
  for (std::uint64_t t = 0; t < tiles; ++t) {
    const auto rows = rows_of_tile<kRowWords>(layout, t, tile_rows);
    expect_lists_in_warps(layout, rows);
    SimulatedTile<kRowWords> tile(rows);
    tile.load(input, kListWords, layout.array_keys);
    tile.template sort_rows<kListWords>();
    for (unsigned joined = 1; joined < layout.item_rows; joined *= 2) tile.join(joined);
    ASSERT_FALSE(tile.join(std::bit_ceil(layout.item_rows))) << "levels are missing";
    ASSERT_TRUE(tile.store(output, written, kListWords, layout.array_keys));
  }
  ASSERT_EQ(std::count(written.begin(), written.end(), false), 0);
}

template <unsigned kRowWords>
void sort_and_compare(std::uint64_t arrays, unsigned array_keys, unsigned tile_rows,
                      const Keys& input) {
  const EvenLayout layout = even_layout(arrays, array_keys, kRowWords, tile_rows);
  Keys output(input.size());
  bool done = false;
  static_for<floor_log2(kRowWords) + 1>([&](auto log) {
    constexpr unsigned kListWords = 1U << decltype(log)::value;
    if (layout.list_words != kListWords) return;
    sort_with_lists<kRowWords, kListWords>(layout, tile_rows, input, output);
    done = true;
  });
  ASSERT_TRUE(done);
  ASSERT_TRUE(output == sorted_arrays(input, array_keys))
      << arrays << " arrays of " << array_keys << ", tiles of " << tile_rows << " rows of "
      << kRowWords;
}

TEST(TileLists, SortArraysOfEveryLengthUpToATile) {
  std::mt19937 random(3);
  for (unsigned array_keys = 1; array_keys <= 64 * 8; ++array_keys) {
    for (const std::uint64_t arrays : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3},
                                       std::uint64_t{1 + 2000 / array_keys}}) {
      sort_and_compare<8>(arrays, array_keys, 64,
                          random_keys(random, arrays * array_keys, array_keys % 3 * 5));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(TileLists, SortArraysAtTheBordersOfRealTiles) {
  std::mt19937 random(4);
  for (const unsigned array_keys :
       {1U,    2U,    3U,    5U,    15U,   16U,   17U,   31U,   32U,   33U,   63U,
        64U,   65U,   96U,   100U,  160U,  257U,  511U,  700U,  992U,  1000U, 1024U,
        1025U, 2016U, 2730U, 2731U, 2732U, 4095U, 4096U, 4097U, 5000U, 8191U, 8192U}) {
    const std::uint64_t arrays = 1 + 20000 / array_keys;
    const Keys input = random_keys(random, arrays * array_keys, 0);
    sort_and_compare<32>(arrays, array_keys, 256, input);
    sort_and_compare<16>(arrays, array_keys, 512, input);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(TileLists, WastesFewRowsOfATile) {
  for (unsigned array_keys = 1; array_keys <= 8192; ++array_keys) {
    const EvenLayout layout = even_layout(1U << 20, array_keys, 32, 256);
    const unsigned most = 256 / layout.item_rows;
    ASSERT_GE(layout.items_a_tile * 16, most * 15) << array_keys;
    ASSERT_LE(layout.items_a_tile, most) << array_keys;
  }
}

TEST(TileLists, AreDenseExactlyWhenATileHoldsNoFill) {
  for (unsigned array_keys = 1; array_keys <= 8192; ++array_keys) {
    const bool dense = even_layout(1U << 20, array_keys, 32, 256).dense;
    const bool small_power = array_keys < 32 && std::has_single_bit(array_keys);
    const bool fits = array_keys % 32 == 0 && 8192 % array_keys == 0;
    ASSERT_EQ(dense, small_power || fits) << array_keys;
  }
}

TEST(TileLists, OfDenseTilesHaveTheirKeysInTheOrderOfTheWords) {
  for (unsigned array_keys = 1; array_keys <= 8192; array_keys *= 2) {
    const EvenLayout layout = even_layout(1U << 20, array_keys, 32, 256);
    ASSERT_TRUE(layout.dense);
    ASSERT_EQ(layout.keys_of_tile(3), 8192U);
    ASSERT_EQ(layout.tile_begin(3), 3 * 8192U);
    for (unsigned row = 0; row < 256; ++row) {
      const TileRow<std::uint32_t> place = layout.row_of(8192, row);
      ASSERT_EQ(place.source, 32 * row);
      ASSERT_EQ(place.count, 32U);
    }
    for (unsigned slot = 0; slot < 32; ++slot) {
      ASSERT_EQ(key_of_slot(slot, layout.list_words, array_keys), slot);
    }
  }
}

TEST(TileLists, GiveEachRowItsShareOfAList) {
  EXPECT_EQ(row_of_list(100U, 70, 0, 32).count, 32U);
  EXPECT_EQ(row_of_list(100U, 70, 2, 32).count, 6U);
  EXPECT_EQ(row_of_list(100U, 70, 2, 32).source, 164U);
  EXPECT_EQ(row_of_list(100U, 70, 2, 32).list_rows, 3U);
  EXPECT_EQ(row_of_list(100U, 70, 3, 32).count, 0U);
  EXPECT_EQ(row_of_list(100U, 0, 0, 32).list_rows, 0U);
}

TEST(TileLists, KeepsPositionsBeyondFourBillion) {
  const EvenLayout layout = even_layout(std::uint64_t{1} << 29, 33, 32, 256);
  const std::uint64_t tile = (std::uint64_t{1} << 29) / layout.items_a_tile - 1;
  EXPECT_EQ(layout.tile_begin(tile), tile * layout.items_a_tile * 33);
  EXPECT_GT(layout.tile_begin(tile), std::uint64_t{1} << 33);
  EXPECT_EQ(layout.keys_of_tile(tile), layout.items_a_tile * 33);
}

}  // namespace
}  // namespace gsort::gpu
