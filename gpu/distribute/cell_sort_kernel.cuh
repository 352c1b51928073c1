// cell_sort_kernel: sorts packed tiles in place, each as one list. Tiles with too many different
// keys in one cell are not sorted, but listed for packed_sort_kernel.
//
// Problem. Merging a tile of 8,192 keys in shared memory takes thirteen levels, and hundreds of
// instructions per key. It would take longer than each of the two distributions before it.
//
// Idea. Splitters from a sample of all keys have made the tiles, so the keys of a tile lie in a
// narrow range, and nearly evenly there, whatever their distribution is. The range is divided into
// equal cells of two keys on average (key_cells.hpp). Atomic additions count the keys of each cell,
// and a prefix sum of the counts says where each cell begins. Each key goes to its cell; its rank
// among the few keys of the cell gives its place. A cell has too many keys if many keys are equal,
// or if the range has gaps. If such a cell has few different keys, these are counted
// (crowded_cells.cuh); otherwise, the tile is sorted by merging.
//
// Example. Keys 13 10 15 12, cells 2 0 3 1: 10 | 12 | 13 | 15.
//
// Threads: a block sorts the tiles that it takes (taken_jobs.cuh); thread t has every kThreads-th
// place of the tile. Shared memory: the tile, and a number for each cell. Device memory: each key
// is read and written once; keys of a listed tile are read once more.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/block_sum.cuh"
#include "gpu/distribute/crowded_cells.cuh"
#include "gpu/distribute/key_cells.hpp"
#include "gpu/distribute/launch.hpp"
#include "gpu/distribute/packed_sort_kernel.cuh"
#include "gpu/records/pair_code.hpp"
#include "gpu/records/warp_extremes.cuh"

namespace gsort::gpu {

// The shared memory of cell_sort_kernel; the tile and the cells are dynamic.
template <class Key, unsigned kThreads>
struct CellScratch {
  Key least[kThreads / 32];  // of each warp's keys
  Key greatest[kThreads / 32];
  unsigned warp_sums[kThreads / 32];
};

// The range of the block's keys. Requires: each warp's range is written.
template <class Key, unsigned kThreads>
__device__ KeyRange<Key> warp_join_ranges(const CellScratch<Key, kThreads>& scratch) {
  const unsigned warp = threadIdx.x % (kThreads / 32);
  return {warp_least(scratch.least[warp]), warp_greatest(scratch.greatest[warp])};
}

// The range of the block's keys; is_own(i) says whether key i of the thread is one of them.
// Contains a barrier.
template <unsigned kThreads, class Key, unsigned kKeys, class IsOwn>
__device__ KeyRange<Key> block_find_own_range(const Key (&keys)[kKeys], const IsOwn& is_own,
                                              CellScratch<Key, kThreads>& scratch) {
  KeyRange<Key> range;
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    if (!is_own(i)) continue;
    range.least = min(range.least, keys[i]);
    range.greatest = max(range.greatest, keys[i]);
  }
  range = {warp_least(range.least), warp_greatest(range.greatest)};
  if (threadIdx.x % 32 == 0) {
    scratch.least[threadIdx.x / 32] = range.least;
    scratch.greatest[threadIdx.x / 32] = range.greatest;
  }
  __syncthreads();  // each warp's range is written
  return warp_join_ranges(scratch);
}

// Counts the thread's own keys in their cells. Byte i % 4 of before[i / 4] becomes the number of
// keys of the same cell that were counted before key i. Returns whether a cell has too many keys.
template <class Cells, class Key, unsigned kKeys, class IsOwn>
__device__ bool thread_count_cells(const Cells& cells, const Key (&keys)[kKeys],
                                   const IsOwn& is_own, unsigned* counts,
                                   std::uint32_t (&before)[kKeys / 4]) {
  bool is_crowded = false;
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    if (i % 4 == 0) before[i / 4] = 0;
    if (!is_own(i)) continue;
    const unsigned earlier = atomicAdd(&counts[cells.of_key(keys[i])], 1U);
    is_crowded |= earlier >= kMostOfCell;
    before[i / 4] |= earlier << 8 * (i % 4);
  }
  return is_crowded;
}

// The place of key i of the thread. Requires: `begins` says where each cell begins.
template <class Cells, class Key, unsigned kWords>
__device__ unsigned place_in_cell(const Cells& cells, Key key, unsigned i, const unsigned* begins,
                                  const std::uint32_t (&before)[kWords]) {
  return begins[cells.of_key(key)] + (before[i / 4] >> 8 * (i % 4) & 0xffU);
}

