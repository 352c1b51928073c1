// What differs in sorts over several devices between keys alone and keys with values. Both are
// passed as Pairs; of keys alone, the pointer to the values is null.
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
[[nodiscard]] Pairs<Key, Value> take_elements(ScratchCutter& cutter, std::uint64_t count) {
  Pairs<Key, Value> taken{.keys = cutter.take<Key>(count)};
  if constexpr (kHasValues<Value>) taken.values = cutter.take<Value>(count);
  return taken;
}

// The elements behind the first `count`. Requires: there are as many.
template <class Key, class Value>
[[nodiscard]] Pairs<Key, Value> behind(Pairs<Key, Value> all, std::uint64_t count) {
  all.keys += count;
  if constexpr (kHasValues<Value>) all.values += count;
  return all;
}

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
void sort_elements(const Pairs<Key, Value>& all, std::uint64_t count, const KeyMap<Key>& load_map,
                   const ScratchMemory& scratch, cudaStream_t stream) {
  if constexpr (kHasValues<Value>) {
    sort_pairs_by_distribution<Key, Value>({.input = all,
                                            .output = all,
                                            .count = count,
                                            .load_map = load_map,
                                            .scratch = scratch,
                                            .stream = stream});
  } else {
    sort_keys_by_distribution<Key>({.input = all.keys,
                                    .output = all.keys,
                                    .count = count,
                                    .load_map = load_map,
                                    .scratch = scratch,
                                    .stream = stream});
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
struct ElementMerge {
  Pairs<Key, Value> slices;  // in ordered form, back to back
  const std::vector<std::uint64_t>& counts;
  Pairs<Key, Value> merged;
  KeyMap<Key> store_map;
  ScratchMemory scratch;
  cudaStream_t stream;
};

template <class Key, class Value>
void merge_elements(const ElementMerge<Key, Value>& merge) {
  const auto& [slices, counts, merged, store_map, scratch, stream] = merge;
  const auto slice_count = static_cast<std::uint32_t>(counts.size());
  if constexpr (kHasValues<Value>) {
    merge_pair_slices<Key, Value>({.input = slices,
                                   .slice_counts = counts.data(),
                                   .slice_count = slice_count,
                                   .output = merged,
                                   .store_map = store_map,
                                   .scratch = scratch,
                                   .stream = stream});
  } else {
    merge_slices<Key>({.input = slices.keys,
                       .slice_counts = counts.data(),
                       .slice_count = slice_count,
                       .output = merged.keys,
                       .store_map = store_map,
                       .scratch = scratch,
                       .stream = stream});
  }
}

// What the sort of a chunk that came from host memory needs.
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
void sort_chunk(const Pairs<Key, Value>& chunk, std::uint64_t count, const KeyMap<Key>& load_map,
                const ScratchMemory& scratch, cudaStream_t stream) {
  if constexpr (kHasValues<Value>) {
    sort_pairs<Key, Value>({.input = chunk,
                            .output = chunk,
                            .count = count,
                            .load_map = load_map,
                            .scratch = scratch,
                            .stream = stream});
  } else {
    sort_keys<Key>({.input = chunk.keys,
                    .output = chunk.keys,
                    .count = count,
                    .load_map = load_map,
                    .scratch = scratch,
                    .stream = stream});
  }
}

}  // namespace gsort::gpu
