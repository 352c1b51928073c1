// Sorts and merges of pairs in device memory whose keys may be floats: the calls of any_width, with
// their requests, requirements and errors. If load_map folds classes, pairs of equal floats keep
// their order, and keys their bits (gpu/records/float_classes.hpp); store_map is the map of the
// same format that keeps bits. Any host code may include this file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/merge/merge_total.hpp"
#include "gpu/records/float_classes.hpp"
#include "gpu/sort/sort_memory.hpp"
#include "gpu/widths/any_width.hpp"

namespace gsort::gpu::floats {

template <class Key>
inline constexpr bool kMayBeFloats = sizeof(Key) >= 2 && sizeof(Key) <= 8;

// For floats one more array of keys than any_width's, and at most 25 KiB.
template <class Key, class Value>
[[nodiscard]] std::size_t sort_pairs_scratch_bytes(std::uint64_t count, bool are_floats) {
  const std::size_t bytes = any_width::sort_many_pairs_scratch_bytes<Key, Value>(count);
  return are_floats ? ClassScratch<Key>(nullptr, count, true, 0, bytes).bytes : bytes;
}

template <class Key, class Value>
void sort_pairs(const PairSort<Key, Value>& sort) {
  const auto call = [](const PairSort<Key, Value>& request) {
    any_width::sort_many_pairs<Key, Value>(request);
  };
  if constexpr (kMayBeFloats<Key>) {
    if (sort.load_map.folds_classes && sort.count > 0) {
      const std::size_t bytes = sort_pairs_scratch_bytes<Key, Value>(sort.count, false);
      const ClassScratch<Key> places(sort.scratch.memory, sort.count, true, 0, bytes);
      require_sort_memory(sort, places.bytes, "sorting pairs on the GPU");
      return sort_by_class(sort, places, call);
    }
  }
  call(sort);
}

// For floats at most 25 KiB more than any_width's.
template <class Key, class Value>
[[nodiscard]] std::size_t merge_pair_arrays_scratch_bytes(std::uint64_t total, bool are_floats) {
  const std::size_t bytes = any_width::merge_pair_arrays_scratch_bytes<Key, Value>(total);
  return are_floats ? ClassScratch<Key>(nullptr, total, false, 0, bytes).bytes : bytes;
}

template <class Key, class Value>
void merge_pair_arrays(const PairArrayMerge<Key, Value>& merge) {
  const auto call = [](const PairArrayMerge<Key, Value>& request) {
    any_width::merge_pair_arrays<Key, Value>(request);
  };
  if constexpr (kMayBeFloats<Key>) {
    const char* const operation = "merging two arrays of pairs on the GPU";
    const std::uint64_t total = total_of(merge, operation);
    if (merge.load_map.folds_classes && total > 0) {
      const std::size_t bytes = merge_pair_arrays_scratch_bytes<Key, Value>(total, false);
      const ClassScratch<Key> places(merge.scratch.memory, total, false, 0, bytes);
      require_call_memory({both(extents_of(merge.a, merge.a_count, kAnInput),
                                extents_of(merge.b, merge.b_count, kAnInput)),
                           extents_of(merge.output, total), false, merge.scratch, places.bytes,
                           operation});
      return merge_arrays_by_class(merge, places, call);
    }
  }
  call(merge);
}

// For floats at most 25 KiB more than any_width's, and 8 bytes a slice.
template <class Key, class Value>
[[nodiscard]] std::size_t merge_pair_slices_scratch_bytes(std::uint64_t total, std::uint32_t slices,
                                                          bool are_floats) {
  const std::size_t bytes = any_width::merge_pair_slices_scratch_bytes<Key, Value>(total, slices);
  return are_floats ? ClassScratch<Key>(nullptr, total, false, slices, bytes).bytes : bytes;
}

template <class Key, class Value>
void merge_pair_slices(const PairSliceMerge<Key, Value>& merge) {
  const auto call = [](const PairSliceMerge<Key, Value>& request) {
    any_width::merge_pair_slices<Key, Value>(request);
  };
  if constexpr (kMayBeFloats<Key>) {
    const char* const operation = "merging slices of pairs on the GPU";
    const std::uint64_t total = total_of(merge, operation);
    const std::uint32_t slices = merge.slice_count;
    if (merge.load_map.folds_classes && total > 0) {
      const std::size_t bytes = merge_pair_slices_scratch_bytes<Key, Value>(total, slices, false);
      const ClassScratch<Key> places(merge.scratch.memory, total, false, slices, bytes);
      require_call_memory({extents_of(merge.input, total, kInput), extents_of(merge.output, total),
                           false, merge.scratch, places.bytes, operation});
      return merge_slices_by_class(merge, total, places, call);
    }
  }
  call(merge);
}

}  // namespace gsort::gpu::floats
