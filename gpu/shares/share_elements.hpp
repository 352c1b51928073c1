// One name for a call on keys alone and the same call on keys with values, for sorts over several
// devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/cuda/scratch.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/distribute/device_pair_distribute.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/records/device_pairs.hpp"
#include "gpu/shares/shares_sort.hpp"
#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {

template <class Key, class Value>
[[nodiscard]] std::size_t sort_bytes(std::uint64_t count) {
  if constexpr (kHasValues<Value>) {
    return sort_pairs_by_distribution_scratch_bytes<Key, Value>(count);
  } else {
    return sort_keys_by_distribution_scratch_bytes<Key>(count);
  }
}

// Queues a sort in place; elements are left in ordered form.
template <class Key, class Value>
void sort_elements(const ElementSort<Key, Value>& sort) {
  if constexpr (kHasValues<Value>) {
    sort_pairs_by_distribution(sort);
  } else {
    sort_keys_by_distribution(sort);
  }
}

template <class Key, class Value>
[[nodiscard]] std::size_t merge_bytes(std::uint64_t total, std::uint32_t slices) {
  if constexpr (kHasValues<Value>) {
    return merge_pair_slices_scratch_bytes<Key, Value>(total, slices);
  } else {
    return merge_slices_scratch_bytes<Key>(total, slices);
  }
}

template <class Key, class Value>
void merge_elements(const ElementSliceMerge<Key, Value>& merge) {
  if constexpr (kHasValues<Value>) {
    merge_pair_slices(merge);
  } else {
    merge_slices(merge);
  }
}

// The scratch memory of sort_chunk.
template <class Key, class Value>
[[nodiscard]] std::size_t chunk_sort_bytes(std::uint64_t count) {
  if constexpr (kHasValues<Value>) {
    return sort_pairs_scratch_bytes<Key, Value>(count);
  } else {
    return sort_keys_scratch_bytes<Key>(count);
  }
}

// As sort_elements, with less scratch memory and more time: such a sort waits for the bus.
template <class Key, class Value>
void sort_chunk(const ElementSort<Key, Value>& sort) {
  if constexpr (kHasValues<Value>) {
    sort_pairs(sort);
  } else {
    sort_keys(sort);
  }
}

}  // namespace gsort::gpu
