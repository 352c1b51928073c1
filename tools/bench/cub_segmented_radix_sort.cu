// See cub_batch.hpp: cub::DeviceSegmentedRadixSort.
#include <cub/device/device_segmented_radix_sort.cuh>

#include "bench/cub_batch.hpp"
#include "gpu/cuda_check.hpp"

namespace gsort::bench {

void cub_segmented_radix_sort(const std::uint32_t* in, std::uint32_t* out, std::uint64_t total,
                              std::uint64_t arrays, const std::uint64_t* offsets, void* scratch,
                              std::size_t scratch_bytes) {
  gpu::check_cuda(cub::DeviceSegmentedRadixSort::SortKeys(
                      scratch, scratch_bytes, in, out, static_cast<std::int64_t>(total),
                      static_cast<std::int64_t>(arrays), offsets, offsets + 1),
                  gpu::CudaCall::kLaunch, "cub::DeviceSegmentedRadixSort");
}

}  // namespace gsort::bench
