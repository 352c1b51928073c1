// Tiles and rows of cuts of long arrays: each key in one tile, in each pass in one merge tile, and
// rows of neighbouring arrays apart.
#include "gpu/sort/long_arrays.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/merge/merge_pass.hpp"
#include "gpu/sort/sort_shape.hpp"

namespace gsort::gpu {
namespace {

// Passes as for arrays of up to `longest` keys.
LongPasses passes_for(std::uint64_t longest, const KernelTuning& tuning) {
  return long_passes_of(shape_of(longest, tuning));
}

KernelTuning small_tuning(unsigned max_fan_in) {
  return {4, 8, 6, 6, max_fan_in, 0};  // tiles of 32 keys, merge tiles of 24, 20 or 12
}

// Follows the rows of one pass as the kernels do, and counts how often each key is merged.
void expect_each_key_in_one_merge_tile(const LongArrays& arrays, const LongPasses& passes,
                                       unsigned pass, std::uint64_t row_count, unsigned tile_keys,
                                       const std::vector<LongArray>& all) {
  std::vector<std::vector<int>> merged(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) merged[i].assign(all[i].length, 0);
  for (std::uint64_t row = 0; row < row_count; ++row) {
    const LongPlace place = arrays.place_of_row(row);
    const GroupRow group = group_row(passes, pass, place.array.length, place.index, tile_keys);
    if (!group.is_tile()) continue;
    const std::uint64_t begin = group.group_begin() + group.position();
    const std::uint64_t end =
        std::min(begin + tile_keys, group.group_begin() + group.group_length());
    const auto found = std::find_if(all.begin(), all.end(), [&](const LongArray& array) {
      return array.begin == place.array.begin && array.length == place.array.length;
    });
    ASSERT_NE(found, all.end());
    for (std::uint64_t key = begin; key < end; ++key) {
      ++merged[static_cast<std::size_t>(found - all.begin())][key];
    }
    // The merge reads where the tile ends in the row behind.
    ASSERT_LT(row + 1, row_count);
    const LongPlace next = arrays.place_of_row(row + 1);
    const GroupRow behind = group_row(passes, pass, next.array.length, next.index, tile_keys);
    ASSERT_EQ(next.array.begin, place.array.begin);
    ASSERT_EQ(behind.length, group.length);
    ASSERT_EQ(behind.first_run, group.first_run);
    ASSERT_EQ(behind.group_begin() + behind.position(), end);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool takes_part = pass >= passes.start_of(passes.tiles_of(all[i].length));
    ASSERT_EQ(std::count(merged[i].begin(), merged[i].end(), takes_part ? 1 : 0),
              static_cast<std::ptrdiff_t>(all[i].length))
        << "pass " << pass << ", array of " << all[i].length;
  }
}

// The tiles of all arrays in their order.
void expect_each_key_in_one_tile(const LongArrays& arrays, const LongPasses& passes,
                                 const std::vector<LongArray>& all) {
  std::uint64_t tile = 0;
  for (const LongArray& array : all) {
    for (std::uint64_t at = 0; at < array.length; at += passes.tile_keys, ++tile) {
      const SortedTile found = sorted_tile(arrays, passes, tile);
      ASSERT_EQ(found.begin, array.begin + at);
      ASSERT_EQ(found.in_array, at);
      ASSERT_EQ(found.number, array.first_tile + at / passes.tile_keys);
      ASSERT_EQ(found.count, std::min<std::uint64_t>(passes.tile_keys, array.length - at));
      ASSERT_EQ(found.passes, passes.pass_count - passes.start_of(passes.tiles_of(array.length)));
    }
  }
  EXPECT_EQ(sorted_tile(arrays, passes, tile).count, 0U);
}

TEST(LongArrays, OfOneLengthHaveEachKeyInOneTileAndOneMergeTileAPass) {
  for (const unsigned max_fan_in : {2U, 8U}) {
    const KernelTuning tuning = small_tuning(max_fan_in);
    for (std::uint64_t length = 33; length < 1500; length += length < 330 ? 1 : 37) {
      const LongPasses passes = passes_for(length, tuning);
      ASSERT_EQ(passes.start_of(passes.tiles_of(length)), 0U);
      LongArrays arrays;
      arrays.array_count = 3;
      arrays.array_keys = length;
      arrays.array_tiles = passes.tiles_of(length);
      std::vector<LongArray> all;
      for (std::uint64_t i = 0; i < 3; ++i) {
        all.push_back({i * length, length, i * arrays.array_tiles});
        const LongPlace last = arrays.place_of_tile((i + 1) * arrays.array_tiles - 1);
        ASSERT_EQ(last.array.begin, i * length);
        ASSERT_EQ(last.index, arrays.array_tiles - 1);
      }
      expect_each_key_in_one_tile(arrays, passes, all);
      std::uint64_t run_length = passes.tile_keys;
      for (unsigned pass = 0; pass < passes.pass_count; ++pass) {
        const unsigned fan_in = passes.fan_in(pass);
        const unsigned tile_keys = tuning.merge_tile_keys(fan_in);
        arrays.array_rows = rows_of_array(length, run_length, fan_in, tile_keys);
        expect_each_key_in_one_merge_tile(arrays, passes, pass, 3 * arrays.array_rows, tile_keys,
                                          all);
        if (HasFatalFailure()) return;
        run_length *= fan_in;
      }
      ASSERT_GE(run_length, length);
    }
  }
}

TEST(LongArrays, ListedInAnyOrderHaveEachKeyInOneMergeTileAPass) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    const KernelTuning tuning = small_tuning(round % 2 == 0 ? 8 : 4);
    std::vector<LongArray> all;
    std::uint64_t total = 0;
    SegmentedCounts counts;
    const std::uint64_t longest = round % 3 == 0 ? 40 : 1 + random() % 3000;
    for (int i = 0; i < 1 + round % 7; ++i) {
      const std::uint64_t length = 33 + random() % longest;
      const std::uint64_t tiles = (length + 31) / 32;
      all.push_back({total, length, LongTicket::tiles(counts.long_ticket)});
      counts.long_ticket += LongTicket::of_array(tiles);
      total += length;
    }
    ASSERT_EQ(LongTicket::arrays(counts.long_ticket), all.size());
    const LongPasses passes = passes_for(total + random() % 5000, tuning);
    LongArrays arrays;
    arrays.counts = &counts;
    arrays.long_arrays = all.data();
    expect_each_key_in_one_tile(arrays, passes, all);
    arrays.slots =
        RowSlots::of(passes.tile_keys, tuning.merge_tile_keys(tuning.max_fan_in), passes.fan_in(0));
    const std::uint64_t rows =
        arrays.slots.first_row(LongTicket::tiles(counts.long_ticket), all.size());
    for (unsigned pass = 0; pass < passes.pass_count; ++pass) {
      expect_each_key_in_one_merge_tile(arrays, passes, pass, rows + (round % 2 == 0 ? 0 : 9),
                                        tuning.merge_tile_keys(passes.fan_in(pass)), all);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(LongArrays, StartWithThePassFromWhichOnTheirTilesBecomeOne) {
  const LongPasses passes = passes_for(32 * 200, small_tuning(8));  // fan-ins 4 8 8
  ASSERT_EQ(passes.pass_count, 3U);
  EXPECT_EQ(passes.start_of(1), 3U);
  EXPECT_EQ(passes.start_of(2), 2U);
  EXPECT_EQ(passes.start_of(8), 2U);
  EXPECT_EQ(passes.start_of(9), 1U);
  EXPECT_EQ(passes.start_of(64), 1U);
  EXPECT_EQ(passes.start_of(65), 0U);
  EXPECT_EQ(group_row(passes, 1, 32 * 8, 0, 20).length, 0U);
  EXPECT_EQ(group_row(passes, 2, 32 * 8, 0, 20).run_length, 32U);
  EXPECT_EQ(group_row(passes, 2, 32 * 9, 0, 20).run_length, 32U * 8);
}

TEST(LongArrays, NumberTilesThroughTheListsAndThenArraysOfOneTile) {
  const std::vector<LongArray> longs{{500, 70, 0}, {100, 33, 3}, {200, 64, 5}};
  const std::vector<LongArray> singles{{0, 20, 0}, {300, 32, 0}};
  SegmentedCounts counts{3 * LongTicket::of_array(0) + 7, 2};
  LongArrays arrays;
  arrays.counts = &counts;
  arrays.long_arrays = longs.data();
  arrays.tile_arrays = singles.data();
  const std::vector<std::uint64_t> begins{500, 500, 500, 100, 100, 200, 200, 0, 300};
  const std::vector<std::uint64_t> indices{0, 1, 2, 0, 1, 0, 1, 0, 0};
  for (std::uint64_t tile = 0; tile < begins.size(); ++tile) {
    EXPECT_EQ(arrays.place_of_tile(tile).array.begin, begins[tile]);
    EXPECT_EQ(arrays.place_of_tile(tile).index, indices[tile]);
  }
  EXPECT_EQ(arrays.place_of_tile(9).array.length, 0U);
}

TEST(LongArrays, HaveRowsForTheGreatestSortThereCanBe) {
  for (const TuningRow& row : kTunings) {
    for (const KernelTuning& tuning : {row.key32, row.key64}) {
      LongPasses passes = passes_for(kMaxSortedKeys, tuning);
      ASSERT_LE(passes.pass_count, LongPasses::kMost);
      const std::uint64_t rows =
          rows_of_array(kMaxSortedKeys, tuning.block_sort_keys(), passes.fan_in(0),
                        tuning.merge_tile_keys(passes.fan_in(0)));
      ASSERT_LT(rows, std::uint64_t{1} << 31);
      const GroupRow last =
          group_row(passes, 0, kMaxSortedKeys, rows - 1, tuning.merge_tile_keys(passes.fan_in(0)));
      EXPECT_FALSE(last.is_tile());
      EXPECT_EQ(last.length, kMaxSortedKeys);
      const GroupRow none =
          group_row(passes, 0, kMaxSortedKeys, rows + 40, tuning.merge_tile_keys(passes.fan_in(0)));
      EXPECT_EQ(none.length, 0U);
    }
  }
}

TEST(LongArrays, FindTheLastNumberThatIsNotGreater) {
  const std::vector<std::uint64_t> numbers{0, 0, 3, 3, 7};
  const auto at = [&](std::uint64_t i) { return numbers[i]; };
  EXPECT_EQ(find_last(5U, 0U, at), 1U);
  EXPECT_EQ(find_last(5U, 2U, at), 1U);
  EXPECT_EQ(find_last(5U, 3U, at), 3U);
  EXPECT_EQ(find_last(5U, 6U, at), 3U);
  EXPECT_EQ(find_last(5U, 100U, at), 4U);
  EXPECT_EQ(find_last(1U, 100U, at), 0U);
}

}  // namespace
}  // namespace gsort::gpu
