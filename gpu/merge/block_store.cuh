// Storing a merged tile: from rows in shared memory to device memory, each warp the rows that its
// own threads wrote, so that a warp barrier is enough.
//
// Threads: lane l of a warp stores vectors of 16 bytes, l, l + 32 ... of the warp's 32 rows; single
// keys where the output is not aligned or the tile is short. Reads of shared memory are free of
// conflicts either way: 8 lanes a row, and the pad word moves each row by one bank.
#pragma once

#include <cstdint>

#include "element/key.hpp"
#include "gpu/merge/block_merge.cuh"
#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

template <class Key>
struct alignas(16) KeyVector {
  static constexpr unsigned kKeys = 16 / sizeof(Key);
  Key keys[kKeys];
};

// Where a tile goes, and what happens to its keys on the way.
template <class Key>
struct TileTarget {
  Key* output;                   // the tile's first key
  unsigned count;                // keys of the tile
  Key* samples;                  // of the run that the tile belongs to; nullptr: none are wanted
  std::uint64_t group_position;  // of the tile's first key in that run; a multiple of kKeys
  bool maps;
  KeyMap<Key> map;
};

// Writes a sample if `key`, at `word` of the tile, is one.
template <class Key>
__device__ void thread_store_sample(const TileTarget<Key>& target, unsigned word, Key key) {
  if (target.samples == nullptr) return;
  const std::uint64_t position = target.group_position + word;
  constexpr std::uint32_t kShift = kWrittenSampleShift<Key>;
  if (position % (1U << kShift) == 0) target.samples[position >> kShift] = key;
}

template <class Key, unsigned kRowWords>
__device__ void warp_store_vectors(TileWords<Key, kRowWords> tile, unsigned first_word,
                                   const TileTarget<Key>& target) {
  using Vector = KeyVector<Key>;
  const unsigned lane_word = first_word + threadIdx.x % 32 * Vector::kKeys;
  const Key* from = tile.words + tile.place_of(lane_word);
  auto* const to = reinterpret_cast<Vector*>(target.output + lane_word);
  constexpr unsigned kStep = 32 * Vector::kKeys;
  // Either all of a lane's vectors begin with a sample, or none.
  constexpr std::uint32_t kShift = kWrittenSampleShift<Key>;
  static_assert(kStep % (1U << kShift) == 0);
  const std::uint64_t position = target.group_position + lane_word;
  const bool has_samples = target.samples != nullptr && position % (1U << kShift) == 0;
  Key* const sample = has_samples ? target.samples + (position >> kShift) : nullptr;
#pragma unroll
  for (unsigned i = 0; i < kRowWords / Vector::kKeys; ++i) {
    if (lane_word + i * kStep + Vector::kKeys > target.count) break;
    Vector vector;
#pragma unroll
    for (unsigned j = 0; j < Vector::kKeys; ++j) {
      vector.keys[j] = from[i * (kStep + kStep / kRowWords) + j];
    }
    if (has_samples) sample[i * (kStep >> kShift)] = vector.keys[0];
    if (target.maps) {
#pragma unroll
      for (Key& key : vector.keys) key = target.map.to_raw(key);
    }
    to[i * 32] = vector;
  }
}

// Stores the warp's words from `first_word` on, one by one.
template <class Key, unsigned kRowWords>
__device__ void warp_store_keys(TileWords<Key, kRowWords> tile, unsigned first_word,
                                const TileTarget<Key>& target) {
  const unsigned warp_end = (threadIdx.x / 32 + 1) * 32 * kRowWords;
  const unsigned end = warp_end < target.count ? warp_end : target.count;
  for (unsigned word = first_word + threadIdx.x % 32; word < end; word += 32) {
    const Key key = tile.words[tile.place_of(word)];
    thread_store_sample(target, word, key);
    target.output[word] = target.maps ? target.map.to_raw(key) : key;
  }
}

// Stores the words [32 * warp * kRowWords, ...) of the tile. Requires: the calling warp wrote these
// rows.
template <class Key, unsigned kRowWords>
__device__ void warp_store_tile(TileWords<Key, kRowWords> tile, const TileTarget<Key>& target) {
  __syncwarp();
  const unsigned first_word = threadIdx.x / 32 * 32 * kRowWords;
  constexpr unsigned kVectorKeys = KeyVector<Key>::kKeys;
  if (reinterpret_cast<std::uintptr_t>(target.output) % sizeof(KeyVector<Key>) != 0) {
    warp_store_keys(tile, first_word, target);
    return;
  }
  warp_store_vectors(tile, first_word, target);
  const unsigned rest = target.count & ~(kVectorKeys - 1);  // what fills no vector
  if (rest < target.count && rest >= first_word) warp_store_keys(tile, rest, target);
}

}  // namespace gsort::gpu
