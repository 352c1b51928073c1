// The calls of the rooms that sort and merge in device memory, for keys of every width:
// any_width::argsort<Key, Index>(request) is gpu::argsort, narrow::argsort for keys of 8 and 16
// bits, wide::argsort for those of 128. Pairs of other widths are sorted by distribution. Any host
// code may include this file.
#pragma once

#include "gpu/distribute/device_pair_distribute.hpp"
#include "gpu/widths/narrow_keys.hpp"
#include "gpu/widths/wide_keys.hpp"

namespace gsort::gpu::any_width {

// NOLINTBEGIN(bugprone-macro-parentheses): names
#define GSORT_OF_ANY_WIDTH_AS(call, gpu_call)               \
  template <class Key, class... Values, class... Arguments> \
  decltype(auto) call(const Arguments&... arguments) {      \
    if constexpr (narrow::NarrowKey<Key>) {                 \
      return narrow::call<Key, Values...>(arguments...);    \
    } else if constexpr (wide::WideKey<Key>) {              \
      return wide::call<Key, Values...>(arguments...);      \
    } else {                                                \
      return gpu::gpu_call<Key, Values...>(arguments...);   \
    }                                                       \
  }
#define GSORT_OF_ANY_WIDTH(call) GSORT_OF_ANY_WIDTH_AS(call, call)
GSORT_OF_ANY_WIDTH(sort_keys_by_distribution)
GSORT_OF_ANY_WIDTH(sort_keys_by_distribution_scratch_bytes)
GSORT_OF_ANY_WIDTH(merge_arrays)
GSORT_OF_ANY_WIDTH(merge_arrays_scratch_bytes)
GSORT_OF_ANY_WIDTH(merge_slices)
GSORT_OF_ANY_WIDTH(merge_slices_scratch_bytes)
GSORT_OF_ANY_WIDTH(sort_batch)
GSORT_OF_ANY_WIDTH(sort_batch_scratch_bytes)
GSORT_OF_ANY_WIDTH(sort_segmented_batch)
GSORT_OF_ANY_WIDTH(sort_segmented_batch_scratch_bytes)
GSORT_OF_ANY_WIDTH_AS(sort_pairs, sort_pairs_by_distribution)
GSORT_OF_ANY_WIDTH_AS(sort_pairs_scratch_bytes, sort_pairs_by_distribution_scratch_bytes)
GSORT_OF_ANY_WIDTH(merge_pair_arrays)
GSORT_OF_ANY_WIDTH(merge_pair_arrays_scratch_bytes)
GSORT_OF_ANY_WIDTH(merge_pair_slices)
GSORT_OF_ANY_WIDTH(merge_pair_slices_scratch_bytes)
GSORT_OF_ANY_WIDTH(argsort)
GSORT_OF_ANY_WIDTH(argsort_scratch_bytes)
GSORT_OF_ANY_WIDTH(sort_pair_batch)
GSORT_OF_ANY_WIDTH(sort_pair_batch_scratch_bytes)
#undef GSORT_OF_ANY_WIDTH
#undef GSORT_OF_ANY_WIDTH_AS
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gsort::gpu::any_width
