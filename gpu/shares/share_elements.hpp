// What differs in sorts over several devices between keys alone and keys with values. Both are
// passed as Pairs; of keys alone, the pointer to the values is null.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/cuda/cuda_check.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/records/device_pairs.hpp"
#include "gpu/records/launch.hpp"
#include "gpu/shares/shares_sort.hpp"
#include "gpu/sort/arriving_keys.hpp"

namespace gsort::gpu {

template <class Value>
inline constexpr bool kHasValues = !std::is_same_v<Value, NoValue>;

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
    return sort_pairs_scratch_bytes<Key, Value>(count);
  } else {
    return sort_keys_by_distribution_scratch_bytes<Key>(count);
  }
}

// Queues a sort in place; elements are left in ordered form.
template <class Key, class Value>
void sort_elements(const Pairs<Key, Value>& all, std::uint64_t count, const KeyMap<Key>& load_map,
                   const ScratchMemory& scratch, cudaStream_t stream) {
  if constexpr (kHasValues<Value>) {
    sort_pairs<Key, Value>({.input = all,
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

template <class Key, class Value>
[[nodiscard]] std::size_t arrival_bytes(const std::vector<std::uint64_t>& chunks) {
  if constexpr (kHasValues<Value>) {
    std::uint64_t count = 0;
    for (const std::uint64_t elements : chunks) count += elements;
    return std::max(sort_pairs_scratch_bytes<Key, Value>(chunks.back()),
                    merge_pair_slices_scratch_bytes<Key, Value>(
                        count, static_cast<std::uint32_t>(chunks.size())));
  } else {
    return arriving_scratch_bytes<Key>(chunks);
  }
}

// Elements that arrive from host memory, and what becomes of them on a device.
template <class Key, class Value>
struct ElementArrival {
  const HostPairSort<Key, Value>& host;
  std::uint64_t first = 0;  // the number of the first of them in all of the input
  std::vector<std::uint64_t> chunks;
  Pairs<Key, Value> arrived;
  Pairs<Key, Value> merged;
  ScratchMemory scratch;  // of arrival_bytes(chunks)
  cudaStream_t stream;
};

// As sort_arriving_keys, in ordered form.
template <class Key, class Value>
[[nodiscard]] Pairs<Key, Value> sort_arriving_pairs(const ElementArrival<Key, Value>& arrival) {
  const HostPairSort<Key, Value>& host = arrival.host;
  const auto copy = [&](std::uint64_t begin, std::uint64_t count, cudaStream_t copies) {
    const Pairs<Key, Value> chunk = behind(arrival.arrived, begin);
    const std::uint64_t from = arrival.first + begin;
    copy_arriving(chunk.keys, host.input.keys + from, count, copies);
    if (!host.takes_numbers) copy_arriving(chunk.values, host.input.values + from, count, copies);
  };
  const auto sort = [&](std::uint64_t begin, std::uint64_t count) {
    const Pairs<Key, Value> chunk = behind(arrival.arrived, begin);
    if (host.takes_numbers) {
      launch_count_up(chunk.values, arrival.first + begin, count, arrival.stream);
    }
    sort_elements(chunk, count, host.map, arrival.scratch, arrival.stream);
  };
  queue_arrivals(arrival.chunks, arrival.stream, copy, sort);
  if (arrival.chunks.size() == 1) return arrival.arrived;
  merge_elements<Key, Value>(
      {arrival.arrived, arrival.chunks, arrival.merged, {}, arrival.scratch, arrival.stream});
  return arrival.merged;
}

// Queues all of it on the stream. Returns the arrays that will hold the sorted elements.
template <class Key, class Value>
[[nodiscard]] Pairs<Key, Value> sort_arriving(const ElementArrival<Key, Value>& arrival) {
  if constexpr (kHasValues<Value>) {
    return sort_arriving_pairs(arrival);
  } else {
    return {.keys = sort_arriving_keys<Key>({.input = arrival.host.input.keys + arrival.first,
                                             .chunks = arrival.chunks,
                                             .arrived = arrival.arrived.keys,
                                             .merged = arrival.merged.keys,
                                             .load_map = arrival.host.map,
                                             .scratch = arrival.scratch,
                                             .stream = arrival.stream})};
  }
}

}  // namespace gsort::gpu
