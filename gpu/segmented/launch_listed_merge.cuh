// The body of launch_listed_merge; included by one .cu file a key type.
#pragma once

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/segmented/listed_merge_kernel.cuh"

namespace gsort::gpu {

template <class Key>
void launch_listed_merge(const LongMergePass<Key>& pass, unsigned architecture,
                         cudaStream_t stream) {
  with_tuning<Key>(architecture, [&](auto constant) {
    with_fan_in(pass.merge.fan_in, [&](auto fan_in) {
      constexpr KernelTuning kTuning = decltype(constant)::kTuning;
      constexpr auto kKernel =
          listed_merge_kernel<Key, kTuning.merge_threads, kTuning.keys_per_thread,
                              decltype(fan_in)::value, kTuning.resident_threads>;
      constexpr unsigned kBytes =
          TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.merge_threads);
      const unsigned blocks = taking_blocks(pass.merge.row_count, kTuning.merge_threads);
      launch_kernel(kKernel, {blocks, kTuning.merge_threads, kBytes, architecture, stream},
                    "launching listed_merge_kernel", pass);
    });
  });
}

}  // namespace gsort::gpu
