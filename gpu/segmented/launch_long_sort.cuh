// The bodies of launch_long_sort and launch_listed_sort; included by one .cu file for each type of
// ends.
#pragma once

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/segmented/long_sort_kernel.cuh"

namespace gsort::gpu {

template <class Ends>
void launch_long_sort(const LongTilesPass<Ends>& pass, unsigned architecture, cudaStream_t stream) {
  with_tuning<typename Ends::Word>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel = long_sort_kernel<Ends, kTuning.block_sort_threads,
                                              kTuning.keys_per_thread, kTuning.resident_threads>;
    constexpr unsigned kBytes =
        TileWords<typename Ends::Word, kTuning.keys_per_thread>::bytes(kTuning.block_sort_threads);
    const auto blocks = static_cast<unsigned>(pass.tiles.tile_count);
    launch_kernel(kKernel, {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                  "launching long_sort_kernel", pass);
  });
}

template <class Ends>
void launch_listed_sort(const LongTilesPass<Ends>& pass, unsigned architecture,
                        cudaStream_t stream) {
  with_tuning<typename Ends::Word>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel =
        listed_tile_sort_kernel<Ends, kTuning.block_sort_threads, kTuning.keys_per_thread,
                                kTuning.resident_threads>;
    constexpr unsigned kBytes =
        TileWords<typename Ends::Word, kTuning.keys_per_thread>::bytes(kTuning.block_sort_threads);
    const unsigned blocks = taking_blocks(pass.tiles.tile_count, kTuning.block_sort_threads);
    launch_kernel(kKernel, {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                  "launching listed_tile_sort_kernel", pass);
  });
}

}  // namespace gsort::gpu
