// listed_merge_kernel: kway_merge_kernel for a pass over arrays of which only the device knows how
// many there are (long_arrays.hpp).
//
// Threads: a block merges the tiles between rows of cuts that it takes (taken_jobs.cuh), each as
// kway_merge_kernel does; what that says of memory holds here, too.
#pragma once

#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/merge/kway_merge_kernel.cuh"
#include "gpu/segmented/batch_tile.cuh"
#include "gpu/segmented/launch.hpp"

namespace gsort::gpu {

template <class Key, unsigned kThreads, unsigned kRowWords, unsigned kFanIn,
          unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    listed_merge_kernel(const __grid_constant__ LongMergePass<Key> pass) {
  grid_begin();
  block_take_jobs(pass.arrays.listed_rows(), &pass.arrays.counts->taken_rows[pass.pass],
                  [&](std::uint64_t row) {
                    block_merge_tile<WrittenCuts, kThreads, kRowWords, kFanIn, false>(pass.merge,
                                                                                      row);
                  });
}

// The last pass over long arrays of pairs, listed or of one length: stores the pairs of its words.
template <unsigned kThreads, unsigned kRowWords, unsigned kFanIn, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    last_pair_merge_kernel(const __grid_constant__ LongMergePass<PairEnds::Word> pass,
                           const __grid_constant__ PairEnds ends) {
  using Tile = TileWords<PairEnds::Word, kRowWords>;
  grid_begin();
  const auto merge = [&](std::uint64_t row) {
    block_merge_tile<WrittenCuts, kThreads, kRowWords, kFanIn, false>(
        pass.merge, row, [&](Tile tile, const TilePlace& place, unsigned count) {
          warp_store_array(tile, ends, place.output, count);
        });
  };
  if (pass.arrays.counts == nullptr) return merge(blockIdx.x);
  block_take_jobs(pass.arrays.listed_rows(), &pass.arrays.counts->taken_rows[pass.pass], merge);
}

}  // namespace gsort::gpu
