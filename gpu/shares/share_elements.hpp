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
#include "gpu/merge/merge_total.hpp"
#include "gpu/records/device_pairs.hpp"
#include "gpu/records/float_classes.hpp"
#include "gpu/shares/shares_sort.hpp"
#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {

// The maps of sorted runs, between their sort and the last merge. Runs hold ordered keys, but runs
// of pairs whose equal floats keep their order hold the original keys.
template <class Key>
struct RunMaps {
  KeyMap<Key> load{};
  KeyMap<Key> store{};

  static RunMaps of(const KeyMap<Key>& map, bool keeps_bits) {
    return keeps_bits ? RunMaps{map, keeping_bits(map)} : RunMaps{};
  }
};

template <class Key, class Value>
[[nodiscard]] bool sorts_by_class(const ElementSort<Key, Value>& sort) {
  return sort.load_map.folds_classes && !sort.store_map.is_identity();
}

// With `keeps_bits`, for sort_elements of floats that keep their bits.
template <class Key, class Value>
[[nodiscard]] std::size_t sort_bytes(std::uint64_t count, bool keeps_bits) {
  if constexpr (kHasValues<Value>) {
    const std::size_t bytes = sort_many_pairs_scratch_bytes<Key, Value>(count);
    return keeps_bits ? ClassScratch<Key>(nullptr, count, true, 0, bytes).bytes : bytes;
  } else {
    return sort_keys_by_distribution_scratch_bytes<Key>(count);
  }
}

// Queues a sort in place. The store map is that of RunMaps.
template <class Key, class Value>
void sort_elements(const ElementSort<Key, Value>& sort) {
  if constexpr (kHasValues<Value>) {
    const auto call = [](const PairSort<Key, Value>& pairs) { sort_many_pairs(pairs); };
    if (!sorts_by_class(sort)) return call(sort);
    const std::size_t bytes = sort_bytes<Key, Value>(sort.count, false);
    sort_by_class(sort, ClassScratch<Key>(sort.scratch.memory, sort.count, true, 0, bytes), call);
  } else {
    sort_keys_by_distribution(sort);
  }
}

template <class Key, class Value>
[[nodiscard]] std::size_t merge_bytes(std::uint64_t total, std::uint32_t slices) {
  if constexpr (kHasValues<Value>) {
    const std::size_t bytes = merge_pair_slices_scratch_bytes<Key, Value>(total, slices);
    return ClassScratch<Key>(nullptr, total, false, slices, bytes).bytes;
  } else {
    return merge_slices_scratch_bytes<Key>(total, slices);
  }
}

template <class Key, class Value>
void merge_elements(const ElementSliceMerge<Key, Value>& merge) {
  if constexpr (kHasValues<Value>) {
    const auto call = [](const PairSliceMerge<Key, Value>& pairs) { merge_pair_slices(pairs); };
    const char* const operation = "merging slices of pairs on the GPU";
    const std::uint64_t total = total_of(merge, operation);
    if (total == 0) return;
    require_scratch(merge.scratch, merge_bytes<Key, Value>(total, merge.slice_count), operation);
    if (!merge.load_map.folds_classes) return call(merge);
    const std::size_t bytes = merge_pair_slices_scratch_bytes<Key, Value>(total, merge.slice_count);
    const ClassScratch<Key> places(merge.scratch.memory, total, false, merge.slice_count, bytes);
    merge_slices_by_class(merge, total, places, call);
  } else {
    merge_slices(merge);
  }
}

// The scratch memory of sort_chunk.
template <class Key, class Value>
[[nodiscard]] std::size_t chunk_sort_bytes(std::uint64_t count) {
  if constexpr (kHasValues<Value>) {
    return ClassScratch<Key>(nullptr, count, false, 0, sort_pairs_scratch_bytes<Key, Value>(count))
        .bytes;
  } else {
    return sort_keys_scratch_bytes<Key>(count);
  }
}

// As sort_elements, with less scratch memory and more time: such a sort waits for the bus. `kept`
// has room for the keys.
template <class Key, class Value>
void sort_chunk(const ElementSort<Key, Value>& sort, Key* kept = nullptr) {
  if constexpr (kHasValues<Value>) {
    const auto call = [](const PairSort<Key, Value>& pairs) { sort_pairs(pairs); };
    if (sort.count == 0) return;
    require_scratch(sort.scratch, chunk_sort_bytes<Key, Value>(sort.count),
                    "sorting pairs on the GPU");
    if (!sorts_by_class(sort)) return call(sort);
    const std::size_t bytes = sort_pairs_scratch_bytes<Key, Value>(sort.count);
    ClassScratch<Key> places(sort.scratch.memory, sort.count, false, 0, bytes);
    places.kept = kept;
    sort_by_class(sort, places, call);
  } else {
    sort_keys(sort);
  }
}

}  // namespace gsort::gpu
