// Which passes a sort makes: how many runs the block sort leaves, and how many runs each merge pass
// joins. Host code, no CUDA; shared by device_sort.cpp and device_batch.cpp.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "gpu/long_arrays.hpp"
#include "gpu/tuning.hpp"

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

// How many rows of cuts a whole group needs in the pass that merges runs of run_length.
[[nodiscard]] inline std::uint64_t rows_of_group(std::uint64_t run_length, std::uint32_t fan_in,
                                                 const KernelTuning& tuning) {
  return div_up(run_length * fan_in, tuning.merge_tile_keys(fan_in)) + 1;
}

// The same passes as kernels see them.
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
