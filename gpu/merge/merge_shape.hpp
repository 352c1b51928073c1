// The shape of a merge of slices on the device: passes of equal fan-in, as few as the kernel's
// greatest fan-in allows, and the tables that tell them where slices and groups begin. The same for
// keys and for pairs; what a pass is, merge_pass.hpp says. Host code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

// How many elements all slices hold. Throws: Error(kUsage) for more than kMaxSortedKeys.
[[nodiscard]] inline std::uint64_t sum_of_slices(const std::uint64_t* slice_counts,
                                                 std::uint32_t slice_count, const char* operation,
                                                 const char* elements = "keys") {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < slice_count; ++i) {
    require_count(slice_counts[i], operation, elements);  // no sum of two such numbers wraps around
    total += slice_counts[i];
    require_count(total, operation, elements);
  }
  return total;
}

struct MergeShape {
  unsigned passes = 0;
  std::uint32_t fan_in = 2;
};

// One pass at least: it is also what copies a single slice and applies the map.
[[nodiscard]] inline MergeShape merge_shape_of(std::uint32_t slice_count,
                                               const KernelTuning& tuning) {
  const auto reaches = [&](std::uint64_t fan_in, unsigned passes) {
    std::uint64_t reach = 1;
    while (passes-- > 0 && reach < slice_count) reach *= fan_in;
    return reach >= slice_count;
  };
  MergeShape shape{1, 2};
  while (!reaches(tuning.max_fan_in, shape.passes)) ++shape.passes;
  while (!reaches(shape.fan_in, shape.passes)) shape.fan_in *= 2;
  return shape;
}

// The tables of all passes in one array: where slices begin, then each pass's first row a group.
[[nodiscard]] inline std::uint64_t table_numbers(std::uint32_t slice_count,
                                                 const MergeShape& shape) {
  std::uint64_t numbers = std::uint64_t{slice_count} + 1;
  std::uint64_t runs = slice_count;
  for (unsigned pass = 0; pass < shape.passes; ++pass) {
    runs = div_up(runs, shape.fan_in);
    numbers += runs;
  }
  return numbers;
}

// Device memory that all passes of a merge share.
template <class Key>
struct MergeScratch {
  Key* samples = nullptr;
  std::uint64_t* rows = nullptr;
  std::uint64_t* tables = nullptr;
};

// Takes them from `cutter`, a ScratchCutter.
template <class Key, class Cutter>
[[nodiscard]] MergeScratch<Key> cut_merge_scratch(Cutter& cutter, std::uint64_t total,
                                                  std::uint32_t slice_count,
                                                  const KernelTuning& tuning) {
  const MergeShape shape = merge_shape_of(slice_count, tuning);
  const std::uint64_t groups = div_up(slice_count, shape.fan_in);
  const std::uint64_t rows = total / tuning.merge_tile_keys(shape.fan_in) + 2 * groups;
  const std::uint32_t shift = shape.passes > 1 ? kWrittenSampleShift<Key> : kReadSampleShift;
  MergeScratch<Key> scratch;
  scratch.samples = cutter.template take<Key>(sample_slots(total, slice_count, shift));
  scratch.rows = cutter.template take<std::uint64_t>(rows * (kRowHeader + shape.fan_in));
  scratch.tables = cutter.template take<std::uint64_t>(table_numbers(slice_count, shape));
  return scratch;
}

// The tables as the host makes them, and the passes that will read them, but for input and output.
template <class Key>
struct MergePasses {
  std::vector<std::uint64_t> numbers;
  std::vector<MergePass<Key>> passes;
};

template <class Key>
[[nodiscard]] MergePasses<Key> make_passes(const std::uint64_t* slice_counts,
                                           std::uint32_t slice_count,
                                           const MergeScratch<Key>& scratch,
                                           const KernelTuning& tuning, KeyMap<Key> load_map,
                                           KeyMap<Key> store_map) {
  const MergeShape shape = merge_shape_of(slice_count, tuning);
  const std::uint64_t tile_keys = tuning.merge_tile_keys(shape.fan_in);
  MergePasses<Key> all;
  all.numbers.push_back(0);
  for (std::uint32_t i = 0; i < slice_count; ++i) {
    all.numbers.push_back(all.numbers.back() + slice_counts[i]);
  }
  MergePass<Key> pass;
  pass.samples = scratch.samples;
  pass.rows = scratch.rows;
  pass.load_map = load_map;
  pass.store_map = store_map;
  pass.fan_in = shape.fan_in;
  pass.runs.total = all.numbers.back();
  pass.runs.bounds = scratch.tables;
  pass.runs.last_bound = slice_count;
  pass.runs.run_count = slice_count;
  for (unsigned i = 0; i < shape.passes; ++i) {
    const bool last = i + 1 == shape.passes;
    pass.group_count = div_up(pass.runs.run_count, shape.fan_in);
    pass.group_first_row = scratch.tables + all.numbers.size();
    pass.row_count = 0;
    for (std::uint64_t group = 0; group < pass.group_count; ++group) {
      const std::uint64_t slices = pass.runs.stride * shape.fan_in;
      const std::uint64_t first = group * slices;
      const std::uint64_t end = std::min<std::uint64_t>(first + slices, slice_count);
      all.numbers.push_back(pass.row_count);
      pass.row_count += div_up(all.numbers[end] - all.numbers[first], tile_keys) + 1;
    }
    pass.sample_shift = i == 0 ? kReadSampleShift : kWrittenSampleShift<Key>;
    pass.writes_samples = !last;
    pass.maps = last && !store_map.is_identity();
    pass.loads_mapped = i == 0 && !load_map.is_identity();
    all.passes.push_back(pass);
    pass.runs.run_count = pass.group_count;
    pass.runs.stride *= shape.fan_in;
  }
  return all;
}

}  // namespace gsort::gpu
