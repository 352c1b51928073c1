// See device_pairs.hpp. The passes are those of device_sort.cpp and device_merge.cpp; every array
// of keys has one of values beside it.
//
// Model. n pairs of w bytes in tiles of T: passes P = ceil(log_8(n / T)), bytes 2wn(1 + P). The
// work of a pass is that of keys of 64 bits: words of 45 bits, which compare and move in 5
// instructions (u32 keys), or of 77 bits in 10 (u64 keys); a value is copied to shared memory,
// fetched by its word's index, and stored: three instructions a value.
#include "gpu/device_pairs.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/device_arrays.hpp"
#include "gpu/launch.hpp"
#include "gpu/merge_plan.hpp"
#include "gpu/sort_shape.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kSorting = "sorting pairs on the GPU";
constexpr const char* kMerging = "merging slices of pairs on the GPU";

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

// What both calls ask of their arrays.
template <class Key, class Value>
void require_arrays(ConstPairs<Key, Value> input, Pairs<Key, Value> output, std::uint64_t count,
                    bool in_place, const char* operation) {
  const std::uint64_t key_bytes = count * sizeof(Key);
  const std::uint64_t value_bytes = count * sizeof(Value);
  require_memory(input.keys, key_bytes, sizeof(Key), operation, "the input's keys");
  require_memory(input.values, value_bytes, sizeof(Value), operation, "the input's values");
  require_memory(output.keys, key_bytes, sizeof(Key), operation, "the output's keys");
  require_memory(output.values, value_bytes, sizeof(Value), operation, "the output's values");
  if (!in_place || input.keys != output.keys) {
    require_apart(input.keys, key_bytes, output.keys, key_bytes, operation,
                  "the keys of input and output");
  }
  if (!in_place || input.values != output.values) {
    require_apart(input.values, value_bytes, output.values, value_bytes, operation,
                  "the values of input and output");
  }
  require_apart(input.keys, key_bytes, output.values, value_bytes, operation,
                "the input's keys and the output's values");
  require_apart(output.keys, key_bytes, input.values, value_bytes, operation,
                "the output's keys and the input's values");
  require_apart(output.keys, key_bytes, output.values, value_bytes, operation,
                "the output's keys and values");
}

template <class Key, class Value>
void require_scratch_apart(ConstPairs<Key, Value> input, Pairs<Key, Value> output,
                           std::uint64_t count, const void* scratch, std::size_t have_bytes,
                           std::size_t need_bytes, const char* operation) {
  require_scratch(have_bytes, need_bytes, operation);
  require_memory(scratch, need_bytes, kScratchAlignment, operation, "the scratch memory");
  const auto apart = [&](const void* array, std::uint64_t bytes, const char* names) {
    require_apart(array, bytes, scratch, need_bytes, operation, names);
  };
  apart(input.keys, count * sizeof(Key), "the input's keys and scratch memory");
  apart(input.values, count * sizeof(Value), "the input's values and scratch memory");
  apart(output.keys, count * sizeof(Key), "the output's keys and scratch memory");
  apart(output.values, count * sizeof(Value), "the output's values and scratch memory");
}

template <class Key, class Value>
void queue_pass(const MergePass<Key>& keys, ConstPairs<Key, Value> from, Pairs<Key, Value> to,
                unsigned architecture, cudaStream_t stream) {
  PairMergePass<Key, Value> pass{keys, from.values, to.values};
  pass.keys.input = from.keys;
  pass.keys.output = to.keys;
  launch_pair_partition(pass, architecture, stream);
  launch_pair_merge(pass, architecture, stream);
}

}  // namespace

template <class Key, class Value>
std::size_t sort_pairs_scratch_bytes(std::uint64_t count) {
  std::size_t most = 0;
  for (const TuningRow& row : kTunings) {
    const KernelTuning tuning = tuning_for<PairOf<Key, Value>>(row.architecture);
    most = std::max(most, cut_sort_arrays<Key, Value>(nullptr, count, tuning).bytes);
  }
  return most;
}

