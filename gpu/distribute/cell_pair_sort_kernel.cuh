// cell_pair_sort_kernel: cell_sort_kernel for pairs: sorts packed tiles stably, in place.
//
// Threads, memory and cells are as there. The place of each key in the input goes with the key: it
// decides between equal keys, and says where the value is. Meanwhile, values are copied to shared
// memory, in the order of the input.
#pragma once

#include <cstdint>

#include "gpu/cuda/copy_async.cuh"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/cell_sort_kernel.cuh"
#include "gpu/distribute/pair_launch.hpp"
#include "gpu/records/pair_sort_kernel.cuh"

namespace gsort::gpu {

// The dynamic shared memory of cell_pair_sort_kernel.
template <class Key, class Value, unsigned kTilePairs>
struct CellPairStage {
  Value* values;           // in the order of the input
  Key* keys;               // cell by cell
  std::uint16_t* sources;  // the places of these keys in the input
  unsigned* counts;        // of the cells; later where they begin

  static __device__ CellPairStage in(unsigned char* memory) {
    static_assert(kTilePairs <= 1U << 16);
    auto* const values = reinterpret_cast<Value*>(memory);
    auto* const keys = reinterpret_cast<Key*>(memory + kTilePairs * sizeof(Value));
    auto* const sources = reinterpret_cast<std::uint16_t*>(keys + kTilePairs);
    return {values, keys, sources, reinterpret_cast<unsigned*>(sources + kTilePairs)};
  }
};

// The sorted place of a pair, whose cell is [begin, end): behind those of the cell that come before
// it. `source` is its place in the input.
template <class Stage, class Key>
__device__ unsigned thread_rank_pair(const Stage& stage, Key key, unsigned source, unsigned begin,
                                     unsigned end) {
  unsigned rank = begin;
#pragma unroll 1
  for (unsigned i = begin; i < end; ++i) {
    const Key other = stage.keys[i];
    if (other < key || (other == key && stage.sources[i] < source)) ++rank;
  }
  return rank;
}

// Returns false, with nothing written, if a cell has too many pairs. If all keys are equal and are
// not mapped, all pairs are in place, and it returns true.
template <unsigned kThreads, unsigned kPairs, class Key, class Value>
__device__ bool block_sort_pairs_by_cells(const PairLongSortPass<Key, Value>& pass,
                                          const LongArray& array,
                                          CellScratch<Key, kThreads>& scratch) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  constexpr unsigned kTilePairs = kThreads * kPairs;
  constexpr unsigned kCells = kTilePairs / kKeysOfCell;
  const auto stage = CellPairStage<Key, Value, kTilePairs>::in(shared_bytes);
  const auto count = static_cast<unsigned>(array.length);
  const auto is_own = [&](unsigned i) { return i * kThreads + threadIdx.x < count; };
  thread_stage_values<kThreads, kPairs>(pass.values_in + array.begin, count, stage.values);
  Key keys[kPairs];
  const Key* const from = pass.keys.input + array.begin + threadIdx.x;
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) keys[i] = is_own(i) ? from[i * kThreads] : Key{0};
#pragma unroll
  for (unsigned i = 0; i < kCells / kThreads; ++i) stage.counts[i * kThreads + threadIdx.x] = 0;
  const KeyRange<Key> range = block_find_own_range(keys, is_own, scratch);
  const auto cells = KeyCells<Key, kCells>::of(range.least, range.greatest);
  std::uint32_t before[kPairs / 4];
  const bool is_crowded = thread_count_cells(cells, keys, is_own, stage.counts, before);
  if (__syncthreads_or(is_crowded ? 1 : 0) != 0) {  // else all pairs are counted
    thread_wait_for_copies();                       // values of the next tile go to the same memory
    return stage.counts[0] == count &&
           !pass.keys.maps.stores_mapped;  // all are equal, and in place
  }
  block_place_cells<kThreads, kCells>(stage.counts, scratch.warp_sums);
  __syncthreads();  // all cells have their places
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) {
    if (!is_own(i)) continue;
    const unsigned place = place_in_cell(cells, keys[i], i, stage.counts, before);
    stage.keys[place] = keys[i];
    stage.sources[place] = static_cast<std::uint16_t>(i * kThreads + threadIdx.x);
  }
  thread_wait_for_copies();
  __syncthreads();  // the tile lies cell by cell, its values are there
  Key* const keys_to = pass.keys.after_even_passes + array.begin;
  Value* const values_to = pass.values_after_even_passes + array.begin;
#pragma unroll 2
  for (unsigned i = 0; i < kPairs; ++i) {
    const unsigned place = i * kThreads + threadIdx.x;
    if (place >= count) break;
    const Key key = stage.keys[place];
    const unsigned source = stage.sources[place];
    const unsigned cell = cells.of_key(key);
    const unsigned rank =
        thread_rank_pair(stage, key, source, stage.counts[cell], stage.counts[cell + 1]);
    keys_to[rank] = pass.keys.maps.stores_mapped ? pass.keys.maps.store_map.to_raw(key) : key;
    values_to[rank] = stage.values[source];
  }
  return true;
}

template <class Key, class Value>
__global__ void __launch_bounds__(kCellPairSort<Key, Value>.threads,
                                  kCellPairSort<Key, Value>.resident_threads /
                                      kCellPairSort<Key, Value>.threads)
    cell_pair_sort_kernel(const __grid_constant__ PackedPairSortPass<Key, Value> pass) {
  constexpr CellSortTuning kTuning = kCellPairSort<Key, Value>;
  __shared__ CellScratch<Key, kTuning.threads> scratch;
  grid_begin();
  block_sort_packed_tiles(pass, [&](const LongArray& array) {
    return block_sort_pairs_by_cells<kTuning.threads, kTuning.keys_per_thread>(pass.buckets, array,
                                                                               scratch);
  });
}

}  // namespace gsort::gpu
