// See device_pairs.hpp. The passes are those of device_sort.cpp and device_merge.cpp; every array
// of keys has one of values beside it.
//
// Model. n pairs of w bytes in tiles of T: passes P = ceil(log_8(n / T)), bytes 2wn(1 + P). A merge
// level costs what the words cost that it compares and moves: words of 32 bits, which hold as much
// of a key as there is room for (pair_code.hpp), 2 instructions and 4 bytes of shared memory; words
// of whole keys 5 and 8 (u32), or 10 and 12 (u64). A value is copied to shared memory, fetched by
// its word's index, and stored; so is a key that a word does not hold.
//
// What each step gained, on an H200, 2^28 random pairs, ms for u32 with u32 | u64 with u32 | u64
// with u64. In the same runs CUB 3.0.1 took 26.0 | 38.1 | 48.3 (merge sort) and 8.5 | 20.2 | 24.8
// (radix sort).
//   14.98 | 25.77 | 27.87  words of whole keys, all passes
//   14.26 | 21.65 | 25.36  u32: words of 32 bits where a tile's keys fit them; u64: words of 52
//                          bits that hold 39 bits of the key
//   14.03 | 21.06 | 23.79  several pairs at once are loaded and stored with one check
//   13.05 | 18.87 | 21.95  words of 32 bits for all tiles, ties put right afterwards; all keys of a
//                          thread's share loaded before one is waited for
//   12.63 | 17.82 | 21.81  the way back to whole keys is a function of its own: nothing is spilled
//
// Inputs whose keys are clustered far apart from each other, or often equal and far apart, so that
// many share a prefix within a tile, take whole keys; so do block sorts of tiles less than nine
// tenths full, whose fills share one. Most tiles notice it by a few of their keys, before they
// merge anything; one that notices it at its end has done its work twice. Of the eleven
// distributions of gsort-gen, 2^26 pairs, only zipf's pays for it: it takes 5% longer than with
// whole keys alone (u32 with u32), 4% and 8% (u64), and 1.5 times as long as random u64 keys with
// u32 values do.
//
// What is left. A pass of 8 is bound by the bandwidth of shared memory (70 to 80% of its cycles),
// of which the search for co-ranks takes a third.
#include "gpu/records/device_pairs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/table_copy.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/merge/launch.hpp"
#include "gpu/merge/merge_shape.hpp"
#include "gpu/records/launch.hpp"
#include "gpu/records/pair_memory.hpp"
#include "gpu/sort/sort_shape.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kSorting = "sorting pairs on the GPU";
constexpr const char* kMerging = "merging slices of pairs on the GPU";
constexpr const char* kMergingArrays = "merging two arrays of pairs on the GPU";

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
    arrays.buffer.keys = cutter.take<Key>(count);
    arrays.buffer.values = cutter.take<Value>(count);
    arrays.scratch.samples =
        cutter.take<Key>(sample_slots(count, shape.run_count, kWrittenSampleShift<Key>));
    arrays.scratch.rows = cutter.take<std::uint64_t>(row_numbers(count, shape, tuning));
  }
  arrays.bytes = cutter.used_bytes();
  return arrays;
}

template <class Key, class Value>
struct MergeArrays {
  Pairs<Key, Value> buffer;  // of two and more passes
  MergeScratch<Key> scratch;
  std::size_t bytes = 0;
};

template <class Key, class Value>
MergeArrays<Key, Value> cut_merge_arrays(void* scratch, std::uint64_t total,
                                         std::uint32_t slice_count, const KernelTuning& tuning) {
  MergeArrays<Key, Value> arrays;
  ScratchCutter cutter(scratch);
  if (merge_shape_of(slice_count, tuning).passes > 1) {
    arrays.buffer.keys = cutter.take<Key>(total);
    arrays.buffer.values = cutter.take<Value>(total);
  }
  arrays.scratch = cut_merge_scratch<Key>(cutter, total, slice_count, tuning);
  arrays.bytes = cutter.used_bytes();
  return arrays;
}

template <class Key, class Value>
void queue_pass(const MergePass<Key>& keys, ConstPairs<Key, Value> from, Pairs<Key, Value> to,
                unsigned architecture, cudaStream_t stream) {
  PairMergePass<Key, Value> pass{keys, from.values, to.values, 0};
  pass.keys.input = from.keys;
  pass.keys.output = to.keys;
  launch_partition<PairOf<Key, Value>>(pass.keys, architecture, stream);
  launch_pair_merge(pass, architecture, stream);
}

