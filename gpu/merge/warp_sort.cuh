// Sorts by one warp: of a key of each lane, and of a short list. Ranks in sorted runs of 32 keys.
#pragma once

#include <cstdint>

#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

// Returns the key whose rank among those of all lanes is the lane's number: a bitonic sort.
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

// How many keys of a sorted run of 32 are less than `key`, or not greater.
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

// Sorts `count` keys, at most kMost, where they lie in shared memory.
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
