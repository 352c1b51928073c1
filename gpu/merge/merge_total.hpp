// The number of elements of a merge. Throws: Error(kUsage) for more than one call takes, and for
// slices without a table of their counts.
#pragma once

#include <array>
#include <cstdint>

#include "gpu/cuda/cuda_check.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/merge/merge_shape.hpp"

namespace gsort::gpu {

template <class Key, class Value>
[[nodiscard]] std::uint64_t total_of(const ElementSliceMerge<Key, Value>& merge,
                                     const char* operation) {
  require_memory(merge.slice_counts, merge.slice_count, 1, operation, "the table of slice counts");
  return sum_of_slices(merge.slice_counts, merge.slice_count, operation, kElements<Value>);
}

template <class Key, class Value>
[[nodiscard]] std::uint64_t total_of(const ElementArrayMerge<Key, Value>& merge,
                                     const char* operation) {
  const std::array<std::uint64_t, 2> counts{merge.a_count, merge.b_count};
  return sum_of_slices(counts.data(), 2, operation, kElements<Value>);
}

}  // namespace gsort::gpu
