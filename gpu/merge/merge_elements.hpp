// Merges elements: keys alone for device_merge.cpp, whose essay explains the algorithm, and pairs
// for gpu/records/device_pairs.cpp. Host code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/call_memory.hpp"
#include "gpu/cuda/table_copy.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/merge/element_arrays.hpp"
#include "gpu/merge/launch.hpp"
#include "gpu/merge/merge_shape.hpp"
#include "gpu/merge/merge_total.hpp"

namespace gsort::gpu {

// gpu/records/launch.hpp defines it, and the launches that take it.
template <class Key, class Value>
struct PairMergePass;

enum class TileMerge : std::uint8_t { kMany, kTwo, kSmall };

// Where the values of a pass lie.
template <class Value>
struct PassValues {
  const Value* in = nullptr;
  Value* out = nullptr;
  std::uint64_t second_shift = 0;  // second_values_shift of PairMergePass
};

// Merges tiles by the rows of their cuts; small tiles find their cuts themselves.
template <TileMerge kMerge, class Key, class Value>
void launch_tile_merge(const MergePass<Key>& pass, const PassValues<Value>& values,
                       unsigned architecture, cudaStream_t stream) {
  if constexpr (kHasValues<Value>) {
    const PairMergePass<Key, Value> pairs{pass, values.in, values.out, values.second_shift};
    if constexpr (kMerge == TileMerge::kSmall) {
      launch_small_pair_merge(pairs, architecture, stream);
    } else {
      launch_pair_merge(pairs, architecture, stream);
    }
  } else if constexpr (kMerge == TileMerge::kSmall) {
    launch_small_merge(pass, architecture, stream);
  } else if constexpr (kMerge == TileMerge::kTwo) {
    launch_two_way_merge(pass, architecture, stream);
  } else {
    launch_kway_merge(pass, architecture, stream);
  }
}

template <class Key>
void require_load_map(const KeyMap<Key>& map, const char* operation) {
  if (kMapsLoads<Key> || map.is_identity()) return;
  throw Error(ErrorKind::kUsage, operation, "slices of 16-byte keys must hold ordered keys");
}

// Two runs need no samples and no tables: one thread for each tile searches for its cut, guided by
// the keys, or, if everything fits the L2 cache, the block of each tile does.
template <class Key, class Value>
void queue_two_arrays(const ElementArrayMerge<Key, Value>& merge) {
  const auto& [a, a_count, b, b_count, output, load_map, store_map, scratch, stream] = merge;
  const unsigned architecture = current_architecture();
  const SmallTuning small = small_tuning_for<Key>(architecture);
  const std::uint64_t tile = tuning_for<ElementOf<Key, Value>>(architecture).two_way_tile_keys();
  const std::uint64_t total = a_count + b_count;
  const ConstPairs<Key, Value>& first = a_count > 0 ? a : b;
  MergePass<Key> pass;
  pass.input = first.keys;
  pass.output = output.keys;
  pass.store_map = store_map;
  pass.maps = !store_map.is_identity();
  pass.load_map = load_map;
  pass.loads_mapped = !load_map.is_identity();
  pass.two_arrays = true;
  pass.fan_in = 2;
  pass.group_count = 1;
  pass.apart = two_runs_of(a.keys, a_count, b.keys, b_count);
  PassValues<Value> values{first.values, output.values};
  if (kHasValues<Value> && a_count > 0 && b_count > 0) {
    values.second_shift = elements_between(a.values, b.values) - pass.apart.second_begin;
  }
  if (total <= small.most_merged_keys) {
    const std::uint64_t small_tile = kHasValues<Value> ? tile : small.kernels.merge_tile_keys(2);
    pass.rows_per_group = div_up(total, small_tile);
    launch_tile_merge<TileMerge::kSmall>(pass, values, architecture, stream);
    return;
  }
  pass.row_count = div_up(total, tile) + 1;
  pass.rows = static_cast<std::uint64_t*>(scratch.memory);
  launch_two_way_partition<ElementOf<Key, Value>>(pass, architecture, stream);
  launch_tile_merge<TileMerge::kTwo>(pass, values, architecture, stream);
}

template <class Key, class Value>
struct MergeArrays {
  Pairs<Key, Value> buffer;  // of two or more passes
  MergeScratch<Key> scratch;
  std::size_t bytes = 0;
};

template <class Key, class Value>
MergeArrays<Key, Value> cut_merge_arrays(void* scratch, std::uint64_t total,
                                         std::uint32_t slice_count, const KernelTuning& tuning) {
  MergeArrays<Key, Value> arrays;
  ScratchCutter cutter(scratch);
  if (merge_shape_of(slice_count, tuning).passes > 1) {
    arrays.buffer = take_elements<Key, Value>(cutter, total);
  }
  arrays.scratch = cut_merge_scratch<Key>(cutter, total, slice_count, tuning);
  arrays.bytes = cutter.used_bytes();
  return arrays;
}

// Queues the only pass of a merge, piece by piece. Requires: the cuts of its rows are queued.
template <class Key, class Value>
void queue_pieces(const MergePass<Key>& pass, const PassValues<Value>& values, std::uint64_t total,
                  std::uint64_t piece_keys, const PieceQueued& queued, unsigned architecture,
                  cudaStream_t stream) {
  const std::uint64_t tile_keys =
      tuning_for<ElementOf<Key, Value>>(architecture).merge_tile_keys(pass.fan_in);
  const std::uint64_t piece_rows = std::max<std::uint64_t>(piece_keys / tile_keys, 1);
  const std::uint64_t rows = pass.row_count - 1;  // the last one is the end
  for (std::uint64_t row = 0; row < rows; row += piece_rows) {
    MergePass<Key> piece = pass;
    piece.rows += row * (kRowHeader + pass.fan_in);
    piece.row_count = std::min(piece_rows, rows - row);
    launch_tile_merge<TileMerge::kMany>(piece, values, architecture, stream);
    queued(row * tile_keys, std::min((row + piece.row_count) * tile_keys, total));
  }
}

// Requires: more than two slices, `total` > 0 elements in all.
template <class Key, class Value>
void queue_slices(const ElementSliceMerge<Key, Value>& merge, std::uint64_t total,
                  std::uint64_t piece_keys, const PieceQueued& queued) {
  using Element = ElementOf<Key, Value>;
  const unsigned architecture = current_architecture();
  const KernelTuning tuning = tuning_for<Element>(architecture);
  const auto arrays =
      cut_merge_arrays<Key, Value>(merge.scratch.memory, total, merge.slice_count, tuning);
  MergePasses<Key> all = make_passes(merge.slice_counts, merge.slice_count, arrays.scratch, tuning,
                                     merge.load_map, merge.store_map);
  launch_table_copy(all.numbers.data(), all.numbers.size(), arrays.scratch.tables, architecture,
                    merge.stream);
  launch_sample(merge.input.keys, all.passes.front().runs, arrays.scratch.samples, architecture,
                merge.stream);

  ConstPairs<Key, Value> from = merge.input;
  std::size_t passes_after = all.passes.size();
  for (MergePass<Key>& pass : all.passes) {
    const Pairs<Key, Value> to = --passes_after % 2 == 0 ? merge.output : arrays.buffer;
    pass.input = from.keys;
    pass.output = to.keys;
    const PassValues<Value> values{from.values, to.values};
    launch_partition<Element>(pass, architecture, merge.stream);
    if (all.passes.size() == 1 && piece_keys < total) {
      return queue_pieces(pass, values, total, piece_keys, queued, architecture, merge.stream);
    }
    launch_tile_merge<TileMerge::kMany>(pass, values, architecture, merge.stream);
    from = to;
  }
  queued(0, total);
}

template <class Key, class Value>
std::size_t merge_arrays_bytes(std::uint64_t total, const char* operation) {
  require_count(total, operation, kElements<Value>);
  return most_on_any_card([&](unsigned architecture) {
    const KernelTuning tuning = tuning_for<ElementOf<Key, Value>>(architecture);
    const std::uint64_t rows = div_up(total, tuning.two_way_tile_keys()) + 1;
    return round_up(rows * (kRowHeader + 2) * sizeof(std::uint64_t), kScratchAlignment);
  });
}

template <class Key, class Value>
void merge_element_arrays(const ElementArrayMerge<Key, Value>& merge, const char* operation) {
  const auto& [a, a_count, b, b_count, output, load_map, store_map, scratch, stream] = merge;
  const std::uint64_t total = total_of(merge, operation);
  require_load_map(load_map, operation);
  if (total == 0) return;
  const auto inputs = both(extents_of(a, a_count, kAnInput), extents_of(b, b_count, kAnInput));
  const auto outputs = extents_of(output, total);
  require_call_memory({inputs, outputs, false, scratch,
                       merge_arrays_bytes<Key, Value>(total, operation), operation});
  queue_two_arrays(merge);
}

template <class Key, class Value>
std::size_t merge_slices_bytes(std::uint64_t total, std::uint32_t slice_count,
                               const char* operation) {
  if (slice_count <= 2) return merge_arrays_bytes<Key, Value>(total, operation);
  require_count(total, operation, kElements<Value>);
  return most_on_any_card([&](unsigned architecture) {
    const KernelTuning tuning = tuning_for<ElementOf<Key, Value>>(architecture);
    return cut_merge_arrays<Key, Value>(nullptr, total, slice_count, tuning).bytes;
  });
}

template <class Key, class Value>
void merge_element_slices(const ElementSliceMerge<Key, Value>& merge, std::uint64_t piece_keys,
                          const PieceQueued& queued, const char* operation) {
  const auto& [input, slice_counts, slice_count, output, load_map, store_map, scratch, stream] =
      merge;
  const std::uint64_t total = total_of(merge, operation);
  require_load_map(load_map, operation);
  if (total == 0) return;
  const auto inputs = extents_of(input, total, kInput);
  const auto outputs = extents_of(output, total);
  require_call_memory({inputs, outputs, false, scratch,
                       merge_slices_bytes<Key, Value>(total, slice_count, operation), operation});
  if (slice_count > 2) return queue_slices(merge, total, piece_keys, queued);
  const std::uint64_t first = slice_counts[0];
  queue_two_arrays<Key, Value>({.a = input,
                                .a_count = first,
                                .b = behind(input, first),
                                .b_count = total - first,
                                .output = output,
                                .load_map = load_map,
                                .store_map = store_map,
                                .scratch = scratch,
                                .stream = stream});
  queued(0, total);
}

}  // namespace gsort::gpu
