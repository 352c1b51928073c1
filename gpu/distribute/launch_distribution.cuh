// The bodies of the launches of launch.hpp, except those that sort tiles; included by one .cu file
// for each key type.
#pragma once

#include <algorithm>

#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/distribute/bin_count_kernel.cuh"
#include "gpu/distribute/bin_table_kernel.cuh"
#include "gpu/distribute/distribution_kernel.cuh"
#include "gpu/distribute/pack_kernel.cuh"

namespace gsort::gpu {

template <class Key>
void launch_sample_keys(const SamplePass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  const std::uint64_t blocks = div_up(std::uint64_t{1} << pass.sample_bits, kSampleThreads);
  launch_kernel(sample_keys_kernel<Key>,
                {static_cast<unsigned>(blocks), kSampleThreads, 0, architecture, stream},
                "launching sample_keys_kernel", pass);
}

template <class Key>
void launch_bin_tables(const TablePass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  const unsigned blocks = pass.second.heads == nullptr ? 1 : pass.first.bins() + 1;
  launch_kernel(bin_table_kernel<Key>, {blocks, kMostBins, 0, architecture, stream},
                "launching bin_table_kernel", pass);
}

template <DistributionStep kStep, bool kKeeps = false, class Key>
void launch_counts(const DistributionPass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  constexpr unsigned kThreads = kDistribution<Key, kStep>.threads;
  launch_kernel(bin_count_kernel<Key, kStep, kKeeps>,
                {taking_blocks(pass.tile_count, kThreads), kThreads, 0, architecture, stream},
                "launching bin_count_kernel", pass);
}

template <class Key>
void launch_bin_counts(const DistributionPass<Key>& pass, unsigned architecture,
                       cudaStream_t stream) {
  launch_counts<DistributionStep::kSecond>(pass, architecture, stream);
}

template <class Key>
void launch_once_counts(const DistributionPass<Key>& pass, unsigned architecture,
                        cudaStream_t stream) {
  if constexpr (sizeof(Key) == 4) {
    if (pass.bins != nullptr) {
      return launch_counts<DistributionStep::kOnce, true>(pass, architecture, stream);
    }
  }
  launch_counts<DistributionStep::kOnce>(pass, architecture, stream);
}

template <class Key>
void launch_bucket_places(const BucketPass& pass, unsigned architecture, cudaStream_t stream) {
  launch_kernel(bucket_place_kernel<Key>, {1, kMostBins, 0, architecture, stream},
                "launching bucket_place_kernel", pass);
}

template <DistributionStep kStep, bool kHasKept = false, class Key>
void launch_distribution(const DistributionPass<Key>& pass, unsigned architecture,
                         cudaStream_t stream) {
  constexpr DistributionTuning kTuning = kDistribution<Key, kStep>;
  // Always set, because the kernel has more static memory than others.
  constexpr unsigned kBytes =
      std::max(kTuning.tile_keys() * unsigned{sizeof(Key)}, kUnaskedSharedBytes + 16);
  const unsigned blocks = taking_blocks(pass.tile_count, kTuning.threads);
  launch_kernel(distribution_kernel<Key, kStep, kHasKept>,
                {blocks, kTuning.threads, kBytes, architecture, stream},
                "launching distribution_kernel", pass);
}

template <class Key>
void launch_first_distribution(const DistributionPass<Key>& pass, unsigned architecture,
                               cudaStream_t stream) {
  launch_distribution<DistributionStep::kFirst>(pass, architecture, stream);
}

template <class Key>
void launch_second_distribution(const DistributionPass<Key>& pass, unsigned architecture,
                                cudaStream_t stream) {
  launch_distribution<DistributionStep::kSecond>(pass, architecture, stream);
}

template <class Key>
void launch_once_distribution(const DistributionPass<Key>& pass, unsigned architecture,
                              cudaStream_t stream) {
  if constexpr (sizeof(Key) == 4) {
    if (pass.bins != nullptr) {
      return launch_distribution<DistributionStep::kOnce, true>(pass, architecture, stream);
    }
  }
  launch_distribution<DistributionStep::kOnce>(pass, architecture, stream);
}

template <class Key>
void launch_pack_bins(const PackPass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  launch_kernel(pack_bins_kernel<Key>, {pass.bucket_count, kMostBins, 0, architecture, stream},
                "launching pack_bins_kernel", pass);
}

}  // namespace gsort::gpu
