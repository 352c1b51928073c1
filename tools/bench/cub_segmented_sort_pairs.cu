// See cub.hpp: cub::DeviceSegmentedSort of pairs, which are sorted stably.
#include <cub/device/device_segmented_sort.cuh>

#include "bench/cub.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::bench {

template <class Cub, class Offset, class Key, class Value>
void cub_segmented_sort_pairs(const CubPairs<Key, Value>& pairs,
                              const CubSegments<Offset>& segments, CubScratch scratch) {
  gpu::check_cuda(
      cub::DeviceSegmentedSort::StableSortPairs(
          scratch.memory, scratch.bytes, pairs.keys_in, pairs.keys_out, pairs.values_in,
          pairs.values_out, static_cast<std::int64_t>(pairs.count),
          static_cast<std::int64_t>(segments.count), segments.offsets, segments.offsets + 1),
      gpu::CudaCall::kLaunch, "cub::DeviceSegmentedSort");
}

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define GSORT_SORT_PAIRS(Key, Value)                                               \
  template void cub_segmented_sort_pairs<GSORT_CUB>(                               \
      const CubPairs<Key, Value>&, const CubSegments<std::uint32_t>&, CubScratch); \
  template void cub_segmented_sort_pairs<GSORT_CUB>(const CubPairs<Key, Value>&,   \
                                                    const CubSegments<std::uint64_t>&, CubScratch)
// NOLINTEND(bugprone-macro-parentheses)
GSORT_SORT_PAIRS(std::uint32_t, std::uint32_t);
GSORT_SORT_PAIRS(std::uint32_t, std::uint64_t);
GSORT_SORT_PAIRS(std::uint64_t, std::uint32_t);
GSORT_SORT_PAIRS(std::uint64_t, std::uint64_t);
#undef GSORT_SORT_PAIRS

}  // namespace gsort::bench
