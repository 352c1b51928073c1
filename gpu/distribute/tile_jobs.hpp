// TileJobs: the jobs of a distribution or a count: consecutive tiles that a block takes together.
// For the host and the device.
//
// Problem. A block goes through the tiles of a job without a gap: the keys of the next tile are
// loaded while those of this one are stored. But long jobs end unevenly: of 576 tiles in jobs of
// four, some of 132 multiprocessors get eight tiles, the others four.
//
// Idea. Jobs are taken one by one (taken_jobs.cuh), the long ones first. When these are all taken,
// each block has up to four tiles left; jobs of two tiles even out half of this, and jobs of one
// tile the rest. So blocks end within about a tile of each other, for any number of tiles and
// blocks. The part of a job that lies in one bucket is a piece.
//
// Jobs are taken in order. So at any time all blocks are near each other in the input, and
// their writes to a bucket fill lines of the L2 cache together. With one long job for each
// block, the second distribution of 2^28 keys took 1.31 ms instead of 1.19 on an H100 (u32), that
// of pairs 4.07 instead of 3.85 (u32 with u32).
//
// Example. 12 tiles, 2 blocks: jobs of 4, 2, 2, 2, 1 and 1 tiles.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort::gpu {

struct TileJobs {
  static constexpr std::uint64_t kLong = 4;   // tiles of a long job
  static constexpr unsigned kMostEven = 256;  // the most blocks that are made to end together

  std::uint64_t tiles = 0;
  std::uint64_t longs = 0;  // jobs of kLong tiles
  std::uint64_t pairs = 0;  // jobs of two tiles; the others have one

  // For blocks that all run at once.
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr TileJobs of(std::uint64_t tiles,
                                                               std::uint64_t blocks) {
    const std::uint64_t even = blocks < kMostEven ? blocks : kMostEven;
    const std::uint64_t longs = tiles > 3 * even ? (tiles - 3 * even) / kLong : 0;
    const std::uint64_t rest = tiles - longs * kLong;
    return {tiles, longs, rest > even ? (rest - even) / 2 : 0};
  }
  // The largest number of jobs.
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr std::uint64_t most(std::uint64_t tiles) {
    const std::uint64_t jobs = tiles / kLong + 2 * kMostEven + 2;
    return tiles < jobs ? tiles : jobs;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t count() const {
    return tiles - (kLong - 1) * longs - pairs;
  }
  // The first tile of the job; for the job after the last one, the number of tiles.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t begin(std::uint64_t job) const {
    if (job <= longs) return job * kLong;
    const std::uint64_t later = job - longs;
    return longs * kLong + (later < pairs ? 2 * later : later + pairs);
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t job_of(std::uint64_t tile) const {
    if (tile < longs * kLong) return tile / kLong;
    const std::uint64_t later = tile - longs * kLong;
    return longs + (later < 2 * pairs ? later / 2 : later - pairs);
  }
  // The number of the piece that contains the tile. If a bucket ends within a job, the next bucket
  // begins a piece.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t piece_of(std::uint64_t tile,
                                                                   std::uint64_t bucket) const {
    return job_of(tile) + bucket;
  }
};

}  // namespace gsort::gpu