template <class Key, class Value>
void sort_pairs(ConstPairs<Key, Value> input, Pairs<Key, Value> output, std::uint64_t count,
                KeyMap<Key> load_map, KeyMap<Key> store_map, void* scratch,
                std::size_t scratch_bytes, cudaStream_t stream) {
  if (count == 0) return;
  if (count > kMaxSortedKeys) {
    throw Error(ErrorKind::kUsage, kSorting,
                "more than " + format_count(kMaxSortedKeys) + " pairs");
  }
  require_arrays(input, output, count, true, kSorting);
  require_scratch_apart(input, output, count, scratch, scratch_bytes,
                        sort_pairs_scratch_bytes<Key, Value>(count), kSorting);

  const unsigned architecture = current_architecture();
  const KernelTuning tuning = tuning_for<PairOf<Key, Value>>(architecture);
  const SortShape shape = shape_of(count, tuning);
  const auto arrays = cut_sort_arrays<Key, Value>(scratch, count, tuning);

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
  std::size_t most = 0;
  for (const TuningRow& row : kTunings) {
    const KernelTuning tuning = tuning_for<PairOf<Key, Value>>(row.architecture);
    most = std::max(most, cut_merge_arrays<Key, Value>(nullptr, total, slice_count, tuning).bytes);
  }
  return most;
}

template <class Key, class Value>
void merge_pair_slices(ConstPairs<Key, Value> input, const std::uint64_t* slice_counts,
                       std::uint32_t slice_count, Pairs<Key, Value> output, KeyMap<Key> store_map,
                       void* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  require_memory(slice_counts, slice_count, 1, kMerging, "the table of slice counts");
  const std::uint64_t total = sum_of_slices(slice_counts, slice_count, kMerging);
  if (total == 0) return;
  require_arrays(input, output, total, false, kMerging);
  require_scratch_apart(input, output, total, scratch, scratch_bytes,
                        merge_pair_slices_scratch_bytes<Key, Value>(total, slice_count), kMerging);

  const unsigned architecture = current_architecture();
  const KernelTuning tuning = tuning_for<PairOf<Key, Value>>(architecture);
  const auto arrays = cut_merge_arrays<Key, Value>(scratch, total, slice_count, tuning);
  const MergePlan<Key> plan =
      plan_passes(slice_counts, slice_count, arrays.scratch, tuning, store_map);
  launch_table_copy(plan.numbers.data(), plan.numbers.size(), arrays.scratch.tables, stream);
  launch_sample(input.keys, plan.passes.front().runs, arrays.scratch.samples, stream);

  ConstPairs<Key, Value> from = input;
  std::size_t passes_after = plan.passes.size();
  for (const MergePass<Key>& pass : plan.passes) {
    const Pairs<Key, Value> to = --passes_after % 2 == 0 ? output : arrays.buffer;
    queue_pass(pass, from, to, architecture, stream);
    from = to;
  }
}

#define GSORT_PAIRS(Key, Value)                                                                   \
  template std::size_t sort_pairs_scratch_bytes<Key, Value>(std::uint64_t);                       \
  template void sort_pairs<Key, Value>(ConstPairs<Key, Value>, Pairs<Key, Value>, std::uint64_t,  \
                                       KeyMap<Key>, KeyMap<Key>, void*, std::size_t,              \
                                       cudaStream_t);                                             \
  template std::size_t merge_pair_slices_scratch_bytes<Key, Value>(std::uint64_t, std::uint32_t); \
  template void merge_pair_slices<Key, Value>(ConstPairs<Key, Value>, const std::uint64_t*,       \
                                              std::uint32_t, Pairs<Key, Value>, KeyMap<Key>,      \
                                              void*, std::size_t, cudaStream_t)
GSORT_PAIRS(std::uint32_t, std::uint32_t);
GSORT_PAIRS(std::uint32_t, std::uint64_t);
GSORT_PAIRS(std::uint64_t, std::uint32_t);
GSORT_PAIRS(std::uint64_t, std::uint64_t);
#undef GSORT_PAIRS

}  // namespace gsort::gpu
