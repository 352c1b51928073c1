// pair_merge_kernel: merges the tiles of one pass over pairs, stably. The twin of
// kway_merge_kernel.cuh, whose cuts, slices and levels it shares; its words carry a key and an
// index (pair_word.hpp), which counts through the slices laid end to end: so pairs of equal keys
// keep the order of their runs, and within a run their own.
//
// Threads: block b merges what lies between the rows of cuts b and b + 1. Warp w loads the pairs
// [32 w E, 32 (w+1) E) of the slices, laid end to end: keys by way of registers into words,
// values straight into shared memory. Thread t makes row t in each level of the tree.
// Shared memory: the tile's values in that order, its words (pair_tile.cuh) as the slices of
// kway_merge_kernel.cuh.
// Device memory: each key and value is read once and written once, 2 * (sizeof(Key) +
// sizeof(Value)) bytes an element, and the rows of cuts.
#pragma once

#include <cstdint>

#include "gpu/kway_merge_kernel.cuh"
#include "gpu/pair_store.cuh"

namespace gsort::gpu {

// Loads `count` pairs of one slice: the keys' words go to `word` of the tile and behind it or, for
// kReversed, before it; the values to the places `position` and following. The keys' loads are
// issued first, since the words wait for them.
template <bool kReversed, class Key, class Value, unsigned kRows, unsigned kRowWords>
__device__ void warp_load_pairs(const PairTile<Key, Value, kRows, kRowWords>& tile, const Key* keys,
                                const Value* values, unsigned position, unsigned count,
                                unsigned word) {
  using Word = PairWord<Key>;
  constexpr int kStep = static_cast<int>(TileWords<Word, kRowWords>::kWarpStride);
  constexpr int kSignedStep = kReversed ? -kStep : kStep;
  constexpr int kBatch = 8;
  const unsigned lane = threadIdx.x % 32;
  // Lanes past the slice's begin would count below word 0; they store nothing.
  auto to = tile.words.at(tile.words.place_of(kReversed ? word - lane : word + lane));
  position += lane;
  keys += lane;
  values += lane;
  Value* staged = tile.values + position;
#pragma unroll 1
  for (int left = static_cast<int>(count - lane); left > 0; left -= 32 * kBatch) {
    Key batch[kBatch];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      if (left > 32 * j) batch[j] = keys[32 * j];
    }
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      if (left > 32 * j) thread_copy_async(staged + 32 * j, values + 32 * j);
    }
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      if (left > 32 * j) to.put(j * kSignedStep, Word::of(batch[j], position + 32 * j));
    }
    position += 32 * kBatch;
    keys += 32 * kBatch;
    values += 32 * kBatch;
    staged += 32 * kBatch;
    to = to.at(kBatch * kSignedStep);
  }
}

template <class Key, class Value, unsigned kThreads, unsigned kRowWords, unsigned kFanIn,
          unsigned kResidentThreads, class Cuts = WrittenCuts>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    pair_merge_kernel(const PairMergePass<Key, Value> pairs) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ TileSlices<kFanIn> slices;
  __shared__ unsigned co_ranks[kThreads + 1];
  const MergePass<Key>& pass = pairs.keys;
  const auto tile = PairTile<Key, Value, kThreads, kRowWords>::in(shared_bytes);
  constexpr unsigned kTilePairs = merge_tile_keys(kThreads, kRowWords, kFanIn);
  grid_begin();
  if (!Cuts::template block_find_slices<kTilePairs, kRowWords>(pass, slices)) return;
  warp_visit_slices<kRowWords>(slices, [&](auto reversed, std::uint64_t source, unsigned position,
                                           unsigned count, unsigned word) {
    constexpr bool kReversed = decltype(reversed)::value;  // each second slice
    const Value* const values =
        pairs.values_in + source + (kReversed ? pairs.second_values_shift : 0);
    warp_load_pairs<kReversed>(tile, pass.input + source, values, position, count, word);
  });
  warp_fill_holes(tile.words, slices);
  __syncthreads();  // the words of the slices are in shared memory

  PairWord<Key> words[kRowWords];
  block_merge_slices(tile.words, slices, co_ranks, words);
  thread_wait_for_copies();
  __syncthreads();  // all values are in shared memory, and so are the rows of the warp

  const TilePlace place = slices.place;
  TileTarget<Key> target{pass.output + place.output,
                         slices.first[kFanIn],
                         nullptr,
                         place.group_position,
                         pass.maps,
                         pass.store_map};
  if (pass.writes_samples) target.samples = pass.samples + place.sample_begin;
  warp_store_pairs(tile, target, pairs.values_out + place.output);
}

}  // namespace gsort::gpu