// Requires: not both arrays are empty.
template <class Key, class Value>
void queue_two_arrays(const PairArrayMerge<Key, Value>& merge) {
  const auto& [a, a_count, b, b_count, output, load_map, store_map, scratch, stream] = merge;
  const unsigned architecture = current_architecture();
  const std::uint64_t tile = tuning_for<PairOf<Key, Value>>(architecture).two_way_tile_keys();
  const std::uint64_t total = a_count + b_count;
  const ConstPairs<Key, Value>& first = a_count > 0 ? a : b;
  PairMergePass<Key, Value> pass;
  pass.keys.input = first.keys;
  pass.keys.output = output.keys;
  pass.keys.store_map = store_map;
  pass.keys.maps = !store_map.is_identity();
  pass.keys.load_map = load_map;
  pass.keys.loads_mapped = !load_map.is_identity();
  pass.keys.two_arrays = true;
  pass.keys.fan_in = 2;
  pass.keys.group_count = 1;
  pass.keys.apart = two_runs_of(a.keys, a_count, b.keys, b_count);
  pass.keys.rows = static_cast<std::uint64_t*>(scratch.memory);
  pass.values_in = first.values;
  pass.values_out = output.values;
  if (a_count > 0 && b_count > 0) {
    pass.second_values_shift = elements_between(a.values, b.values) - pass.keys.apart.second_begin;
  }
  if (total <= small_tuning_for<Key>(architecture).most_merged_keys) {
    pass.keys.rows_per_group = div_up(total, tile);
    launch_small_pair_merge(pass, architecture, stream);
    return;
  }
  pass.keys.row_count = div_up(total, tile) + 1;
  launch_two_way_partition<PairOf<Key, Value>>(pass.keys, architecture, stream);
  launch_pair_merge(pass, architecture, stream);
}

}  // namespace

template <class Key, class Value>
std::size_t sort_pairs_scratch_bytes(std::uint64_t count) {
  require_count(count, kSorting, "pairs");
  std::size_t most = 0;
  for (const TuningRow& row : kTunings) {
    const KernelTuning tuning = tuning_for<PairOf<Key, Value>>(row.architecture);
    most = std::max(most, cut_sort_arrays<Key, Value>(nullptr, count, tuning).bytes);
  }
  return most;
}

template <class Key, class Value>
void sort_pairs(const PairSort<Key, Value>& sort) {
  const auto& [input, output, count, load_map, store_map, scratch, stream] = sort;
  if (count == 0) return;
  const std::size_t needed = sort_pairs_scratch_bytes<Key, Value>(count);
  require_output(output, count, scratch, needed, kSorting);
  require_arrays_to_sort(input, output, count, scratch.memory, needed, kSorting);

  const unsigned architecture = current_architecture();
  const KernelTuning tuning = tuning_for<PairOf<Key, Value>>(architecture);
  const SortShape shape = shape_of(count, tuning);
  const auto arrays = cut_sort_arrays<Key, Value>(scratch.memory, count, tuning);

  const bool ends_in_output = shape.fan_ins.size() % 2 == 0;
  Pairs<Key, Value> from = ends_in_output ? output : arrays.buffer;
  Pairs<Key, Value> to = ends_in_output ? arrays.buffer : output;
  PairSortPass<Key, Value> first;
  first.keys.input = input.keys;
  first.keys.output = from.keys;
  first.keys.samples = arrays.scratch.samples;
  first.keys.count = count;
  first.keys.load_map = load_map;
  first.keys.loads_mapped = !load_map.is_identity();
  first.keys.store_map = store_map;
  first.keys.stores_mapped = shape.fan_ins.empty() && !store_map.is_identity();
  first.values_in = input.values;
  first.values_out = from.values;
  launch_pair_sort(first, architecture, stream);
  for (const auto& pass : sort_passes(count, shape, tuning, arrays.scratch, store_map)) {
    queue_pass<Key, Value>(pass, from, to, architecture, stream);
    std::swap(from, to);
  }
}

template <class Key, class Value>
std::size_t merge_pair_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  if (slice_count <= 2) return merge_pair_arrays_scratch_bytes<Key, Value>(total);
  require_count(total, kMerging, "pairs");
  std::size_t most = 0;
  for (const TuningRow& row : kTunings) {
    const KernelTuning tuning = tuning_for<PairOf<Key, Value>>(row.architecture);
    most = std::max(most, cut_merge_arrays<Key, Value>(nullptr, total, slice_count, tuning).bytes);
  }
  return most;
}

