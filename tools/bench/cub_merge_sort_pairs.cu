// See cub.hpp: CUB's merge sort of pairs.
#include <cub/device/device_merge_sort.cuh>
#include <cuda/std/functional>

#include "bench/cub.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::bench {

template <class Cub, class Count, class Key, class Value>
void cub_merge_sort_pairs(const CubPairs<Key, Value>& pairs, CubScratch scratch) {
  gpu::check_cuda(cub::DeviceMergeSort::SortPairsCopy(
                      scratch.memory, scratch.bytes, pairs.keys_in, pairs.values_in, pairs.keys_out,
                      pairs.values_out, static_cast<Count>(pairs.count), cuda::std::less<Key>{}),
                  gpu::CudaCall::kLaunch, "cub::DeviceMergeSort");
}

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define GSORT_SORT_PAIRS(Key, Value)                                                        \
  template void cub_merge_sort_pairs<GSORT_CUB, std::uint32_t>(const CubPairs<Key, Value>&, \
                                                               CubScratch);                 \
  template void cub_merge_sort_pairs<GSORT_CUB, std::uint64_t>(const CubPairs<Key, Value>&, \
                                                               CubScratch)
// NOLINTEND(bugprone-macro-parentheses)
GSORT_SORT_PAIRS(std::uint32_t, std::uint32_t);
GSORT_SORT_PAIRS(std::uint64_t, std::uint32_t);
GSORT_SORT_PAIRS(std::uint64_t, std::uint64_t);
#undef GSORT_SORT_PAIRS

}  // namespace gsort::bench
