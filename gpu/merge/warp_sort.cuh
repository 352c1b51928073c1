// Sorts by one warp: warp_sort_keys sorts one key of each lane, warp_sort_list a short list in
// shared memory. thread_rank_in_run finds the rank of a key in a sorted run of 32.
#pragma once

#include <cstdint>

#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

// A bitonic sort of the keys of all lanes: lane i gets the key of rank i.
template <class Key>
__device__ Key warp_sort_keys(Key key) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned length = 2; length <= 32; length *= 2) {
#pragma unroll
    for (unsigned distance = length / 2; distance > 0; distance /= 2) {
      const Key other = __shfl_xor_sync(kWholeWarp, key, static_cast<int>(distance));
      const bool ascends = (lane & length) == 0;
      const bool is_lower = (lane & distance) == 0;
      key = is_lower == ascends ? min(key, other) : max(key, other);
    }
  }
  return key;
}

// How many keys of a sorted run of 32 are less than `key`; with_equal: or equal to it.
template <class Key>
__device__ unsigned thread_rank_in_run(const Key* run, Key key, bool with_equal) {
  unsigned rank = 0;
#pragma unroll
  for (unsigned step = 32; step > 0; step /= 2) {
    if (rank + step > 32) continue;
    const Key other = run[rank + step - 1];
    if (other < key || (with_equal && other == key)) rank += step;
  }
  return rank;
}

// Sorts `count` keys, at most kMost, in place in shared memory: each lane ranks its keys among all.
template <unsigned kMost, class Key>
__device__ void warp_sort_list(Key* list, unsigned count) {
  constexpr unsigned kKeys = kMost / 32;
  const unsigned lane = threadIdx.x % 32;
  Key own[kKeys];
  unsigned ranks[kKeys] = {};
#pragma unroll
  for (unsigned j = 0; j < kKeys; ++j) {
    own[j] = lane + 32 * j < count ? list[lane + 32 * j] : Key{0};
  }
#pragma unroll 4
  for (unsigned i = 0; i < count; ++i) {
    const Key other = list[i];
#pragma unroll
    for (unsigned j = 0; j < kKeys; ++j) {
      if (other < own[j] || (other == own[j] && i < lane + 32 * j)) ++ranks[j];
    }
  }
  __syncwarp();  // all lanes have read the list
#pragma unroll
  for (unsigned j = 0; j < kKeys; ++j) {
    if (lane + 32 * j < count) list[ranks[j]] = own[j];
  }
}

}  // namespace gsort::gpu
