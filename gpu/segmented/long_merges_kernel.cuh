// long_merges_kernel: all merge passes of listed long arrays in one launch. If a sort seldom has a
// long array, two launches for each pass would take most of their time and find no work.
//
// Threads: in each pass, blocks make the rows of cuts (long_partition_kernel.cuh), wait for each
// other, merge the tiles that they take (listed_merge_kernel.cuh), and wait again.
#pragma once

#include <iterator>

#include "gpu/cuda/cooperative_launch.cuh"
#include "gpu/cuda/static_for.hpp"
#include "gpu/segmented/listed_merge_kernel.cuh"
#include "gpu/segmented/long_partition_kernel.cuh"

namespace gsort::gpu {

template <class Key, unsigned kThreads, unsigned kRowWords>
__global__ void __launch_bounds__(kThreads, kLongMergeBlocks)
    long_merges_kernel(const LongMergesPass<Key> all) {
  grid_begin();
  SegmentedCounts& counts = *all.first.arrays.counts;
  if (LongTicket::arrays(counts.long_ticket) == 0) return;
  LongMergePass<Key> pass = all.first;
  unsigned meetings = 0;
#pragma unroll 1
  for (unsigned number = 0; number < pass.passes.pass_count; ++number) {
    set_long_pass(pass, number, all.buffers);
    static_for<std::size(kFanIns)>([&](auto index) {
      constexpr unsigned kFanIn = kFanIns[decltype(index)::value];
      if (pass.merge.fan_in != kFanIn) return;
      const std::uint64_t rows = pass.arrays.listed_rows();
      block_cut_rows<kThreads, merge_tile_keys(kThreads, kRowWords, kFanIn), kFanIn>(pass, rows);
      grid_meet(&counts.met_blocks, ++meetings);
      block_take_jobs(rows, &counts.taken_rows[number], [&](std::uint64_t row) {
        block_merge_tile<WrittenCuts, kThreads, kRowWords, kFanIn, false>(pass.merge, row);
      });
    });
    grid_meet(&counts.met_blocks, ++meetings);
  }
}

}  // namespace gsort::gpu
