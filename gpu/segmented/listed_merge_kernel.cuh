// listed_merge_kernel: kway_merge_kernel for a pass over arrays of which only the device knows how
// many there are (long_arrays.hpp).
//
// Threads: a block merges the tiles between rows of cuts that it takes (taken_jobs.cuh), each as
// kway_merge_kernel does; what that says of memory holds here, too.
#pragma once

#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/merge/kway_merge_kernel.cuh"
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

}  // namespace gsort::gpu
