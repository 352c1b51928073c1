// The bodies of launch_block_sort and launch_small_block_sort; included by one .cu file a key type.
#pragma once

#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/sort/block_sort_kernel.cuh"
#include "gpu/sort/launch.hpp"

namespace gsort::gpu {

template <class Key, KernelTuning kTuning>
void launch_block_sort_as(const BlockSortPass<Key>& pass, unsigned architecture,
                          cudaStream_t stream) {
  constexpr unsigned kBytes =
      TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.block_sort_threads);
  const auto blocks = static_cast<unsigned>(div_up(pass.count, kTuning.block_sort_keys()));
  launch_kernel(block_sort_kernel<Key, kTuning.block_sort_threads, kTuning.keys_per_thread,
                                  kTuning.resident_threads>,
                {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                "launching block_sort_kernel", pass);
}

template <class Key>
void launch_block_sort(const BlockSortPass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_tuning<Key>(architecture, [&](auto constant) {
    launch_block_sort_as<Key, decltype(constant)::kTuning>(pass, architecture, stream);
  });
}

template <class Key>
void launch_small_block_sort(const BlockSortPass<Key>& pass, unsigned architecture,
                             cudaStream_t stream) {
  with_small_tuning<Key>(architecture, [&](auto constant) {
    launch_block_sort_as<Key, decltype(constant)::kTuning>(pass, architecture, stream);
  });
}

}  // namespace gsort::gpu
