// Sorts many elements in passes: keys for device_sort.cpp, whose essay explains the algorithm, and
// pairs for gpu/records/device_pairs.cpp. Host code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "gpu/cuda/architecture.hpp"
#include "gpu/merge/merge_elements.hpp"
#include "gpu/sort/device_sort.hpp"
#include "gpu/sort/launch.hpp"
#include "gpu/sort/sort_memory.hpp"
#include "gpu/sort/sort_shape.hpp"

namespace gsort::gpu {

// gpu/records/launch.hpp defines it, and its launch.
template <class Key, class Value>
struct PairSortPass;

template <class Key, class Value>
struct SortArrays {
  Pairs<Key, Value> buffer;
  SortScratch<Key> scratch;
  std::size_t bytes = 0;
};

template <class Key, class Value>
SortArrays<Key, Value> cut_sort_arrays(void* scratch, std::uint64_t count,
                                       const KernelTuning& tuning) {
  SortArrays<Key, Value> arrays;
  const SortShape shape = shape_of(count, tuning);
  ScratchCutter cutter(scratch);
  if (!shape.fan_ins.empty()) {
    arrays.buffer = take_elements<Key, Value>(cutter, count);
    arrays.scratch.samples =
        cutter.take<Key>(sample_slots(count, shape.run_count, kWrittenSampleShift<Key>));
    arrays.scratch.rows = cutter.take<std::uint64_t>(row_numbers(count, shape, tuning));
  }
  arrays.bytes = cutter.used_bytes();
  return arrays;
}

// The block sort of all tiles, without its output and samples.
template <class Key, class Value>
[[nodiscard]] BlockSortPass<Key> block_sort_of(const ElementSort<Key, Value>& sort) {
  BlockSortPass<Key> pass;
  pass.input = sort.input.keys;
  pass.count = sort.count;
  pass.load_map = sort.load_map;
  pass.loads_mapped = !sort.load_map.is_identity();
  pass.store_map = sort.store_map;
  return pass;
}

// Requires: count > 0, and the memory has been checked.
template <class Key, class Value>
void queue_sort(const ElementSort<Key, Value>& sort) {
  const unsigned architecture = current_architecture();
  const KernelTuning tuning = tuning_for<ElementOf<Key, Value>>(architecture);
  const SortShape shape = shape_of(sort.count, tuning);
  const auto arrays = cut_sort_arrays<Key, Value>(sort.scratch.memory, sort.count, tuning);

  const bool ends_in_output = shape.fan_ins.size() % 2 == 0;
  Pairs<Key, Value> from = ends_in_output ? sort.output : arrays.buffer;
  Pairs<Key, Value> to = ends_in_output ? arrays.buffer : sort.output;
  BlockSortPass<Key> first = block_sort_of(sort);
  first.output = from.keys;
  first.samples = arrays.scratch.samples;
  first.stores_mapped = shape.fan_ins.empty() && !sort.store_map.is_identity();
  if constexpr (kHasValues<Value>) {
    const PairSortPass<Key, Value> pairs{first, sort.input.values, from.values};
    launch_pair_sort(pairs, architecture, sort.stream);
  } else {
    launch_block_sort(first, architecture, sort.stream);
  }
  for (auto& pass : sort_passes(sort.count, shape, tuning, arrays.scratch, sort.store_map)) {
    pass.input = from.keys;
    pass.output = to.keys;
    launch_partition<ElementOf<Key, Value>>(pass, architecture, sort.stream);
    launch_tile_merge<TileMerge::kMany>(pass, PassValues<Value>{from.values, to.values},
                                        architecture, sort.stream);
    std::swap(from, to);
  }
}

}  // namespace gsort::gpu
