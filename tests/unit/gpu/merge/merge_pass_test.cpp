// How a pass is divided into tiles.
#include "gpu/merge/merge_pass.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

TEST(TileOfTwo, CoversEveryKeyOfEveryGroupOnce) {
  constexpr std::uint64_t kTileKeys = 64;
  for (const std::uint64_t total : {1U, 63U, 64U, 65U, 96U, 127U, 128U, 129U, 192U, 1000U}) {
    MergePass<std::uint32_t> pass;
    pass.runs.total = total;
    pass.runs.run_length = 96;
    pass.rows_per_group = 3;
    const std::uint64_t groups = (total + 191) / 192;
    std::uint64_t covered = 0;
    for (std::uint64_t tile = 0; tile < groups * pass.rows_per_group; ++tile) {
      const TileOfTwo found = pass.tile_of_two(tile, kTileKeys);
      if (found.begin == found.end) continue;
      EXPECT_EQ(found.runs.first_begin + found.begin, covered);
      EXPECT_LE(found.end, found.runs.length());
      EXPECT_EQ(found.runs.second_begin, found.runs.first_begin + found.runs.first_length);
      covered += found.end - found.begin;
    }
    EXPECT_EQ(covered, total);
  }
}

TEST(TileOfTwo, FollowsTwoArraysApart) {
  MergePass<std::uint32_t> pass;
  pass.two_arrays = true;
  pass.apart = {0, 100, 5000, 30};
  pass.rows_per_group = 3;
  const TileOfTwo last = pass.tile_of_two(2, 64);
  EXPECT_EQ(last.begin, 128U);
  EXPECT_EQ(last.end, 130U);
  EXPECT_EQ(last.runs.second_begin, 5000U);
}

}  // namespace
}  // namespace gsort::gpu
