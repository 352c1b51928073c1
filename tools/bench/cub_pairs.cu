// See cub_batch.hpp: CUB's sorts of pairs. Both are stable.
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cuda/std/functional>

#include "bench/cub_batch.hpp"
#include "gpu/cuda_check.hpp"

namespace gsort::bench {

void cub_radix_sort_pairs(const CubPairs& pairs, void* scratch, std::size_t scratch_bytes) {
  gpu::check_cuda(
      cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, pairs.keys_in, pairs.keys_out,
                                      pairs.values_in, pairs.values_out, pairs.count),
      gpu::CudaCall::kLaunch, "cub::DeviceRadixSort");
}

void cub_merge_sort_pairs(const CubPairs& pairs, void* scratch, std::size_t scratch_bytes) {
  gpu::check_cuda(
      cub::DeviceMergeSort::SortPairsCopy(
          scratch, scratch_bytes, pairs.keys_in, pairs.values_in, pairs.keys_out, pairs.values_out,
          static_cast<std::int64_t>(pairs.count), cuda::std::less<std::uint32_t>{}),
      gpu::CudaCall::kLaunch, "cub::DeviceMergeSort");
}

}  // namespace gsort::bench
