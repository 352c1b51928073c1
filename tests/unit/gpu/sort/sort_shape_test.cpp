// The passes of a sort: few, cheap ones first, and with enough memory for their cuts.
#include "gpu/sort/sort_shape.hpp"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

constexpr KernelTuning kTuning{16, 256, 128, 128, 8, 1024};
constexpr std::uint64_t kTile = 4096;

TEST(SortShape, NeedsNoPassForOneTile) {
  for (const std::uint64_t count : {std::uint64_t{1}, kTile - 1, kTile}) {
    const SortShape shape = shape_of(count, kTuning);
    EXPECT_TRUE(shape.fan_ins.empty());
    EXPECT_EQ(shape.run_count, 1U);
    EXPECT_EQ(row_numbers(count, shape, kTuning), 0U);
  }
}

TEST(SortShape, TakesTheFewestPassesThatReachAllRuns) {
  for (const std::uint64_t tiles :
       {2U, 3U, 4U, 5U, 8U, 9U, 16U, 17U, 64U, 65U, 512U, 513U, 4097U}) {
    for (const std::uint64_t count : {(tiles - 1) * kTile + 1, tiles * kTile}) {
      const SortShape shape = shape_of(count, kTuning);
      ASSERT_EQ(shape.run_count, tiles);
      std::uint64_t reach = 1;
      for (const std::uint32_t fan_in : shape.fan_ins) reach *= fan_in;
      EXPECT_GE(reach, tiles);
      EXPECT_LT(reach, 2 * tiles) << "no more levels than needed";
      std::uint64_t fewest = 0;
      for (std::uint64_t most = 1; most < tiles; most *= 8) ++fewest;
      EXPECT_EQ(shape.fan_ins.size(), fewest) << tiles << " tiles";
      EXPECT_TRUE(std::is_sorted(shape.fan_ins.begin(), shape.fan_ins.end()));
    }
  }
}

TEST(SortShape, GivesEachGroupARowForEveryTileAndItsEnd) {
  // Tiles of 2000 of 8 * 4096 = 32768 keys.
  EXPECT_EQ(rows_of_group(kTile, 8, kTuning), 17U + 1U);
  // Tiles of 2048 of exactly 8192 keys.
  EXPECT_EQ(rows_of_group(kTile, 2, kTuning), 4U + 1U);
}

TEST(SortPasses, JoinAllRunsWithinTheirRowsOfCuts) {
  for (const std::uint64_t count : {2 * kTile, 9 * kTile + 1, 70 * kTile, 513 * kTile - 7}) {
    const SortShape shape = shape_of(count, kTuning);
    KeyMap<std::uint32_t> map;
    map.flip = 1;
    const auto passes = sort_passes<std::uint32_t>(count, shape, kTuning, {}, map);
    ASSERT_EQ(passes.size(), shape.fan_ins.size());
    std::uint64_t runs = shape.run_count;
    for (const auto& pass : passes) {
      const bool last = &pass == &passes.back();
      EXPECT_EQ(pass.runs.run_count, runs);
      EXPECT_EQ(pass.runs.begin(runs), count);
      EXPECT_EQ(pass.group_count, div_up(runs, pass.fan_in));
      EXPECT_GE((pass.rows_per_group - 1) * kTuning.merge_tile_keys(pass.fan_in),
                pass.runs.run_length * pass.fan_in)
          << "tiles for all keys of a group";
      const std::uint64_t tile = kTuning.merge_tile_keys(pass.fan_in);
      const std::uint64_t whole_groups = pass.group_count - 1;
      const std::uint64_t last_rows = pass.row_count - whole_groups * pass.rows_per_group;
      const std::uint64_t last_keys = count - whole_groups * pass.runs.run_length * pass.fan_in;
      EXPECT_GE((last_rows - 1) * tile, last_keys) << "tiles for all keys of the last group";
      EXPECT_LT((last_rows - 2) * tile, last_keys) << "and no more";
      EXPECT_LE(pass.row_count * (kRowHeader + pass.fan_in), row_numbers(count, shape, kTuning));
      EXPECT_EQ(pass.writes_samples, !last);
      EXPECT_EQ(pass.maps, last) << "keys stay ordered until they leave";
      runs = pass.group_count;
    }
    EXPECT_EQ(runs, 1U);
  }
}

}  // namespace
}  // namespace gsort::gpu
