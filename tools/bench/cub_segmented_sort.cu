// See cub.hpp: cub::DeviceSegmentedSort.
#include <cub/device/device_segmented_sort.cuh>

#include "bench/cub.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::bench {

template <class Cub, class Offset>
void cub_segmented_sort(const CubArrays<Offset>& arrays, CubScratch scratch) {
  gpu::check_cuda(cub::DeviceSegmentedSort::SortKeys(
                      scratch.memory, scratch.bytes, arrays.in, arrays.out,
                      static_cast<std::int64_t>(arrays.total),
                      static_cast<std::int64_t>(arrays.arrays), arrays.offsets, arrays.offsets + 1),
                  gpu::CudaCall::kLaunch, "cub::DeviceSegmentedSort");
}

template void cub_segmented_sort<GSORT_CUB>(const CubArrays<std::uint32_t>&, CubScratch);
template void cub_segmented_sort<GSORT_CUB>(const CubArrays<std::uint64_t>&, CubScratch);

}  // namespace gsort::bench
