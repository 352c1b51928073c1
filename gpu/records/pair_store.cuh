// Storing a merged tile of pairs: the words tell, in their order, the keys and which staged value
// goes with each.
//
// Threads: lane l of a warp stores the pairs l, l + 32 ... of the warp's 32 rows, so that a warp
// stores 32 neighbouring keys and 32 neighbouring values at a time, at any alignment.
// Shared memory a pair: a read of its word, two of which share a bank at most; a read of its value
// and, if its word leaves out bits of its key, one of that, anywhere.
#pragma once

#include <cstdint>

#include "gpu/merge/block_store.cuh"
#include "gpu/records/pair_tile.cuh"

namespace gsort::gpu {

// Stores `kAtOnce` pairs of the thread, 32 apart; all arguments count from the place of the first
// one. Unless `kWhole`, only those in front of `left` exist.
template <bool kWhole, int kAtOnce, class Code, class Value, class Words>
__device__ void thread_store_pairs(const Code& code, Words from, const Value* staged, int left,
                                   const TileTarget<typename Code::Key>& target,
                                   typename Code::Key* samples_to, typename Code::Key* keys_to,
                                   Value* values_to) {
  using Key = typename Code::Key;
  constexpr int kSampleStep = 32 >> kWrittenSampleShift<Key>;  // 32 pairs further
  static_assert(kSampleStep >= 1);
  const auto has = [left](int j) { return kWhole || left > 32 * j; };
  Key keys[kAtOnce];
  Value values[kAtOnce];
#pragma unroll
  for (int j = 0; j < kAtOnce; ++j) {
    if (!has(j)) continue;
    const auto word = from.get(j * static_cast<int>(Words::kWarpStride));
    keys[j] = code.key_of(word);
    values[j] = staged[Code::index_of(word)];
  }
  if (samples_to != nullptr) {
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      if (has(j)) samples_to[j * kSampleStep] = keys[j];
    }
  }
  if (target.maps) {
#pragma unroll
    for (Key& key : keys) key = target.map.to_raw(key);
  }
#pragma unroll
  for (int j = 0; j < kAtOnce; ++j) {
    if (!has(j)) continue;
    keys_to[32 * j] = keys[j];
    values_to[32 * j] = values[j];
  }
}

// Stores the words [32 * warp * kRowWords, ...) of the tile, and their values to values_out.
// Requires: words and values are visible to the warp; group_position of the target is any position.
template <class Code, class Value, unsigned kRows, unsigned kRowWords>
__device__ void warp_store_pairs(const PairTile<Code, Value, kRows, kRowWords>& tile,
                                 const Code& code, const TileTarget<typename Code::Key>& target,
                                 Value* values_out) {
  using Key = typename Code::Key;
  using Words = TileWords<typename Code::Word, kRowWords>;
  constexpr std::uint32_t kShift = kWrittenSampleShift<Key>;
  constexpr int kAtOnce = 8;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp_first = threadIdx.x / 32 * 32 * kRowWords;
  const std::uint64_t position = target.group_position + warp_first + lane;
  const bool samples = target.samples != nullptr && position % (1U << kShift) == 0;
  Key* samples_to = samples ? target.samples + (position >> kShift) : nullptr;
  auto from = tile.words.at(Words::place_of(warp_first + lane));
  Key* keys_to = target.output + warp_first + lane;
  Value* values_to = values_out + warp_first + lane;
  int left = static_cast<int>(target.count - warp_first);  // of the warp's
#pragma unroll 1
  for (unsigned i = 0; i < kRowWords; i += kAtOnce) {
    if (left >= 32 * kAtOnce) {
      thread_store_pairs<true, kAtOnce>(code, from, tile.values, 0, target, samples_to, keys_to,
                                        values_to);
    } else {
      thread_store_pairs<false, kAtOnce>(code, from, tile.values, left - static_cast<int>(lane),
                                         target, samples_to, keys_to, values_to);
    }
    if (samples) samples_to += (32 * kAtOnce) >> kShift;
    from = from.at(kAtOnce * Words::kWarpStride);
    keys_to += 32 * kAtOnce;
    values_to += 32 * kAtOnce;
    left -= 32 * kAtOnce;
  }
}

}  // namespace gsort::gpu
