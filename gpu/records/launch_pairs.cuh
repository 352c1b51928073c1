// The bodies of the launches for pairs; included by one .cu file a type of pairs.
#pragma once

#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/records/launch.hpp"
#include "gpu/records/pair_merge_kernel.cuh"
#include "gpu/records/pair_sort_kernel.cuh"

namespace gsort::gpu {

template <class Key, class Value>
void launch_pair_sort(const PairSortPass<Key, Value>& pass, unsigned architecture,
                      cudaStream_t stream) {
  with_tuning<PairOf<Key, Value>>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr unsigned kBytes =
        kPairTileBytes<Key, Value, kTuning.block_sort_threads, kTuning.keys_per_thread>;
    const auto blocks = static_cast<unsigned>(div_up(pass.keys.count, kTuning.block_sort_keys()));
    launch_kernel(pair_sort_kernel<Key, Value, kTuning.block_sort_threads, kTuning.keys_per_thread,
                                   kTuning.resident_threads>,
                  {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                  "launching pair_sort_kernel", pass);
  });
}

template <class Key, class Value, unsigned kFanIn, class Cuts, KernelTuning kTuning>
void launch_pair_merge_as(const PairMergePass<Key, Value>& pass, std::uint64_t blocks,
                          unsigned architecture, cudaStream_t stream) {
  static_assert(kTuning.two_way_threads == kTuning.merge_threads);  // one kernel for two runs
  constexpr unsigned kBytes =
      kPairTileBytes<Key, Value, kTuning.merge_threads, kTuning.keys_per_thread>;
  constexpr unsigned kRowWords = kTuning.keys_per_thread;
  constexpr unsigned kResident = kTuning.resident_threads;
  launch_kernel(
      pass.keys.loads_mapped ? pair_merge_kernel<Key, Value, kTuning.merge_threads, kRowWords,
                                                 kFanIn, kResident, Cuts, true>
                             : pair_merge_kernel<Key, Value, kTuning.merge_threads, kRowWords,
                                                 kFanIn, kResident, Cuts, false>,
      {static_cast<unsigned>(blocks), kTuning.merge_threads, kBytes, architecture, stream},
      "launching pair_merge_kernel", pass);
}

template <class Key, class Value>
void launch_pair_merge(const PairMergePass<Key, Value>& pass, unsigned architecture,
                       cudaStream_t stream) {
  with_tuning<PairOf<Key, Value>>(architecture, [&](auto constant) {
    with_fan_in(pass.keys.fan_in, [&](auto fan_in) {
      launch_pair_merge_as<Key, Value, decltype(fan_in)::value, WrittenCuts,
                           decltype(constant)::kTuning>(pass, pass.keys.row_count, architecture,
                                                        stream);
    });
  });
}

template <class Key, class Value>
void launch_small_pair_merge(const PairMergePass<Key, Value>& pass, unsigned architecture,
                             cudaStream_t stream) {
  with_tuning<PairOf<Key, Value>>(architecture, [&](auto constant) {
    launch_pair_merge_as<Key, Value, 2, SearchedCuts<32>, decltype(constant)::kTuning>(
        pass, pass.keys.rows_per_group, architecture, stream);
  });
}

}  // namespace gsort::gpu
