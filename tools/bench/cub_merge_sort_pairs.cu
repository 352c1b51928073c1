// See cub_batch.hpp: CUB's merge sort of pairs.
#include <cub/device/device_merge_sort.cuh>
#include <cuda/std/functional>

#include "bench/cub_batch.hpp"
#include "gpu/cuda_check.hpp"

namespace gsort::bench {

template <class Key, class Value>
void cub_merge_sort_pairs(const CubPairs<Key, Value>& pairs, void* scratch,
                          std::size_t scratch_bytes) {
  gpu::check_cuda(
      cub::DeviceMergeSort::SortPairsCopy(
          scratch, scratch_bytes, pairs.keys_in, pairs.values_in, pairs.keys_out, pairs.values_out,
          static_cast<std::int64_t>(pairs.count), cuda::std::less<Key>{}),
      gpu::CudaCall::kLaunch, "cub::DeviceMergeSort");
}

template void cub_merge_sort_pairs(const CubPairs<std::uint32_t, std::uint32_t>&, void*,
                                   std::size_t);
template void cub_merge_sort_pairs(const CubPairs<std::uint64_t, std::uint32_t>&, void*,
                                   std::size_t);
template void cub_merge_sort_pairs(const CubPairs<std::uint64_t, std::uint64_t>&, void*,
                                   std::size_t);

}  // namespace gsort::bench
