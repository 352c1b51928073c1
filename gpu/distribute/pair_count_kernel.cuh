// pair_count_kernel: counts the pairs of each piece in each bin. piece_sum_kernel: computes from
// the counts where the piece's pairs of each bin begin, relative to the bin's first pair.
//
// Threads: a block of pair_count_kernel counts piece by piece. A block of piece_sum_kernel has a
// strip of the bins of a bucket. Its threads divide the pieces among themselves. Each goes through
// its pieces twice: to add up their counts, and to write the sum before each piece. Device memory:
// each key is read once; 8 bytes per piece and bin are written, read twice, and written again.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/distribute/bin_count_kernel.cuh"
#include "gpu/distribute/launch.hpp"

namespace gsort::gpu {

template <class Key, class Value>
__global__ void __launch_bounds__(kPairDistribution<Key, Value>.threads)
    pair_count_kernel(const __grid_constant__ PairDistributionPass<Key, Value> pairs) {
  constexpr unsigned kThreads = kPairDistribution<Key, Value>.threads;
  constexpr unsigned kTileKeys = kPairDistribution<Key, Value>.tile_keys();
  constexpr unsigned kKeys = 8;
  static_assert(kTileKeys % (kThreads * kKeys) == 0);
  __shared__ SharedBins<Key> shared_bins;
  __shared__ unsigned counts[spread_place(kMostBins) + 1];
  __shared__ BucketTile found;
  const DistributionPass<Key>& pass = pairs.keys;
  grid_begin();
  SteppedTable<Key> table{};
  unsigned loaded = pass.bucket_count;  // whose table is in shared memory
  block_for_pieces<kTileKeys>(
      pass, found,
      [&](const BucketTile& place, std::uint64_t tiles, std::uint64_t piece,
          const auto& take_next) {
        const BinHead<Key> head = pass.tables.heads[place.bucket];
        if (!head.is_single()) {
          if (loaded != place.bucket) {
            table = block_load_table(pass.tables, place.bucket, head, shared_bins);
            loaded = place.bucket;
          }
          for (unsigned bin = threadIdx.x; bin < kMostBins; bin += kThreads) {
            counts[spread_place(bin)] = 0;
          }
          __syncthreads();  // the table is loaded, the counts are clear
          const std::uint64_t left = place.bucket_keys - place.position;
          const std::uint64_t keys_of_piece = min(left, tiles * kTileKeys);
          const std::uint64_t begin = place.bucket_begin + place.position;
#pragma unroll 1
          for (std::uint64_t first = 0; first < keys_of_piece; first += kThreads * kKeys) {
            const std::uint64_t rest = min(keys_of_piece - first, std::uint64_t{kThreads * kKeys});
            thread_count_keys<kThreads, kKeys>(pass, begin + first, static_cast<unsigned>(rest),
                                               head, table, counts, [](const auto&) {});
          }
          __syncthreads();  // all keys are counted
          std::uint64_t* const to = pairs.pieces + piece * pass.tables.bins();
          for (unsigned bin = threadIdx.x; bin < pass.tables.bins(); bin += kThreads) {
            to[bin] = counts[spread_place(bin)];
          }
        }
        take_next();
        __syncthreads();  // the counts are written
      });
}

// Block b has strip b % strips of the bins of bucket b / strips. Ensures: pass.rooms are the sums.
template <class Key, class Value>
__global__ void __launch_bounds__(kPieceSumThreads)
    piece_sum_kernel(const __grid_constant__ PairDistributionPass<Key, Value> pairs,
                     unsigned strip_bins) {
  __shared__ std::uint64_t sums[kPieceSumThreads];
  const DistributionPass<Key>& pass = pairs.keys;
  grid_begin();
  const unsigned bins = pass.tables.bins();
  const unsigned strips = bins / strip_bins;
  const unsigned bucket = blockIdx.x / strips;
  const std::uint64_t first_tile = pass.buckets[bucket].first_tile;
  const std::uint64_t end_tile = pass.buckets[bucket + 1].first_tile;
  if (first_tile == end_tile || pass.tables.heads[bucket].is_single()) return;
  const TileJobs jobs = jobs_of(pass);
  const std::uint64_t first_piece = jobs.piece_of(first_tile, bucket);
  const std::uint64_t pieces = jobs.piece_of(end_tile - 1, bucket) + 1 - first_piece;
  const unsigned bin = blockIdx.x % strips * strip_bins + threadIdx.x % strip_bins;
  const unsigned part = threadIdx.x / strip_bins;
  const unsigned parts = kPieceSumThreads / strip_bins;
  const std::uint64_t begin = pieces * part / parts;
  const std::uint64_t end = pieces * (part + 1) / parts;
  std::uint64_t* const own = pairs.pieces + first_piece * bins + bin;
  std::uint64_t sum = 0;
#pragma unroll 8
  for (std::uint64_t piece = begin; piece < end; ++piece) sum += own[piece * bins];
  sums[threadIdx.x] = sum;
  __syncthreads();  // all parts are summed up
  std::uint64_t before = 0;
  for (unsigned i = threadIdx.x % strip_bins; i < threadIdx.x; i += strip_bins) before += sums[i];
#pragma unroll 8
  for (std::uint64_t piece = begin; piece < end; ++piece) {
    const std::uint64_t count = own[piece * bins];
    own[piece * bins] = before;
    before += count;
  }
  if (part + 1 == parts) pass.rooms[std::uint64_t{bucket} * bins + bin] = before;
}

}  // namespace gsort::gpu
