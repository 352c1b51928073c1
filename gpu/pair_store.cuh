// Storing a merged tile of pairs: the words tell, in their order, the keys and which staged value
// goes with each.
//
// Threads: lane l of a warp stores the pairs l, l + 32 ... of the warp's 32 rows, so that a warp
// stores 32 neighbouring keys and 32 neighbouring values at a time, at any alignment.
// Shared memory a pair: a read of its word, free of conflicts; a read of its value, anywhere.
#pragma once

#include <cstdint>

#include "gpu/block_store.cuh"
#include "gpu/pair_tile.cuh"

namespace gsort::gpu {

// Stores the words [32 * warp * kRowWords, ...) of the tile, and their values to values_out.
// Requires: words and values are visible to the warp; group_position of the target is any position.
template <class Key, class Value, unsigned kRows, unsigned kRowWords>
__device__ void warp_store_pairs(const PairTile<Key, Value, kRows, kRowWords>& tile,
                                 const TileTarget<Key>& target, Value* values_out) {
  using Word = PairWord<Key>;
  constexpr int kStep = TileWords<Word, kRowWords>::kWarpStride;
  constexpr std::uint32_t kShift = kWrittenSampleShift<Key>;
  constexpr int kSampleStep = 32 >> kShift;  // 32 pairs further
  static_assert(kSampleStep >= 1);
  constexpr int kBatch = 8;
  const unsigned first = threadIdx.x / 32 * 32 * kRowWords + threadIdx.x % 32;
  const std::uint64_t position = target.group_position + first;
  const bool samples = target.samples != nullptr && position % (1U << kShift) == 0;
  const auto from = tile.words.at(tile.words.place_of(first));
  Key* const keys_to = target.output + first;
  Value* const values_to = values_out + first;
  Key* const samples_to = target.samples + (position >> kShift);
  const int left = static_cast<int>(target.count - first);
#pragma unroll
  for (int i = 0; i < int{kRowWords}; i += kBatch) {
    Key keys[kBatch];
    Value values[kBatch];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      if (left <= 32 * (i + j)) continue;
      const Word word = from.get((i + j) * kStep);
      keys[j] = word.key();
      values[j] = tile.values[word.index()];
    }
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      if (left <= 32 * (i + j)) continue;
      if (samples) samples_to[(i + j) * kSampleStep] = keys[j];
      keys_to[32 * (i + j)] = target.maps ? target.map.to_raw(keys[j]) : keys[j];
      values_to[32 * (i + j)] = values[j];
    }
  }
}

}  // namespace gsort::gpu
