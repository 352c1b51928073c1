// cell_pair_sort_kernel: cell_sort_kernel for pairs: sorts packed tiles stably, in place.
//
// Idea. Cells are as in cell_sort_kernel, of two pairs on average, or of one if a pair has more
// than 8 bytes; windows are the same, too. If a tile's range is narrow (random u32 keys: from about
// 2^26 pairs on), one word holds both the difference of a key to the least key and the place of its
// pair in the tile. These words are sorted: the place decides the order of equal keys, and says
// where the value is. If the range is too wide for words, or a cell is too long for the windows,
// pairs are ranked among those of their cell. Meanwhile, values are copied to shared memory, in the
// order of the input.
//
// Example. Keys 15 12 15, least key 12: words 3|0 0|1 3|2, sorted 0|1 3|0 3|2.
//
// Cost. For 32 random pairs of u32 with u32, about 68 instructions, of which windows take 19.
//
// Threads and memory are as in cell_sort_kernel, plus the values, and the places of ranked pairs in
// the input.
#pragma once

#include <bit>
#include <cstdint>

#include "gpu/cuda/copy_async.cuh"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/distribute/cell_sort_kernel.cuh"
#include "gpu/distribute/launch.hpp"
#include "gpu/merge/block_store.cuh"

namespace gsort::gpu {

// The dynamic shared memory of cell_pair_sort_kernel.
template <class Key, class Value, unsigned kTilePairs>
struct CellPairStage {
  static constexpr unsigned kVectorBytes = sizeof(KeyVector<Value>);
  static constexpr unsigned kBytes =
      kVectorBytes + kTilePairs * (sizeof(Value) + sizeof(Key) + sizeof(std::uint16_t));

  Value* values;           // in the order of the input, from less than a vector on
  Key* keys;               // cell by cell; or words
  std::uint16_t* sources;  // the places of these keys in the input
  unsigned* counts;        // of the cells; then where they begin, and where they end

  static __device__ CellPairStage in(unsigned char* memory) {
    static_assert(kTilePairs <= 1U << 16);
    auto* const values = reinterpret_cast<Value*>(memory);
    auto* const keys = reinterpret_cast<Key*>(memory + kVectorBytes + kTilePairs * sizeof(Value));
    auto* const sources = reinterpret_cast<std::uint16_t*>(keys + kTilePairs);
    return {values, keys, sources, reinterpret_cast<unsigned*>(sources + kTilePairs)};
  }
};

// Starts copying a tile's values to `staged`, each vector to a multiple of 16 bytes. Returns where
// the first one will be.
template <unsigned kThreads, unsigned kValues, class Value>
__device__ const Value* thread_stage_vectors(const Value* from, unsigned count, Value* staged) {
  using Vector = KeyVector<Value>;
  const auto span = VectorSpan<Value>::of(from, count);
  staged += span.skipped_of(from);
  const auto* const vectors = reinterpret_cast<const Vector*>(from + span.before) + threadIdx.x;
  auto* const staged_vectors = reinterpret_cast<Vector*>(staged + span.before) + threadIdx.x;
#pragma unroll
  for (unsigned i = 0; i < kValues / Vector::kKeys; ++i) {
    if (i * kThreads + threadIdx.x >= span.vectors) continue;
    thread_copy_async(staged_vectors + i * kThreads, vectors + i * kThreads);
  }
  if (threadIdx.x < span.singles) {
    const unsigned place = span.place_of_single(threadIdx.x);
    thread_copy_async(staged + place, from + place);
  }
  return staged;
}

// Words of a key's difference to the least key and of its pair's place. They are as wide as keys.
template <class Key, unsigned kTilePairs>
struct NarrowRangeCode {
  static constexpr unsigned kSourceBits = std::bit_width(kTilePairs - 1);

  Key least;

