// pair_sort_kernel: sorts each tile of pairs stably; tile i becomes run i. The twin of
// block_sort_kernel.cuh, whose levels it shares; its words carry the upper bits of a key and an
// index, or all of the key (pair_code.hpp).
//
// Threads: block b sorts tile b; thread t loads the pairs t, t + kThreads ... of it, then makes row
// t in every merge level, and puts right what its words left out (pair_ties.cuh).
// Shared memory: the tile's values, what the code stages of keys, the words (pair_tile.cuh); one
// co-rank a thread.
// Device memory: each key and value is read once and written once, 2 * (sizeof(Key) +
// sizeof(Value)) bytes an element; the keys of a tile that gives up its prefixes are read twice.
#pragma once

#include <cstdint>

#include "gpu/cuda/copy_async.cuh"
#include "gpu/records/launch.hpp"
#include "gpu/records/pair_store.cuh"
#include "gpu/records/pair_ties.cuh"
#include "gpu/records/warp_extremes.cuh"
#include "gpu/sort/block_sort_kernel.cuh"

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

// Loads the thread's keys; what the tile lacks is 0.
template <unsigned kThreads, class Tile, class Key, unsigned kRowWords>
__device__ void thread_load_tile_keys(const Tile& place, unsigned count, Key (&keys)[kRowWords]) {
  const Key* const tile = place.keys();
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) {
    const unsigned index = i * kThreads + threadIdx.x;
    keys[i] = index < count ? tile[index] : Key{0};
  }
  if (place.loads_mapped()) {
#pragma unroll
    for (Key& key : keys) key = place.load_map().to_ordered(key);
  }
}

// Where the tile of a block of pair_sort_kernel lies, and where it goes. Other kernels have others.
template <class KeyType, class ValueType, unsigned kTilePairs>
struct BlockPairTile {
  using Key = KeyType;
  using Value = ValueType;
  static constexpr bool kOftenShort = false;  // only the last tile is

  const PairSortPass<Key, Value>* pairs;

  [[nodiscard]] __device__ std::uint64_t begin() const {
    return std::uint64_t{blockIdx.x} * kTilePairs;
  }
  [[nodiscard]] __device__ const Key* keys() const { return pairs->keys.input + begin(); }
  [[nodiscard]] __device__ const Value* values() const { return pairs->values_in + begin(); }
  [[nodiscard]] __device__ Value* values_out() const { return pairs->values_out + begin(); }
  [[nodiscard]] __device__ bool loads_mapped() const { return pairs->keys.loads_mapped; }
  [[nodiscard]] __device__ const KeyMap<Key>& load_map() const { return pairs->keys.load_map; }
  [[nodiscard]] __device__ TileTarget<Key> target(unsigned count) const {
    const BlockSortPass<Key>& pass = pairs->keys;
    TileTarget<Key> target{pass.output + begin(), count,         nullptr, 0,
                           pass.stores_mapped,    pass.store_map};
    if (pass.samples != nullptr) {
      target.samples = pass.samples + (begin() >> kWrittenSampleShift<Key>)+blockIdx.x;
    }
    return target;
  }
};

// The range of the tile's keys. Holds a barrier.
template <unsigned kThreads, class Key, unsigned kRowWords>
__device__ KeyRange<Key> block_find_range(const Key (&keys)[kRowWords], unsigned count) {
  __shared__ KeyRange<Key> warp_ranges[kThreads / 32];
  KeyRange<Key> range;
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) {
    if (i * kThreads + threadIdx.x >= count) continue;
    range.least = min(range.least, keys[i]);
    range.greatest = max(range.greatest, keys[i]);
  }
  range = {warp_least(range.least), warp_greatest(range.greatest)};
  if (threadIdx.x % 32 == 0) warp_ranges[threadIdx.x / 32] = range;
  __syncthreads();  // each warp's range is written
  const KeyRange<Key> lane_range = warp_ranges[threadIdx.x % (kThreads / 32)];
  return {warp_least(lane_range.least), warp_greatest(lane_range.greatest)};
}

