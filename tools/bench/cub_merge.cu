// See cub.hpp: CUB's merge.
#include <cub/device/device_merge.cuh>
#include <cuda/std/functional>

#include "bench/cub.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::bench {

template <class Cub, class Key>
void cub_merge(const Key* a, std::uint64_t a_count, const Key* b, std::uint64_t b_count, Key* out,
               CubScratch scratch) {
  gpu::check_cuda(cub::DeviceMerge::MergeKeys(
                      scratch.memory, scratch.bytes, a, static_cast<std::int64_t>(a_count), b,
                      static_cast<std::int64_t>(b_count), out, cuda::std::less<Key>{}),
                  gpu::CudaCall::kLaunch, "cub::DeviceMerge");
}

template void cub_merge<GSORT_CUB>(const std::uint32_t*, std::uint64_t, const std::uint32_t*,
                                   std::uint64_t, std::uint32_t*, CubScratch);
template void cub_merge<GSORT_CUB>(const std::uint64_t*, std::uint64_t, const std::uint64_t*,
                                   std::uint64_t, std::uint64_t*, CubScratch);

}  // namespace gsort::bench
