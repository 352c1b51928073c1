// Searching the table of a merge by counting: starts[k] is where the keys equal to k begin in the
// output, for each of the kKeyValues<Key> keys k there are, and one number more, the end.
#pragma once

#include <cstdint>

#include "gpu/merge/counted_merge.hpp"

namespace gsort::gpu {

inline constexpr unsigned kSearchThreads = 256;

// The key at `position` of the output, which is in [least, most].
__device__ inline unsigned thread_key_at(const std::uint64_t* starts, std::uint64_t position,
                                         unsigned least, unsigned most) {
  while (least < most) {
    const unsigned middle = least + (most - least + 1) / 2;
    if (starts[middle] <= position) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  return least;
}

// The same by all kSearchThreads threads of the block, of any keys: 256 or 65,536 of them in one or
// two steps.
template <class Key>
__device__ unsigned block_key_at(const std::uint64_t* starts, std::uint64_t position) {
  static_assert(kSearchThreads == 256);
  unsigned key = 0;
#pragma unroll
  for (unsigned step = kKeyValues<Key> / kSearchThreads; step > 0; step /= kSearchThreads) {
    const bool begins = starts[key + threadIdx.x * step] <= position;
    key += (static_cast<unsigned>(__syncthreads_count(begins ? 1 : 0)) - 1) * step;
  }
  return key;
}

}  // namespace gsort::gpu