// Sorts the keys as words of `code`, and stores them with their values, which are on their way to
// shared memory or there. False, with nothing stored, if the code does not suit the keys.
template <unsigned kThreads, class Code, class Tile, unsigned kRowWords>
__device__ bool block_sort_pairs(const Code& code, const Tile& place,
                                 const typename Code::Key (&keys)[kRowWords], unsigned count,
                                 unsigned* co_ranks, unsigned char* shared_bytes) {
  using Word = typename Code::Word;
  using Value = typename Tile::Value;
  const auto tile = PairTile<Code, Value, kThreads, kRowWords>::in(shared_bytes);
  Word words[kRowWords];
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) {
    const unsigned index = i * kThreads + threadIdx.x;
    words[i] = index < count ? code.word_of(keys[i], index) : greatest_word<Word>();
    if (index < count) code.stage(keys[i], index);
  }
  bool found = false;
  if constexpr (Code::kMayMisplace) {  // neighbours of the input
    found = Code::share_prefix(words[0], __shfl_xor_sync(kWholeWarp, words[0], 1));
  }
  thread_sort(words);
  if constexpr (Code::kMayMisplace) {
    found |= thread_finds_tie<Code, Tile::kOftenShort>(words);
    if (code.may_misplace() && block_expects_many_ties<kThreads>(found)) return false;
  }
  block_merge_rows<kThreads>(tile.words, co_ranks, words);
  thread_wait_for_copies();
  __syncthreads();  // all values are in shared memory, and so are all rows
  if (!block_sort_ties(tile, code, count, co_ranks)) return false;

  warp_store_pairs(tile, code, place.target(count), place.values_out());
  return true;
}

// Sorts words of whole keys, and stores them with their values. A function of its own, so that what
// it needs in registers does not cost the kernel others.
template <unsigned kThreads, unsigned kRowWords, class Tile>
__device__ __noinline__ void block_sort_whole_keys(const Tile place, unsigned count,
                                                   unsigned* co_ranks,
                                                   unsigned char* shared_bytes) {
  using Key = typename Tile::Key;
  Key keys[kRowWords];
  thread_load_tile_keys<kThreads>(place, count, keys);
  block_sort_pairs<kThreads>(WholeKeyCode<Key>{}, place, keys, count, co_ranks, shared_bytes);
}

// Sorts the tile's `count` pairs with words of prefixes, or of whole keys if these do not suit.
template <unsigned kThreads, unsigned kRowWords, class Tile>
__device__ void block_sort_pair_tile(const Tile& place, unsigned count, unsigned* co_ranks,
                                     unsigned char* shared_bytes) {
  using Key = typename Tile::Key;
  using Value = typename Tile::Value;
  thread_stage_values<kThreads, kRowWords>(place.values(), count,
                                           reinterpret_cast<Value*>(shared_bytes));
  Key keys[kRowWords];
  thread_load_tile_keys<kThreads>(place, count, keys);
  using Prefixes = PrefixCodeFor<Key, kThreads * kRowWords>;
  using Words = PairTile<Prefixes, Value, kThreads, kRowWords>;
  const auto code =
      Prefixes::of(block_find_range<kThreads>(keys, count), Words::staged_in(shared_bytes));
  if (block_sort_pairs<kThreads>(code, place, keys, count, co_ranks, shared_bytes)) return;
  block_sort_whole_keys<kThreads, kRowWords>(place, count, co_ranks, shared_bytes);
}

template <class Key, class Value, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    pair_sort_kernel(const __grid_constant__ PairSortPass<Key, Value> pairs) {
  constexpr unsigned kTilePairs = kThreads * kRowWords;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ unsigned co_ranks[kThreads + 1];
  const BlockPairTile<Key, Value, kTilePairs> place{&pairs};
  const std::uint64_t left = pairs.keys.count - place.begin();
  const unsigned count = left < kTilePairs ? static_cast<unsigned>(left) : kTilePairs;
  grid_begin();
  block_sort_pair_tile<kThreads, kRowWords>(place, count, co_ranks, shared_bytes);
}

}  // namespace gsort::gpu
