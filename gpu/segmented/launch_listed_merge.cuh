// The bodies of launch_long_partition, launch_listed_merge and launch_long_merges; a .cu file per
// key type includes it.
#pragma once

#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/segmented/listed_merge_kernel.cuh"
#include "gpu/segmented/long_merges_kernel.cuh"
#include "gpu/segmented/long_partition_kernel.cuh"

namespace gsort::gpu {

template <class Element, class Key>
void launch_long_partition(const LongMergePass<Key>& pass, unsigned architecture,
                           cudaStream_t stream) {
  with_tuning<Element>(architecture, [&](auto constant) {
    with_fan_in(pass.merge.fan_in, [&](auto fan_in) {
      constexpr unsigned kFanIn = decltype(fan_in)::value;
      constexpr unsigned kTileKeys = decltype(constant)::kTuning.merge_tile_keys(kFanIn);
      // For listed arrays row_count is a bound: blocks go on to further rows, if there are any.
      const std::uint64_t most = div_up(pass.merge.row_count * kFanIn, kPartitionThreads);
      const unsigned blocks = pass.arrays.counts == nullptr
                                  ? static_cast<unsigned>(most)
                                  : taking_blocks(most, kPartitionThreads);
      launch_kernel(long_partition_kernel<Key, kTileKeys, kFanIn>,
                    {.blocks = blocks,
                     .threads = kPartitionThreads,
                     .architecture = architecture,
                     .stream = stream,
                     .starts_alone = true},
                    "launching long_partition_kernel", pass);
    });
  });
}

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

template <class Key>
void launch_long_merges(const LongMergesPass<Key>& pass, unsigned architecture,
                        cudaStream_t stream) {
  if (pass.first.passes.pass_count == 0) return;
  with_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr unsigned kBytes =
        TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.merge_threads);
    static_assert(kBytes <= kUnaskedSharedBytes);
    launch_cooperatively(
        long_merges_kernel<Key, kTuning.merge_threads, kTuning.keys_per_thread>,
        {kLongMergeBlocks * multiprocessors(), kTuning.merge_threads, kBytes, stream},
        "launching long_merges_kernel", pass);
  });
}

}  // namespace gsort::gpu
