// See gpu_contenders.hpp: CUB's sorts and merge. CUB 3.0.1's merge sort has a known race on sm_90
// (its agent reads partitions before it waits for the kernel that writes them), so its output is
// checked like ours.
#include <cub/device/device_merge.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cuda/std/functional>

#include "bench/gpu_contenders.hpp"
#include "gpu/cuda_check.hpp"

namespace gsort::bench {

using gpu::check_cuda;
using gpu::CudaCall;

template <class Key>
std::size_t cub_radix_sort(const Key* in, Key* out, std::uint64_t count, void* scratch,
                           std::size_t scratch_bytes) {
  check_cuda(cub::DeviceRadixSort::SortKeys(scratch, scratch_bytes, in, out, count),
             CudaCall::kLaunch, "cub::DeviceRadixSort");
  return scratch_bytes;
}

template <class Key>
std::size_t cub_merge_sort(const Key* in, Key* out, std::uint64_t count, void* scratch,
                           std::size_t scratch_bytes) {
  check_cuda(
      cub::DeviceMergeSort::SortKeysCopy(scratch, scratch_bytes, in, out,
                                         static_cast<std::int64_t>(count), cuda::std::less<Key>{}),
      CudaCall::kLaunch, "cub::DeviceMergeSort");
  return scratch_bytes;
}

template <class Key>
std::size_t cub_merge(const Key* a, std::uint64_t a_count, const Key* b, std::uint64_t b_count,
                      Key* out, void* scratch, std::size_t scratch_bytes) {
  check_cuda(
      cub::DeviceMerge::MergeKeys(scratch, scratch_bytes, a, static_cast<std::int64_t>(a_count), b,
                                  static_cast<std::int64_t>(b_count), out, cuda::std::less<Key>{}),
      CudaCall::kLaunch, "cub::DeviceMerge");
  return scratch_bytes;
}

#define GSORT_SORT(sort, Key) \
  template std::size_t sort<Key>(const Key*, Key*, std::uint64_t, void*, std::size_t)
#define GSORT_MERGE(Key)                                                                          \
  template std::size_t cub_merge<Key>(const Key*, std::uint64_t, const Key*, std::uint64_t, Key*, \
                                      void*, std::size_t)
GSORT_SORT(cub_radix_sort, std::uint8_t);
GSORT_SORT(cub_radix_sort, std::uint16_t);
GSORT_SORT(cub_radix_sort, std::uint32_t);
GSORT_SORT(cub_radix_sort, std::uint64_t);
GSORT_SORT(cub_merge_sort, std::uint32_t);
GSORT_SORT(cub_merge_sort, std::uint64_t);
GSORT_MERGE(std::uint8_t);
GSORT_MERGE(std::uint16_t);
GSORT_MERGE(std::uint32_t);
GSORT_MERGE(std::uint64_t);
#undef GSORT_MERGE
#undef GSORT_SORT

}  // namespace gsort::bench
