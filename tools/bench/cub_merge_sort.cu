// See cub.hpp: CUB's merge sort. CUB 3.0.1 has a known race on sm_90 (its agent reads partitions
// before it waits for the kernel that writes them), so its output is checked like ours.
#include <cub/device/device_merge_sort.cuh>
#include <cuda/std/functional>

#include "bench/cub.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::bench {

template <class Cub, class Count, class Key>
void cub_merge_sort(const Key* in, Key* out, std::uint64_t count, CubScratch scratch) {
  gpu::check_cuda(
      cub::DeviceMergeSort::SortKeysCopy(scratch.memory, scratch.bytes, in, out,
                                         static_cast<Count>(count), cuda::std::less<Key>{}),
      gpu::CudaCall::kLaunch, "cub::DeviceMergeSort");
}

#define GSORT_SORT(Count, Key) \
  template void cub_merge_sort<GSORT_CUB, Count>(const Key*, Key*, std::uint64_t, CubScratch)
GSORT_SORT(std::uint32_t, std::uint32_t);
GSORT_SORT(std::uint64_t, std::uint32_t);
GSORT_SORT(std::uint32_t, std::uint64_t);
GSORT_SORT(std::uint64_t, std::uint64_t);
#undef GSORT_SORT

}  // namespace gsort::bench
