// The layout of many lists in a tile.
#include "gpu/segmented/tile_lists.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/units.hpp"

namespace gsort::gpu {
namespace {

// The rows of a tile hold its keys in order, each once; the others belong to no list.
void expect_each_key_in_one_row(const EvenLayout& layout, std::uint64_t tile, unsigned tile_rows) {
  unsigned next = 0;
  for (unsigned row = 0; row < tile_rows; ++row) {
    const auto place = layout.row_of(layout.keys_of_tile(tile), row);
    ASSERT_EQ(place.count == 0, place.list_rows == 0);
    if (place.count == 0) continue;
    ASSERT_EQ(place.source, next);
    next += place.count;
  }
  ASSERT_EQ(next, layout.keys_of_tile(tile));
}

// The rows of a list, joined level by level, become one list, and none is joined with itself.
// Lists that levels within a warp join lie in one warp.
void expect_levels_join_lists(const EvenLayout& layout, unsigned tile_rows) {
  for (unsigned row = 0; row < tile_rows; ++row) {
    const auto place = layout.row_of(layout.keys_of_tile(0), row);
    unsigned joined_with = 1;  // rows of the sorted list that this row is in
    for (unsigned joined = 1; joined < layout.item_rows; joined *= 2) {
      const LevelLists lists = level_lists(place, joined);
      if (lists.rows == 0) continue;
      ASSERT_EQ(lists.first_row % (2 * joined), 0U);
      ASSERT_EQ(lists.in_second, place.list_row >= lists.first_row + joined);
      ASSERT_EQ(lists.rows, std::min(2 * joined, place.list_rows - lists.first_row));
      joined_with = lists.rows;
      if (!layout.lists_in_warps || joined >= 32) continue;
      const unsigned first = row - place.list_row + lists.first_row;
      ASSERT_EQ(first / 32, (first + lists.rows - 1) / 32);
    }
    ASSERT_TRUE(place.count == 0 || joined_with == place.list_rows);
    ASSERT_EQ(level_lists(place, std::bit_ceil(layout.item_rows)).rows, 0U);
  }
}

TEST(TileLists, HaveAPlaceForEachKeyAndLevelsForEachList) {
  for (unsigned array_keys = 1; array_keys <= 8192; ++array_keys) {
    for (const auto& [row_words, tile_rows] : {std::pair{32U, 256U}, {16U, 512U}}) {
      const std::uint64_t arrays = 3 + 10000 / array_keys;
      const EvenLayout layout = even_layout(arrays, array_keys, row_words, tile_rows);
      ASSERT_GE(layout.item_count * layout.item_keys, arrays * array_keys);
      const std::uint64_t tiles = div_up(layout.item_count, layout.items_a_tile);
      ASSERT_EQ(layout.tile_begin(tiles - 1) + layout.keys_of_tile(tiles - 1), arrays * array_keys);
      for (const std::uint64_t tile : {std::uint64_t{0}, tiles - 1}) {
        expect_each_key_in_one_row(layout, tile, tile_rows);
      }
      expect_levels_join_lists(layout, tile_rows);
      if (::testing::Test::HasFatalFailure()) FAIL() << "arrays of " << array_keys;
    }
  }
}

TEST(TileLists, HaveASlotForEachKeyOfARow) {
  for (unsigned array_keys = 1; array_keys <= 40; ++array_keys) {
    const EvenLayout layout = even_layout(1000, array_keys, 32, 256);
    std::vector<unsigned> keys;
    for (unsigned slot = 0; slot < 32; ++slot) {
      const unsigned key = key_of_slot(slot, layout.list_words, array_keys);
      if (key != kNoKey) keys.push_back(key);
    }
    ASSERT_EQ(keys.size(), std::min(32U, layout.item_keys));
    for (unsigned key = 0; key < keys.size(); ++key) ASSERT_EQ(keys[key], key);
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
