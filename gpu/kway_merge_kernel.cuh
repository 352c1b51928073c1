// kway_merge_kernel: merges the tiles of one pass; what a pass is, merge_pass.hpp says.
//
// Threads: block b merges what lies between the rows of cuts b and b + 1. Warp w copies the words
// [32 w E, 32 (w+1) E) of the slices, laid end to end, into shared memory; thread t makes row t in
// each level of the tree: kFanIn slices become kFanIn / 2 lists, and so on to one. Shared memory:
// kFanIn / 2 regions, one a pair of slices: A ascending, greatest keys up to a multiple of E, B
// descending. So all later lists are whole rows; the fill ends up behind the tile's keys and is not
// stored. Device memory: each key is read once and written once, 2 * sizeof(Key) bytes an element,
// and the rows of cuts.
#pragma once

#include <cstdint>

#include "gpu/block_merge.cuh"
#include "gpu/block_store.cuh"
#include "gpu/merge_pass.hpp"

namespace gsort::gpu {

// What a block knows about its slices, in shared memory.
template <unsigned kFanIn>
struct TileSlices {
  std::uint64_t source[kFanIn];        // position in the input of each slice's first key
  unsigned first[kFanIn + 1];          // the same counted through all slices of the tile
  unsigned first_row[kFanIn / 2 + 1];  // of each pair's region
};

// Reads the cuts of block `index`. Returns false if its row is the end of a group. Holds a barrier.
template <class Key, unsigned kRowWords, unsigned kFanIn>
__device__ bool block_read_cuts(const std::uint64_t* row, TileSlices<kFanIn>& slices) {
  constexpr std::uint64_t kRowNumbers = kRowHeader + kFanIn;
  if (row[kOutputPosition] == kGroupEnd) return false;
  if (threadIdx.x < kFanIn) {
    const std::uint64_t begin = row[kRowHeader + threadIdx.x];
    const std::uint64_t end = row[kRowNumbers + kRowHeader + threadIdx.x];
    slices.source[threadIdx.x] = begin;
    slices.first[threadIdx.x + 1] = static_cast<unsigned>(end - begin);
  }
  __syncwarp();
  if (threadIdx.x == 0) {
    slices.first[0] = 0;
    slices.first_row[0] = 0;
    for (unsigned pair = 0; pair < kFanIn / 2; ++pair) {
      const unsigned a = slices.first[2 * pair + 1];
      const unsigned b = slices.first[2 * pair + 2];
      slices.first[2 * pair + 1] = slices.first[2 * pair] + a;
      slices.first[2 * pair + 2] = slices.first[2 * pair] + a + b;
      slices.first_row[pair + 1] = slices.first_row[pair] + (a + b + kRowWords - 1) / kRowWords;
    }
  }
  __syncthreads();  // the slices are known
  return true;
}

template <class Key>
__device__ void thread_copy_async(Key* shared, const Key* global) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(global),
               "n"(sizeof(Key))
               : "memory");
}

__device__ inline void thread_wait_for_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// Copies words [from, to) of the tile, all of one slice; the first goes to `word` of the shared
// tile, the others behind it or, for kReversed, before it. 32 words further is a constant number of
// places further.
template <bool kReversed, class Key, unsigned kRowWords>
__device__ void warp_copy_slice(TileWords<Key, kRowWords> tile, const Key* source, unsigned count,
                                unsigned word) {
  const unsigned lane = threadIdx.x % 32;
  constexpr int kStep = static_cast<int>(TileWords<Key, kRowWords>::kWarpStride);
  constexpr int step = kReversed ? -kStep : kStep;
  Key* to = tile.words + tile.place_of(kReversed ? word - lane : word + lane);
  source += lane;
  constexpr unsigned kBatch = 8;
#pragma unroll 1
  for (unsigned i = lane; i < count; i += 32 * kBatch) {
#pragma unroll
    for (unsigned j = 0; j < kBatch; ++j) {
      if (i + 32 * j < count) thread_copy_async(to + static_cast<int>(j) * step, source + 32 * j);
    }
    source += 32 * kBatch;
    to += static_cast<int>(kBatch) * step;
  }
}

// Copies this warp's share of the slices, and fills the holes between the lists of each pair.
template <class Key, unsigned kRowWords, unsigned kFanIn>
__device__ void warp_load_slices(TileWords<Key, kRowWords> tile, const Key* input,
                                 const TileSlices<kFanIn>& slices) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned share_begin = warp * 32 * kRowWords;
  const unsigned share_end = share_begin + 32 * kRowWords;
