// The bodies of the launches of pairs in launch.hpp; included by one .cu file a type of pairs.
#pragma once

#include <algorithm>

#include "gpu/cuda/with_tuning.hpp"
#include "gpu/distribute/cell_pair_sort_kernel.cuh"
#include "gpu/distribute/launch_distribution.cuh"
#include "gpu/distribute/packed_pair_sort_kernel.cuh"
#include "gpu/distribute/pair_distribution_kernel.cuh"

namespace gsort::gpu {

template <class Key, class Value>
void launch_pair_counts(const PairDistributionPass<Key, Value>& pass, unsigned architecture,
                        cudaStream_t stream) {
  constexpr unsigned kThreads = kPairDistribution<Key, Value>.threads;
  launch_kernel(pair_count_kernel<Key, Value>,
                {taking_blocks(pass.keys.tile_count, kThreads), kThreads, 0, architecture, stream},
                "launching pair_count_kernel", pass);
  // Few buckets have many pieces each, and so many threads for a bin.
  const unsigned bins = pass.keys.tables.bins();
  const unsigned strip_bins = pass.keys.bucket_count == 1 ? std::min(bins, 32U) : bins;
  launch_kernel(
      piece_sum_kernel<Key, Value>,
      {pass.keys.bucket_count * (bins / strip_bins), kPieceSumThreads, 0, architecture, stream},
      "launching piece_sum_kernel", pass, strip_bins);
}

template <class Key, class Value>
void launch_pair_distribution(const PairDistributionPass<Key, Value>& pass, unsigned architecture,
                              cudaStream_t stream) {
  constexpr DistributionTuning kTuning = kPairDistribution<Key, Value>;
  constexpr unsigned kBytes = kPairStageBytes<Key, Value>;
  launch_kernel(pair_distribution_kernel<Key, Value>,
                {taking_blocks(pass.keys.tile_count, kTuning.threads), kTuning.threads, kBytes,
                 architecture, stream},
                "launching pair_distribution_kernel", pass);
}

template <class Key, class Value>
void launch_cell_pair_sort(const PackedPairSortPass<Key, Value>& pass, unsigned architecture,
                           cudaStream_t stream) {
  constexpr CellSortTuning kTuning = kCellPairSort<Key, Value>;
  constexpr unsigned kBytes =
      CellPairStage<Key, Value, kTuning.tile_keys()>::kBytes + kTuning.cell_bytes();
  const unsigned blocks = taking_blocks(pass.buckets.keys.tile_count, kTuning.threads);
  launch_kernel(cell_pair_sort_kernel<Key, Value>,
                {blocks, kTuning.threads, kBytes, architecture, stream},
                "launching cell_pair_sort_kernel", pass);
}

template <class Key, class Value>
void launch_packed_pair_sort(const PackedPairSortPass<Key, Value>& pass, unsigned architecture,
                             cudaStream_t stream) {
  with_tuning<PairOf<Key, Value>>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel =
        packed_pair_sort_kernel<Key, Value, kTuning.block_sort_threads, kTuning.keys_per_thread,
                                kTuning.resident_threads>;
    constexpr unsigned kBytes =
        kPairTileBytes<Key, Value, kTuning.block_sort_threads, kTuning.keys_per_thread>;
    const unsigned blocks = taking_blocks(pass.buckets.keys.tile_count, kTuning.block_sort_threads);
    launch_kernel(kKernel, {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                  "launching packed_pair_sort_kernel", pass);
  });
}

template <class Key, class Value>
void launch_listed_pair_merge(const ListedPairMergePass<Key, Value>& pass, unsigned architecture,
                              cudaStream_t stream) {
  with_tuning<PairOf<Key, Value>>(architecture, [&](auto constant) {
    with_fan_in(pass.merge.keys.fan_in, [&](auto fan_in) {
      constexpr KernelTuning kTuning = decltype(constant)::kTuning;
      constexpr auto kKernel =
          listed_pair_merge_kernel<Key, Value, kTuning.merge_threads, kTuning.keys_per_thread,
                                   decltype(fan_in)::value, kTuning.resident_threads>;
      constexpr unsigned kBytes =
          kPairTileBytes<Key, Value, kTuning.merge_threads, kTuning.keys_per_thread>;
      const unsigned blocks = taking_blocks(pass.merge.keys.row_count, kTuning.merge_threads);
      launch_kernel(kKernel, {blocks, kTuning.merge_threads, kBytes, architecture, stream},
                    "launching listed_pair_merge_kernel", pass);
    });
  });
}

}  // namespace gsort::gpu
