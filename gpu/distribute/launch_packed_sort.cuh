// The bodies of the launches that sort tiles of keys; included by one .cu file for each type.
#pragma once

#include <type_traits>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/distribute/bucket_sort_kernel.cuh"
#include "gpu/distribute/cell_sort_kernel.cuh"
#include "gpu/distribute/packed_sort_kernel.cuh"

namespace gsort::gpu {

template <class Key>
void launch_cell_sort(const PackedSortPass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  constexpr CellSortTuning kTuning = kCellSort<Key>;
  constexpr unsigned kBytes = kTuning.tile_keys() * sizeof(Key) + kTuning.cell_bytes();
  const unsigned blocks = taking_blocks(pass.buckets.tile_count, kTuning.threads);
  launch_kernel(cell_sort_kernel<Key>, {blocks, kTuning.threads, kBytes, architecture, stream},
                "launching cell_sort_kernel", pass);
}

// Calls use(are_large) with a compile-time constant.
template <class Key, class Use>
void with_bucket_size(bool are_large, const Use& use) {
  if constexpr (sizeof(Key) == 4) {
    if (are_large) return use(std::true_type{});
  }
  use(std::false_type{});
}

template <class Key>
void launch_bucket_sort(const BucketSortPass<Key>& pass, unsigned architecture,
                        cudaStream_t stream) {
  with_bucket_size<Key>(pass.are_large, [&](auto are_large) {
    constexpr bool kAreLarge = decltype(are_large)::value;
    constexpr unsigned kThreads = kBucketSort<Key, kAreLarge>.threads;
    launch_kernel(bucket_sort_kernel<Key, kAreLarge>,
                  {taking_blocks(pass.tile_count, kThreads), kThreads,
                   kBucketSortBytes<Key, kAreLarge>, architecture, stream},
                  "launching bucket_sort_kernel", pass);
  });
}

template <class Key>
void launch_bucket_merge(const BucketSortPass<Key>& pass, unsigned architecture,
                         cudaStream_t stream) {
  with_bucket_size<Key>(pass.are_large, [&](auto are_large) {
    constexpr bool kAreLarge = decltype(are_large)::value;
    constexpr unsigned kThreads = kBucketSort<Key, kAreLarge>.threads;
    launch_kernel(bucket_merge_kernel<Key, kAreLarge>,
                  {taking_blocks(pass.tile_count, kThreads), kThreads, 0, architecture, stream},
                  "launching bucket_merge_kernel", pass);
  });
}

template <class Key>
void launch_packed_sort(const PackedSortPass<Key>& pass, unsigned architecture,
                        cudaStream_t stream) {
  with_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel = packed_sort_kernel<Key, kTuning.block_sort_threads,
                                                kTuning.keys_per_thread, kTuning.resident_threads>;
    constexpr unsigned kBytes =
        TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.block_sort_threads);
    const unsigned blocks = taking_blocks(pass.buckets.tile_count, kTuning.block_sort_threads);
    launch_kernel(kKernel, {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                  "launching packed_sort_kernel", pass);
  });
}

}  // namespace gsort::gpu