#pragma unroll 1
  for (unsigned slice = 0; slice < kFanIn; ++slice) {
    const unsigned first = slices.first[slice];
    const unsigned end = slices.first[slice + 1];
    const unsigned from = first > share_begin ? first : share_begin;
    const unsigned to = end < share_end ? end : share_end;
    if (from >= to) continue;
    const Key* const source = input + slices.source[slice] + (from - first);
    if (slice % 2 == 0) {
      const unsigned word = slices.first_row[slice / 2] * kRowWords + (from - first);
      warp_copy_slice<false>(tile, source, to - from, word);
    } else {
      const unsigned word = slices.first_row[slice / 2 + 1] * kRowWords - 1 - (from - first);
      // Lanes past the slice's begin would count below word 0; they copy nothing.
      warp_copy_slice<true>(tile, source, to - from, word);
    }
  }
  for (unsigned pair = warp; pair < kFanIn / 2; pair += blockDim.x / 32) {
    const unsigned begin =
        slices.first_row[pair] * kRowWords + slices.first[2 * pair + 1] - slices.first[2 * pair];
    const unsigned end = slices.first_row[pair + 1] * kRowWords -
                         (slices.first[2 * pair + 2] - slices.first[2 * pair + 1]);
    if (begin + lane < end) tile.words[tile.place_of(begin + lane)] = static_cast<Key>(~Key{0});
  }
}

// A region of one level, and whether its list is the B of the next level.
struct LevelRegion {
  MergeRegion region;
  bool becomes_b = false;
};

// The region of `row` in the level whose regions are each `pairs` of the first level's.
template <unsigned kRowWords, unsigned kFanIn>
__device__ LevelRegion thread_find_region(const TileSlices<kFanIn>& slices, unsigned pairs,
                                          unsigned row) {
  unsigned pair = 0;
  while (pair < kFanIn / 2 && row >= slices.first_row[pair + pairs]) pair += pairs;
  if (pair >= kFanIn / 2) return {};
  const unsigned first_row = slices.first_row[pair];
  const unsigned rows = slices.first_row[pair + pairs] - first_row;
  const unsigned a_words =
      pairs == 1 ? rows * kRowWords - (slices.first[2 * pair + 2] - slices.first[2 * pair + 1])
                 : (slices.first_row[pair + pairs / 2] - first_row) * kRowWords;
  return {{first_row, rows, a_words}, (pair & pairs) != 0};
}

template <class Key, unsigned kThreads, unsigned kRowWords, unsigned kFanIn>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    kway_merge_kernel(const MergePass<Key> pass) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ TileSlices<kFanIn> slices;
  __shared__ unsigned co_ranks[kThreads + 1];
  const TileWords<Key, kRowWords> tile{reinterpret_cast<Key*>(shared_bytes)};
  const std::uint64_t* const cuts = pass.rows + std::uint64_t{blockIdx.x} * (kRowHeader + kFanIn);
  if (!block_read_cuts<Key, kRowWords>(cuts, slices)) return;
  warp_load_slices(tile, pass.input, slices);
  thread_wait_for_copies();
  __syncthreads();  // the slices are in shared memory

  const unsigned row = threadIdx.x;
  Key keys[kRowWords];
#pragma unroll 1
  for (unsigned pairs = 1; pairs <= kFanIn / 2; pairs *= 2) {
    const auto [region, becomes_b] = thread_find_region<kRowWords>(slices, pairs, row);
    block_merge_level<Sharers::kBlock>(tile, region, row, co_ranks, keys);
    if (region.rows == 0) {
      // Nothing to store.
    } else if (becomes_b) {
      thread_store_row_reversed(tile, row, region.first_row, region.rows, keys);
    } else {
      thread_store_row(tile, row, keys);
    }
    if (pairs < kFanIn / 2) __syncthreads();  // the next level's lists are written
  }

  TileTarget<Key> target{pass.output + cuts[kOutputPosition],
                         slices.first[kFanIn],
                         nullptr,
                         cuts[kGroupPosition],
                         pass.maps,
                         pass.store_map};
  if (pass.writes_samples) target.samples = pass.samples + cuts[kSampleBegin];
  warp_store_tile(tile, target);
}

}  // namespace gsort::gpu
