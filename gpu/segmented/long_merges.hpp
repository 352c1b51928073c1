// The merge passes that join the sorted tiles of long arrays: their memory and their launches.
// long_arrays.hpp says what a pass does. Host code.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/merge/launch.hpp"
#include "gpu/segmented/launch.hpp"

namespace gsort::gpu {

// The needs of the merge passes of long arrays: none if no array is longer than a tile.
struct LongNeeds {
  std::uint64_t keys = 0;   // of the second buffer
  std::uint64_t tiles = 0;  // with room for samples
  std::uint64_t row_numbers = 0;
};

template <class Key>
struct LongScratch {
  Key* buffer = nullptr;
  Key* samples = nullptr;
  std::uint64_t* rows = nullptr;

  LongScratch(ScratchCutter& cutter, const LongNeeds& needs, const KernelTuning& tuning)
      : buffer(cutter.take<Key>(needs.keys)),
        samples(
            cutter.take<Key>(needs.tiles * (tuning.block_sort_keys() >> kWrittenSampleShift<Key>))),
        rows(cutter.take<std::uint64_t>(needs.row_numbers)) {}
};

template <class Key>
[[nodiscard]] LongMergesPass<Key> long_merges_of(LongMergePass<Key> pass,
                                                 const LongSortPass<Key>& tiles,
                                                 const LongScratch<Key>& arrays) {
  pass.passes = tiles.passes;
  pass.merge.samples = arrays.samples;
  pass.merge.sample_shift = kWrittenSampleShift<Key>;
  pass.merge.rows = arrays.rows;
  pass.merge.store_map = tiles.maps.store_map;
  return {pass, {tiles.after_even_passes, tiles.after_odd_passes, tiles.maps.stores_mapped}};
}

// The merge passes over long arrays: queue_pass(pass, to_output) queues each. rows_of_pass(arrays,
// i, fan_in) sets what pass i needs in its arrays and returns its rows of cuts.
template <class Key, class RowsOfPass, class QueuePass>
void for_each_long_pass(const LongMergePass<Key>& first, const LongSortPass<Key>& tiles,
                        const LongScratch<Key>& arrays, const RowsOfPass& rows_of_pass,
                        const QueuePass& queue_pass) {
  auto [pass, buffers] = long_merges_of(first, tiles, arrays);
  for (unsigned i = 0; i < pass.passes.pass_count; ++i) {
    set_long_pass(pass, i, buffers);
    pass.merge.row_count = rows_of_pass(pass.arrays, i, pass.merge.fan_in);
    queue_pass(pass, pass.merge.output == buffers.after_even_passes);
  }
}

}  // namespace gsort::gpu
