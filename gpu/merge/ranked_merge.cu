// See ranked_merge.hpp.
//
// Threads: one an element, of the first array and then of the second.
// Device memory: log2 of the other array's length reads an element, most of them shared with its
// neighbours and in the caches.
#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/merge/ranked_merge.hpp"

namespace gsort::gpu {
namespace {

constexpr unsigned kRankThreads = 128;

// How many of the ascending keys come before an element with `key` of another array: those less
// than it, and those equal to it if `equal_ones_too`.
template <class Key>
__device__ std::uint32_t thread_rank(const Key* keys, std::uint32_t count, Key key,
                                     bool equal_ones_too) {
  std::uint32_t begin = 0;
  while (count > 0) {
    const std::uint32_t half = count / 2;
    const Key middle = keys[begin + half];
    if (middle < key || (equal_ones_too && middle == key)) {
      begin += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return begin;
}

template <class Key, class Value>
__global__ void __launch_bounds__(kRankThreads)
    ranked_merge_kernel(const RankedMerge<Key, Value> merge) {
  grid_begin();
  const std::uint32_t element = blockIdx.x * kRankThreads + threadIdx.x;
  if (element >= merge.first_count + merge.second_count) return;
  const bool in_second = element >= merge.first_count;
  const std::uint32_t number = in_second ? element - merge.first_count : element;
  const Key key = (in_second ? merge.second : merge.first)[number];
  const std::uint32_t place =
      number + thread_rank(in_second ? merge.first : merge.second,
                           in_second ? merge.first_count : merge.second_count, key, in_second);
  merge.output[place] = merge.store_map.to_raw(key);
  if (merge.values_out != nullptr) {
    merge.values_out[place] = (in_second ? merge.second_values : merge.first_values)[number];
  }
}

}  // namespace

template <class Key, class Value>
void launch_ranked_merge(const RankedMerge<Key, Value>& merge, unsigned architecture,
                         cudaStream_t stream) {
  const auto blocks =
      static_cast<unsigned>(div_up(merge.first_count + merge.second_count, kRankThreads));
  launch_kernel(ranked_merge_kernel<Key, Value>, {blocks, kRankThreads, 0, architecture, stream},
                "launching ranked_merge_kernel", merge);
}

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define GSORT_RANKED(Value)                                                             \
  template void launch_ranked_merge(const RankedMerge<std::uint8_t, Value>&, unsigned,  \
                                    cudaStream_t);                                      \
  template void launch_ranked_merge(const RankedMerge<std::uint16_t, Value>&, unsigned, \
                                    cudaStream_t)
// NOLINTEND(bugprone-macro-parentheses)
GSORT_RANKED(std::uint8_t);
GSORT_RANKED(std::uint16_t);
GSORT_RANKED(std::uint32_t);
GSORT_RANKED(std::uint64_t);
#undef GSORT_RANKED

}  // namespace gsort::gpu