// Replaces the counts of the cells by the places where they begin. Requires: all keys are counted.
// Does not end with a barrier.
template <unsigned kThreads, unsigned kCells>
__device__ void block_place_cells(unsigned* cells, unsigned* warp_sums) {
  constexpr unsigned kOwn = kCells / kThreads;
  unsigned counts[kOwn];
  unsigned* const own = cells + kOwn * threadIdx.x;
  unsigned sum = 0;
#pragma unroll
  for (unsigned i = 0; i < kOwn; ++i) {
    counts[i] = own[i];
    sum += counts[i];
  }
  unsigned total = 0;
  unsigned begin = block_exclusive_sum<kThreads>(sum, warp_sums, total);
#pragma unroll
  for (unsigned i = 0; i < kOwn; ++i) {
    own[i] = begin;
    begin += counts[i];
  }
  if (threadIdx.x == 0) cells[kCells] = total;
}

// The sorted place of the key at `place` of the tile, whose cell is [begin, end): behind the keys
// of the cell that are less, and behind equal ones in front of it.
template <class Key>
__device__ unsigned thread_rank_in_cell(const Key* tile, Key key, unsigned place, unsigned begin,
                                        unsigned end) {
  unsigned rank = begin;
#pragma unroll 1
  for (unsigned i = begin; i < end; ++i) {
    const Key other = tile[i];
    if (other < key || (other == key && i < place)) ++rank;
  }
  return rank;
}

// Takes a place in `cell` for each lane; next[cell] is the next free one. A lane whose cell is
// kCells takes none. Neighbours are often equal: then one atomic addition serves the warp.
template <unsigned kCells>
__device__ unsigned warp_take_places(unsigned* next, unsigned cell) {
  if (__all_sync(kWholeWarp, cell == __shfl_sync(kWholeWarp, cell, 0))) {
    const unsigned lane = threadIdx.x % 32;
    unsigned first = 0;
    if (lane == 0 && cell < kCells) first = atomicAdd(&next[cell], 32U);
    return __shfl_sync(kWholeWarp, first, 0) + lane;
  }
  return cell < kCells ? atomicAdd(&next[cell], 1U) : 0;
}

// Returns false, with nothing written, if a cell has too many keys; all keys are counted then.
template <unsigned kThreads, unsigned kKeys, class Key>
__device__ bool block_sort_by_cells(const LongSortPass<Key>& pass, const LongArray& array,
                                    CellScratch<Key, kThreads>& scratch) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  constexpr unsigned kTileKeys = kThreads * kKeys;
  constexpr unsigned kCells = kTileKeys / kKeysOfCell;
  auto* const tile = reinterpret_cast<Key*>(shared_bytes);
  auto* const counts = reinterpret_cast<unsigned*>(tile + kTileKeys);
  const auto count = static_cast<unsigned>(array.length);
  const Key* const from = pass.input + array.begin;
  const auto skipped = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) %
                                             sizeof(KeyVector<Key>) / sizeof(Key));
  Key keys[kKeys];
  thread_load_window<Key, kThreads>(from - skipped, skipped, count, keys);
#pragma unroll
  for (unsigned i = 0; i < kCells / kThreads; ++i) counts[i * kThreads + threadIdx.x] = 0;
  const auto is_own = [&](unsigned i) {
    constexpr unsigned kVector = KeyVector<Key>::kKeys;
    return (i / kVector * kThreads + threadIdx.x) * kVector + i % kVector - skipped < count;
  };
  const KeyRange<Key> range = block_find_own_range(keys, is_own, scratch);
  const auto cells = KeyCells<Key, kCells>::of(range.least, range.greatest);
  std::uint32_t before[kKeys / 4];
  const bool is_crowded = thread_count_cells(cells, keys, is_own, counts, before);
  if (__syncthreads_or(is_crowded ? 1 : 0) != 0) return false;  // else all keys are counted
  block_place_cells<kThreads, kCells>(counts, scratch.warp_sums);
  __syncthreads();  // all cells have their beginnings
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    if (!is_own(i)) continue;
    tile[place_in_cell(cells, keys[i], i, counts, before)] = keys[i];
  }
  __syncthreads();  // the tile lies cell by cell
  Key* const to = pass.after_even_passes + array.begin;
