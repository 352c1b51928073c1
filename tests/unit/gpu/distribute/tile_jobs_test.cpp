// The jobs of a distribution: every tile once, and blocks that end together on any card.
#include "gpu/distribute/tile_jobs.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

TEST(TileJobs, HaveEveryTileOnceInOrder) {
  for (const std::uint64_t blocks : {1U, 2U, 3U, 108U, 132U, 148U, 170U, 1000U}) {
    for (std::uint64_t tiles = 0; tiles < 2500; tiles += tiles < 40 ? 1 : 37) {
      const TileJobs jobs = TileJobs::of(tiles, blocks);
      ASSERT_EQ(jobs.begin(0), 0U);
      for (std::uint64_t job = 0; job < jobs.count(); ++job) {
        ASSERT_LT(jobs.begin(job), jobs.begin(job + 1));
        for (std::uint64_t tile = jobs.begin(job); tile < jobs.begin(job + 1); ++tile) {
          ASSERT_EQ(jobs.job_of(tile), job);
        }
      }
      ASSERT_EQ(jobs.begin(jobs.count()), tiles) << tiles << " tiles, " << blocks << " blocks";
      ASSERT_LE(jobs.count(), TileJobs::most(tiles));
    }
  }
}

// When the last block ends, in tiles, if each takes its next job when it has done one.
std::uint64_t makespan(const TileJobs& jobs, std::uint64_t blocks) {
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> ends;
  for (std::uint64_t block = 0; block < blocks; ++block) ends.push(0);
  std::uint64_t last = 0;
  for (std::uint64_t job = 0; job < jobs.count(); ++job) {
    const std::uint64_t end = ends.top() + jobs.begin(job + 1) - jobs.begin(job);
    ends.pop();
    ends.push(end);
    last = std::max(last, end);
  }
  return last;
}

TEST(TileJobs, EndTogetherOnAnyCard) {
  for (const std::uint64_t blocks : {84U, 108U, 114U, 128U, 132U, 142U, 148U, 160U, 170U}) {
    for (const std::uint64_t millions : {4U, 8U, 9U, 13U, 16U, 17U, 24U, 33U, 64U, 256U, 1024U}) {
      const std::uint64_t tiles = (millions << 20) / 16384;
      const std::uint64_t least = (tiles + blocks - 1) / blocks;
      // In jobs of four tiles, 13 * 2^20 keys on 170 multiprocessors took eight tiles, not five.
      EXPECT_EQ(makespan(TileJobs::of(tiles, blocks), blocks), least)
          << millions << " * 2^20 keys on " << blocks << " multiprocessors";
    }
  }
}

}  // namespace
}  // namespace gsort::gpu