template <class Key, class Value>
void merge_pair_slices(const PairSliceMerge<Key, Value>& merge) {
  const auto& [input, slice_counts, slice_count, output, load_map, store_map, scratch, stream] =
      merge;
  require_memory(slice_counts, slice_count, 1, kMerging, "the table of slice counts");
  const std::uint64_t total = sum_of_slices(slice_counts, slice_count, kMerging, "pairs");
  if (total == 0) return;
  if (slice_count <= 2) {
    const std::uint64_t first = slice_counts[0];
    // A null pointer stays one, and is refused as such.
    const ConstPairs<Key, Value> second(input.keys == nullptr ? nullptr : input.keys + first,
                                        input.values == nullptr ? nullptr : input.values + first);
    merge_pair_arrays<Key, Value>({.a = input,
                                   .a_count = first,
                                   .b = second,
                                   .b_count = total - first,
                                   .output = output,
                                   .load_map = load_map,
                                   .store_map = store_map,
                                   .scratch = scratch,
                                   .stream = stream});
    return;
  }
  const std::size_t needed = merge_pair_slices_scratch_bytes<Key, Value>(total, slice_count);
  require_output(output, total, scratch, needed, kMerging);
  require_input_apart(input, total, output, total, scratch.memory, needed, kMerging);

  const unsigned architecture = current_architecture();
  const KernelTuning tuning = tuning_for<PairOf<Key, Value>>(architecture);
  const auto arrays = cut_merge_arrays<Key, Value>(scratch.memory, total, slice_count, tuning);
  const MergePasses<Key> all =
      make_passes(slice_counts, slice_count, arrays.scratch, tuning, load_map, store_map);
  launch_table_copy(all.numbers.data(), all.numbers.size(), arrays.scratch.tables, architecture,
                    stream);
  launch_sample(input.keys, all.passes.front().runs, arrays.scratch.samples, architecture, stream);

  ConstPairs<Key, Value> from = input;
  std::size_t passes_after = all.passes.size();
  for (const MergePass<Key>& pass : all.passes) {
    const Pairs<Key, Value> to = --passes_after % 2 == 0 ? output : arrays.buffer;
    queue_pass(pass, from, to, architecture, stream);
    from = to;
  }
}

template <class Key, class Value>
std::size_t merge_pair_arrays_scratch_bytes(std::uint64_t total) {
  require_count(total, kMergingArrays, "pairs");
  std::size_t most = 0;
  for (const TuningRow& row : kTunings) {
    const KernelTuning tuning = tuning_for<PairOf<Key, Value>>(row.architecture);
    const std::uint64_t rows = div_up(total, tuning.two_way_tile_keys()) + 1;
    most = std::max<std::size_t>(most, rows * (kRowHeader + 2) * sizeof(std::uint64_t));
  }
  return round_up(most, kScratchAlignment);
}

template <class Key, class Value>
void merge_pair_arrays(const PairArrayMerge<Key, Value>& merge) {
  const auto& [a, a_count, b, b_count, output, load_map, store_map, scratch, stream] = merge;
  const std::array<std::uint64_t, 2> counts{a_count, b_count};
  const std::uint64_t total = sum_of_slices(counts.data(), 2, kMergingArrays, "pairs");
  if (total == 0) return;
  const std::size_t needed = merge_pair_arrays_scratch_bytes<Key, Value>(total);
  require_output(output, total, scratch, needed, kMergingArrays);
  require_input_apart(a, a_count, output, total, scratch.memory, needed, kMergingArrays);
  require_input_apart(b, b_count, output, total, scratch.memory, needed, kMergingArrays);
  queue_two_arrays(merge);
}

#define GSORT_PAIRS(Key, Value)                                                                   \
  template std::size_t sort_pairs_scratch_bytes<Key, Value>(std::uint64_t);                       \
  template void sort_pairs(const PairSort<Key, Value>&);                                          \
  template std::size_t merge_pair_slices_scratch_bytes<Key, Value>(std::uint64_t, std::uint32_t); \
  template void merge_pair_slices(const PairSliceMerge<Key, Value>&);                             \
  template std::size_t merge_pair_arrays_scratch_bytes<Key, Value>(std::uint64_t);                \
  template void merge_pair_arrays(const PairArrayMerge<Key, Value>&)
GSORT_PAIRS(std::uint32_t, std::uint32_t);
GSORT_PAIRS(std::uint32_t, std::uint64_t);
GSORT_PAIRS(std::uint64_t, std::uint32_t);
GSORT_PAIRS(std::uint64_t, std::uint64_t);
#undef GSORT_PAIRS

}  // namespace gsort::gpu