#pragma unroll 2
  for (unsigned i = 0; i < kKeys; ++i) {
    const unsigned place = i * kThreads + threadIdx.x;
    if (place >= count) break;
    const Key key = tile[place];
    const unsigned cell = cells.of_key(key);
    const unsigned rank = thread_rank_in_cell(tile, key, place, counts[cell], counts[cell + 1]);
    to[rank] = pass.maps.stores_mapped ? pass.maps.store_map.to_raw(key) : key;
  }
  return true;
}

// Sorts a tile that block_sort_by_cells did not sort, with the counts and ranges that it made.
// Loads the keys again, since that function needs all registers. Returns false, with nothing
// written, if a crowded cell has too many different keys.
template <unsigned kThreads, unsigned kTileKeys, class Key>
__device__ bool block_sort_crowded_tile(const LongSortPass<Key>& pass, const LongArray& array,
                                        CellScratch<Key, kThreads>& scratch) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  constexpr unsigned kCells = kTileKeys / kKeysOfCell;
  auto* const tile = reinterpret_cast<Key*>(shared_bytes);
  auto* const counts = reinterpret_cast<unsigned*>(tile + kTileKeys);
  const Key* const from = pass.input + array.begin;
  Key* const to = pass.after_even_passes + array.begin;
  const auto count = static_cast<unsigned>(array.length);
  const auto stored = [&](Key key) {
    return pass.maps.stores_mapped ? pass.maps.store_map.to_raw(key) : key;
  };
  if (counts[0] == count) {  // all keys are equal, and in place
    if (!pass.maps.stores_mapped) return true;
    for (unsigned i = threadIdx.x; i < count; i += kThreads) to[i] = stored(scratch.least[0]);
    return true;
  }
  const KeyRange<Key> range = warp_join_ranges(scratch);
  const auto cells = KeyCells<Key, kCells>::of(range.least, range.greatest);
  block_place_cells<kThreads, kCells>(counts, scratch.warp_sums);
  __syncthreads();  // all cells have their beginnings
#pragma unroll 4
  for (unsigned i = threadIdx.x; i / 32 * 32 < count; i += kThreads) {
    const Key key = i < count ? from[i] : Key{0};
    const unsigned place = warp_take_places<kCells>(counts, i < count ? cells.of_key(key) : kCells);
    if (i < count) tile[place] = key;
  }
  __syncthreads();  // the tile lies cell by cell; the cells have their ends
  const bool is_sorted = warp_sort_crowded_cells<kThreads, kCells>(tile, counts);
  if (__syncthreads_or(is_sorted ? 0 : 1) != 0) return false;  // else crowded cells are sorted
#pragma unroll 1
  for (unsigned place = threadIdx.x; place < count; place += kThreads) {
    const Key key = tile[place];
    const unsigned cell = cells.of_key(key);
    const unsigned begin = cell == 0 ? 0 : counts[cell - 1];
    const unsigned end = counts[cell];
    const bool is_crowded = end - begin > kMostOfCell;
    to[is_crowded ? place : thread_rank_in_cell(tile, key, place, begin, end)] = stored(key);
  }
  return true;
}

// Calls sort(tile) for each packed tile that this block takes, and lists the tiles for which it
// returns false. All threads of the block call this.
template <class Pass, class Sort>
__device__ void block_sort_packed_tiles(const Pass& pass, const Sort& sort) {
  DistributionCounts& counts = *pass.counts;
  block_take_jobs(counts.packed_tiles, &counts.taken_packed_tiles, [&](std::uint64_t tile) {
    const LongArray array = pass.packed_tiles[tile];
    if (sort(array) || threadIdx.x != 0) return;
    pass.crowded_tiles[thread_add(&counts.lists.tile_arrays, 1)] = array;
  });
}

template <class Key>
__global__ void __launch_bounds__(kCellSort<Key>.threads,
                                  kCellSort<Key>.resident_threads / kCellSort<Key>.threads)
    cell_sort_kernel(const __grid_constant__ PackedSortPass<Key> pass) {
  constexpr unsigned kThreads = kCellSort<Key>.threads;
  __shared__ CellScratch<Key, kThreads> scratch;
  grid_begin();
  block_sort_packed_tiles(pass, [&](const LongArray& array) {
    return block_sort_by_cells<kThreads, kCellSort<Key>.keys_per_thread>(pass.buckets, array,
                                                                         scratch) ||
           block_sort_crowded_tile<kThreads, kCellSort<Key>.tile_keys()>(pass.buckets, array,
                                                                         scratch);
  });
}

}  // namespace gsort::gpu
