// bin_count_kernel: counts the keys of each bin, before a distribution that needs no chunks.
//
// Threads: a block counts piece by piece (tile_jobs.hpp), by atomic additions in shared memory, and
// adds the counts of a piece to those in device memory. Shared memory: the table and one number per
// bin. Device memory: each key is read once.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/bucket_tiles.cuh"
#include "gpu/distribute/launch.hpp"

namespace gsort::gpu {

// Adds one to the count of each bin. All lanes call this.
template <unsigned kKeys>
__device__ void thread_count_bins(unsigned* counts, const unsigned (&bins)[kKeys]) {
  if (!warp_shares_bin(bins[0])) {  // then few of the others are shared
#pragma unroll
    for (const unsigned bin : bins) atomicAdd(&counts[spread_place(bin)], 1U);
    return;
  }
#pragma unroll
  for (const unsigned bin : bins) {
    if (!warp_shares_bin(bin)) {
      atomicAdd(&counts[spread_place(bin)], 1U);
    } else if (threadIdx.x % 32 == 0) {
      atomicAdd(&counts[spread_place(bin)], 32U);
    }
  }
}

// Keeps the bins of eight keys of the thread for the distribution (KeptBins). Key `begin` is the
// first of the keys that the block has just counted.
template <class Pass>
__device__ void thread_keep_bins(const Pass& pass, std::uint64_t begin,
                                 const unsigned (&bins)[BinVector::kKeys]) {
  BinVector kept;
#pragma unroll
  for (unsigned i = 0; i < BinVector::kKeys; ++i)
    kept.keys[i] = static_cast<std::uint16_t>(bins[i]);
  reinterpret_cast<BinVector*>(pass.bins + begin)[threadIdx.x] = kept;
}

// Counts consecutive keys in the bins of a bucket, and calls keep(bins) with the thread's bins.
template <unsigned kThreads, unsigned kKeys, class Key, class Table, class Keep>
__device__ void thread_count_keys(const DistributionPass<Key>& pass, std::uint64_t begin,
                                  unsigned count, const BinHead<Key>& head, const Table& table,
                                  unsigned* counts, const Keep& keep) {
  Key keys[kKeys];
  unsigned bins[kKeys];
  thread_load_keys<kThreads>(pass, begin, count, keys);
  thread_find_bins<kThreads>(head, table, keys, count, bins);
  thread_count_bins(counts, bins);
  keep(bins);
}

// Adds the block's counts to those of the bucket's bins, and clears them.
template <class Pass>
__device__ void block_add_counts(const Pass& pass, unsigned bucket, unsigned* counts) {
  __syncthreads();  // all keys are counted
  for (unsigned bin = threadIdx.x; bin < pass.tables.bins(); bin += blockDim.x) {
    const unsigned count = counts[spread_place(bin)];
    counts[spread_place(bin)] = 0;
    if (count != 0) {
      thread_add(&pass.rooms[std::uint64_t{bucket} * pass.tables.bins() + bin], count);
    }
  }
  __syncthreads();  // the counts are clear
}

// kKeeps: the bins of all keys are kept for the distribution.
template <class Key, DistributionStep kStep, bool kKeeps>
__global__ void __launch_bounds__(kDistribution<Key, kStep>.threads)
    bin_count_kernel(const __grid_constant__ DistributionPass<Key> pass) {
  constexpr unsigned kThreads = kDistribution<Key, kStep>.threads;
  constexpr unsigned kTileKeys = kDistribution<Key, kStep>.tile_keys();
  constexpr unsigned kKeys = BinVector::kKeys;
  static_assert(kTileKeys % (kThreads * kKeys) == 0);
  __shared__ SharedBins<Key> shared_bins;
  __shared__ unsigned counts[spread_place(kMostBins) + 1];
  __shared__ BucketTile found;
  grid_begin();
  for (unsigned bin = threadIdx.x; bin < kMostBins; bin += kThreads) {
    counts[spread_place(bin)] = 0;
  }
  block_for_pieces<kTileKeys>(
      pass, found,
      [&](BucketTile place, std::uint64_t tiles, std::uint64_t /*piece*/, const auto& take_next) {
        const BinHead<Key> head = pass.tables.heads[place.bucket];
        if (!head.is_single()) {
          std::uint64_t from = thread_find_keys<kStep>(pass, place.bucket, place.position);
          const auto table = block_load_table<kStep == DistributionStep::kSecond>(
              pass.tables, place.bucket, head, shared_bins);
          __syncthreads();  // the table is loaded
#pragma unroll 1
          for (; tiles > 0; --tiles) {
            const unsigned count = place.count<kTileKeys>();
            const std::uint64_t begin = from;
            place.position += kTileKeys;
            if (tiles > 1) from = thread_find_keys<kStep>(pass, place.bucket, place.position);
#pragma unroll 1
            for (unsigned first = 0; first < count; first += kThreads * kKeys) {
              thread_count_keys<kThreads, kKeys>(pass, begin + first, count - first, head, table,
                                                 counts, [&](const unsigned(&bins)[kKeys]) {
                                                   if constexpr (kKeeps) {
                                                     thread_keep_bins(pass, begin + first, bins);
                                                   }
                                                 });
            }
          }
        }
        take_next();
        block_add_counts(pass, place.bucket, counts);
      });
}

}  // namespace gsort::gpu
