// See cub.hpp: CUB's merge of pairs.
#include <cub/device/device_merge.cuh>
#include <cuda/std/functional>

#include "bench/cub.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::bench {

template <class Cub, class Key, class Value>
void cub_merge_pairs(const CubPairs<Key, Value>& pairs, CubScratch scratch) {
  const auto half = static_cast<std::int64_t>(pairs.count / 2);
  const auto rest = static_cast<std::int64_t>(pairs.count) - half;
  gpu::check_cuda(
      cub::DeviceMerge::MergePairs(scratch.memory, scratch.bytes, pairs.keys_in, pairs.values_in,
                                   half, pairs.keys_in + half, pairs.values_in + half, rest,
                                   pairs.keys_out, pairs.values_out, cuda::std::less<Key>{}),
      gpu::CudaCall::kLaunch, "cub::DeviceMerge");
}

template void cub_merge_pairs<GSORT_CUB>(const CubPairs<std::uint32_t, std::uint32_t>&, CubScratch);
template void cub_merge_pairs<GSORT_CUB>(const CubPairs<std::uint32_t, std::uint64_t>&, CubScratch);
template void cub_merge_pairs<GSORT_CUB>(const CubPairs<std::uint64_t, std::uint32_t>&, CubScratch);
template void cub_merge_pairs<GSORT_CUB>(const CubPairs<std::uint64_t, std::uint64_t>&, CubScratch);

}  // namespace gsort::bench
