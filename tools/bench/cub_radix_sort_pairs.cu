// See cub_batch.hpp: CUB's radix sort of pairs.
#include <cub/device/device_radix_sort.cuh>

#include "bench/cub_batch.hpp"
#include "gpu/cuda_check.hpp"

namespace gsort::bench {

template <class Key, class Value>
void cub_radix_sort_pairs(const CubPairs<Key, Value>& pairs, void* scratch,
                          std::size_t scratch_bytes) {
  gpu::check_cuda(
      cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, pairs.keys_in, pairs.keys_out,
                                      pairs.values_in, pairs.values_out, pairs.count),
      gpu::CudaCall::kLaunch, "cub::DeviceRadixSort");
}

template void cub_radix_sort_pairs(const CubPairs<std::uint32_t, std::uint32_t>&, void*,
                                   std::size_t);
template void cub_radix_sort_pairs(const CubPairs<std::uint64_t, std::uint32_t>&, void*,
                                   std::size_t);
template void cub_radix_sort_pairs(const CubPairs<std::uint64_t, std::uint64_t>&, void*,
                                   std::size_t);

}  // namespace gsort::bench
