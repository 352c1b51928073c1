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

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define GSORT_MERGE_PAIRS(Key)                                                               \
  template void cub_merge_pairs<GSORT_CUB>(const CubPairs<Key, std::uint8_t>&, CubScratch);  \
  template void cub_merge_pairs<GSORT_CUB>(const CubPairs<Key, std::uint16_t>&, CubScratch); \
  template void cub_merge_pairs<GSORT_CUB>(const CubPairs<Key, std::uint32_t>&, CubScratch); \
  template void cub_merge_pairs<GSORT_CUB>(const CubPairs<Key, std::uint64_t>&, CubScratch)
// NOLINTEND(bugprone-macro-parentheses)
GSORT_MERGE_PAIRS(std::uint8_t);
GSORT_MERGE_PAIRS(std::uint16_t);
GSORT_MERGE_PAIRS(std::uint32_t);
GSORT_MERGE_PAIRS(std::uint64_t);
#undef GSORT_MERGE_PAIRS

}  // namespace gsort::bench