  [[nodiscard]] static __device__ bool suits(const KeyRange<Key>& range) {
    return range.greatest - range.least >> (8 * sizeof(Key) - kSourceBits) == 0;
  }
  [[nodiscard]] __device__ Key word_of(Key key, unsigned source) const {
    return (key << kSourceBits) + (source - (least << kSourceBits));
  }
  [[nodiscard]] __device__ Key key_of(Key word) const { return least + (word >> kSourceBits); }
  [[nodiscard]] static __device__ unsigned source_of(Key word) {
    return static_cast<unsigned>(word) & ((1U << kSourceBits) - 1);
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
template <unsigned kThreads, unsigned kPairs, unsigned kCells, class Key, class Value>
__device__ bool block_sort_pairs_by_cells(const PairLongSortPass<Key, Value>& pass,
                                          const LongArray& array,
                                          CellScratch<Key, kThreads>& scratch) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  constexpr unsigned kTilePairs = kThreads * kPairs;
  using Code = NarrowRangeCode<Key, kTilePairs>;
  const auto stage = CellPairStage<Key, Value, kTilePairs>::in(shared_bytes);
  const auto count = static_cast<unsigned>(array.length);
  const Value* const values =
      thread_stage_vectors<kThreads, kPairs>(pass.values_in + array.begin, count, stage.values);
  ThreadKeys<Key, kThreads, kPairs> keys;
  keys.load(pass.keys.input + array.begin, count);
  thread_clear_cells<kThreads, kCells>(stage.counts);
  const KeyRange<Key> range = block_find_cell_range(keys, scratch);
  const auto cells = KeyCells<Key, kCells>::of(range.least, range.greatest);
  thread_count_cells(keys, cells, stage.counts);
  __syncthreads();  // all pairs are counted
  const auto greatest = block_place_cells<kThreads, kCells>(
      stage.counts, scratch.warp_sums,
      [](unsigned /*cell*/, unsigned /*begin*/, unsigned /*count*/) {});
  // The barrier: all cells have their beginnings.
  const bool is_ranked =
      __syncthreads_or(greatest.reach > kWindowWords ? 1 : 0) != 0 || !Code::suits(range);
  if (is_ranked && __syncthreads_or(greatest.keys > kMostRanked ? 1 : 0) != 0) {
    thread_wait_for_copies();  // values of the next tile go to the same memory
    return range.least == range.greatest && !pass.keys.maps.stores_mapped;
  }
  Key* const keys_to = pass.keys.after_even_passes + array.begin;
  Value* const values_to = pass.values_after_even_passes + array.begin;
  if (is_ranked) {
    thread_fill_cells(keys, cells, stage.counts, [&](unsigned place, Key key, unsigned source) {
      stage.keys[place] = key;
      stage.sources[place] = static_cast<std::uint16_t>(source);
    });
    thread_wait_for_copies();
    __syncthreads();  // the tile lies cell by cell, its values are there
#pragma unroll 1
    for (unsigned place = threadIdx.x; place < count; place += kThreads) {
      const Key key = stage.keys[place];
      const unsigned source = stage.sources[place];
      const unsigned cell = cells.of_key(key);
      const unsigned begin = cell == 0 ? 0 : stage.counts[cell - 1];
      const unsigned rank = thread_rank_pair(stage, key, source, begin, stage.counts[cell]);
      keys_to[rank] = pass.keys.maps.stores_mapped ? pass.keys.maps.store_map.to_raw(key) : key;
      values_to[rank] = values[source];
    }
    return true;
  }
  const Code code{range.least};
  thread_fill_cells(keys, cells, stage.counts, [&](unsigned place, Key key, unsigned source) {
    stage.keys[place] = code.word_of(key, source);
  });
  thread_fill_window<kThreads>(stage.keys, count);
  thread_wait_for_copies();
  __syncthreads();  // the tile lies cell by cell, its values are there
  block_sort_windows<kThreads>(stage.keys, count);
  const auto left = static_cast<int>(count - threadIdx.x);
  Key* const own_keys = keys_to + threadIdx.x;
  Value* const own_values = values_to + threadIdx.x;
  thread_store_sorted<kThreads, kPairs>(stage.keys, [&](unsigned first, auto& words) {
    Value own[kStoredWords];
#pragma unroll
    for (unsigned i = 0; i < kStoredWords; ++i) {
      own[i] = values[Code::source_of(words[i])];
      words[i] = code.key_of(words[i]);
    }
    const int left_here = left - static_cast<int>(first);
    thread_store_keys<kThreads>(words, own_keys + first, left_here, pass.keys.maps);
#pragma unroll
    for (unsigned i = 0; i < kStoredWords; ++i) {
      const unsigned place = i * kThreads;
      if (static_cast<int>(place) < left_here) own_values[first + place] = own[i];
    }
  });
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
    return block_sort_pairs_by_cells<kTuning.threads, kTuning.keys_per_thread, kTuning.cells()>(
        pass.buckets, array, scratch);
  });
}

}  // namespace gsort::gpu
