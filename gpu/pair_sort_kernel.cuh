// pair_sort_kernel: sorts each tile of pairs stably; tile i becomes run i. The twin of
// block_sort_kernel.cuh, whose levels it shares; its words carry a key and an index
// (pair_word.hpp).
//
// Threads: block b sorts tile b; thread t loads the pairs t, t + kThreads ... of it, then makes row
// t in every merge level.
// Shared memory: the tile's values, its words (pair_tile.cuh); one co-rank a thread.
// Device memory: each key and value is read once and written once, 2 * (sizeof(Key) +
// sizeof(Value)) bytes an element.
#pragma once

#include <cstdint>

#include "gpu/block_sort_kernel.cuh"
#include "gpu/copy_async.cuh"
#include "gpu/pair_store.cuh"

namespace gsort::gpu {

// Starts copying the tile's values to shared memory.
template <unsigned kThreads, unsigned kRowWords, class Value>
__device__ void thread_stage_values(const Value* values_in, unsigned count, Value* staged) {
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) {
    const unsigned index = i * kThreads + threadIdx.x;
    if (index < count) thread_copy_async(staged + index, values_in + index);
  }
}

// Makes words of the thread's keys; what the tile lacks is filled with the greatest word.
template <unsigned kThreads, class Key, class Word, unsigned kRowWords>
__device__ void thread_load_words(const BlockSortPass<Key>& pass, const Key* tile, unsigned count,
                                  Word (&words)[kRowWords]) {
  Key keys[kRowWords];
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) {
    const unsigned index = i * kThreads + threadIdx.x;
    keys[i] = index < count ? tile[index] : Key{0};
  }
  if (pass.loads_mapped) {
#pragma unroll
    for (Key& key : keys) key = pass.load_map.to_ordered(key);
  }
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) {
    const unsigned index = i * kThreads + threadIdx.x;
    words[i] = Word::of(keys[i], index);
  }
  if (count < kThreads * kRowWords) {
#pragma unroll
    for (unsigned i = 0; i < kRowWords; ++i) {
      if (i * kThreads + threadIdx.x >= count) words[i] = greatest_word<Word>();
    }
  }
}

template <class Key, class Value, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    pair_sort_kernel(const PairSortPass<Key, Value> pairs) {
  constexpr unsigned kTilePairs = kThreads * kRowWords;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ unsigned co_ranks[kThreads + 1];
  const BlockSortPass<Key>& pass = pairs.keys;
  const auto tile = PairTile<Key, Value, kThreads, kRowWords>::in(shared_bytes);
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * kTilePairs;
  const std::uint64_t left = pass.count - begin;
  const unsigned count = left < kTilePairs ? static_cast<unsigned>(left) : kTilePairs;

  grid_begin();
  thread_stage_values<kThreads, kRowWords>(pairs.values_in + begin, count, tile.values);
  PairWord<Key> words[kRowWords];
  thread_load_words<kThreads>(pass, pass.input + begin, count, words);
  block_sort_rows<kThreads>(tile.words, co_ranks, words);
  thread_wait_for_copies();
  __syncthreads();  // all values are in shared memory, and so are the rows of the warp

  TileTarget<Key> target{pass.output + begin, count,         nullptr, 0,
                         pass.stores_mapped,  pass.store_map};
  if (pass.samples != nullptr) {
    target.samples = pass.samples + (begin >> kWrittenSampleShift<Key>)+blockIdx.x;
  }
  warp_store_pairs(tile, target, pairs.values_out + begin);
}

}  // namespace gsort::gpu
