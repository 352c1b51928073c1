// The shape of a sort on the device: which passes of merging join the block sort's runs. The same
// for keys, for pairs and for batches; what a pass is, merge_pass.hpp says. Host code.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/merge/merge_pass.hpp"
#include "gpu/sort/long_arrays.hpp"

namespace gsort::gpu {

// The passes of one sort: fan_ins[i] runs become one in pass i.
struct SortShape {
  std::uint64_t run_length = 0;
  std::uint64_t run_count = 0;
  std::vector<std::uint32_t> fan_ins;
};

// As few passes as max_fan_in allows, and of these the ones with the least fan-in first: they cost
// less.
[[nodiscard]] inline SortShape shape_of(std::uint64_t count, const KernelTuning& tuning) {
  SortShape shape;
  shape.run_length = tuning.block_sort_keys();
  shape.run_count = div_up(count, shape.run_length);
  unsigned levels = 0;
  while ((std::uint64_t{1} << levels) < shape.run_count) ++levels;
  unsigned levels_a_pass = 1;
  while ((2U << levels_a_pass) <= tuning.max_fan_in) ++levels_a_pass;
  for (unsigned left = levels, passes = (levels + levels_a_pass - 1) / levels_a_pass; passes > 0;
       --passes) {
    const unsigned now = left / passes;
    shape.fan_ins.push_back(1U << now);
    left -= now;
  }
  return shape;
}

// How many rows of cuts each group of the pass needs that merges runs of run_length.
[[nodiscard]] inline std::uint64_t rows_of_group(std::uint64_t run_length, std::uint32_t fan_in,
                                                 const KernelTuning& tuning) {
  return div_up(run_length * fan_in, tuning.merge_tile_keys(fan_in)) + 1;
}

// The most numbers that the rows of cuts of a pass take, if its last group is a whole one: so they
// grow with the count, whatever its passes.
[[nodiscard]] inline std::uint64_t row_numbers(std::uint64_t count, const SortShape& shape,
                                               const KernelTuning& tuning) {
  std::uint64_t most = 0;
  std::uint64_t run_length = shape.run_length;
  for (const std::uint32_t fan_in : shape.fan_ins) {
    const std::uint64_t groups = div_up(count, run_length * fan_in);
    const std::uint64_t rows = groups * rows_of_group(run_length, fan_in, tuning);
    most = std::max(most, rows * (kRowHeader + fan_in));
    run_length *= fan_in;
  }
  return most;
}

// Device memory that all passes of a sort share.
template <class Key>
struct SortScratch {
  Key* samples = nullptr;
  std::uint64_t* rows = nullptr;
};

// The passes after the block sort, but for input and output: the caller's arrays take turns.
template <class Key>
[[nodiscard]] std::vector<MergePass<Key>> sort_passes(std::uint64_t count, const SortShape& shape,
                                                      const KernelTuning& tuning,
                                                      const SortScratch<Key>& scratch,
                                                      KeyMap<Key> store_map) {
  std::vector<MergePass<Key>> passes;
  std::uint64_t run_length = shape.run_length;
  for (const std::uint32_t fan_in : shape.fan_ins) {
    const bool last = passes.size() + 1 == shape.fan_ins.size();
    MergePass<Key> pass;
    pass.samples = scratch.samples;
    pass.sample_shift = kWrittenSampleShift<Key>;
    pass.writes_samples = !last;
    pass.maps = last && !store_map.is_identity();
    pass.store_map = store_map;
    pass.fan_in = fan_in;
    pass.runs.total = count;
    pass.runs.run_count = div_up(count, run_length);
    pass.runs.run_length = run_length;
    pass.group_count = div_up(count, run_length * fan_in);
    pass.rows_per_group = rows_of_group(run_length, fan_in, tuning);
    // The last group may be short: most of its rows would be empty just above a power of two.
    const std::uint64_t last_length = count - (pass.group_count - 1) * run_length * fan_in;
    pass.row_count = (pass.group_count - 1) * pass.rows_per_group +
                     div_up(last_length, tuning.merge_tile_keys(fan_in)) + 1;
    pass.rows = scratch.rows;
    passes.push_back(pass);
    run_length *= fan_in;
  }
  return passes;
}

// The passes as the kernels of batches see them.
[[nodiscard]] inline LongPasses long_passes_of(const SortShape& shape) {
  LongPasses passes;
  passes.tile_keys = static_cast<unsigned>(shape.run_length);
  passes.pass_count = static_cast<unsigned>(shape.fan_ins.size());
  for (unsigned i = passes.pass_count; i > 0; --i) {
    const auto levels = static_cast<unsigned>(std::countr_zero(shape.fan_ins[i - 1]));
    passes.levels_from[i - 1] = passes.levels_from[i] + levels;
  }
  return passes;
}

}  // namespace gsort::gpu
