// block_exclusive_sum: what the threads before this one have, by shuffles.
#pragma once

#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

// The sum of the warp's values; all its lanes call this.
template <class Number>
__device__ Number warp_sum(Number value) {
  if constexpr (sizeof(Number) == 4) {
    return __reduce_add_sync(kWholeWarp, value);
  } else {
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2) {
      value += __shfl_xor_sync(kWholeWarp, value, distance);
    }
    return value;
  }
}

// Returns the sum of `value` over the threads before this one; `total` becomes that of all.
// warp_sums is shared scratch of kThreads / 32 numbers. All threads of the block call this.
template <unsigned kThreads, class Number>
__device__ Number block_exclusive_sum(Number value, Number* warp_sums, Number& total) {
  static_assert(kThreads % 32 == 0 && kThreads <= 1024);
  const unsigned lane = threadIdx.x % 32;
  Number sum = value;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const Number before = __shfl_up_sync(kWholeWarp, sum, distance);
    if (lane >= distance) sum += before;
  }
  if (lane == 31) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();  // the warps' sums are known
  const unsigned warp = threadIdx.x / 32;
  const Number of_warp = lane < kThreads / 32 ? warp_sums[lane] : 0;
  total = warp_sum(of_warp);
  return warp_sum(lane < warp ? of_warp : Number{0}) + sum - value;
}

}  // namespace gsort::gpu
