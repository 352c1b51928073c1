// The bodies of launch_long_sort, launch_listed_sort and launch_long_partition; included by one .cu
// file a key type.
#pragma once

#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/merge/partition_kernel.cuh"
#include "gpu/segmented/long_sort_kernel.cuh"

namespace gsort::gpu {

template <class Key>
void launch_long_sort(const LongSortPass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel = long_sort_kernel<Key, kTuning.block_sort_threads,
                                              kTuning.keys_per_thread, kTuning.resident_threads>;
    constexpr unsigned kBytes =
        TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.block_sort_threads);
    const auto blocks = static_cast<unsigned>(pass.tile_count);
    launch_kernel(kKernel, {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                  "launching long_sort_kernel", pass);
  });
}

template <class Key>
void launch_listed_sort(const LongSortPass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel =
        listed_tile_sort_kernel<Key, kTuning.block_sort_threads, kTuning.keys_per_thread,
                                kTuning.resident_threads>;
    constexpr unsigned kBytes =
        TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.block_sort_threads);
    const unsigned blocks = taking_blocks(pass.tile_count, kTuning.block_sort_threads);
    launch_kernel(kKernel, {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                  "launching listed_tile_sort_kernel", pass);
  });
}

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

}  // namespace gsort::gpu
