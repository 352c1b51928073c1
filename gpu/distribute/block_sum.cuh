// block_exclusive_sum: what the threads before this one have, by shuffles.
#pragma once

#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

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
  Number before_warp = 0;
  total = 0;
  for (unsigned warp = 0; warp < kThreads / 32; ++warp) {
    if (warp < threadIdx.x / 32) before_warp += warp_sums[warp];
    total += warp_sums[warp];
  }
  return before_warp + sum - value;
}

}  // namespace gsort::gpu
