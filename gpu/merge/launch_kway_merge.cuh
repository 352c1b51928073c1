// The bodies of the launches that merge tiles; included by one .cu file a key type.
#pragma once

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/merge/kway_merge_kernel.cuh"
#include "gpu/merge/launch.hpp"

namespace gsort::gpu {

// The kernel for keys that are ordered already, or that the pass has to map.
template <class Key, KernelTuning kTuning, unsigned kThreads, unsigned kFanIn, class Cuts>
auto kway_merge_kernel_for(const MergePass<Key>& pass) {
  constexpr unsigned kRowWords = kTuning.keys_per_thread;
  constexpr unsigned kResident = kTuning.resident_threads;
  if constexpr (kMapsLoads<Key>) {
    if (pass.loads_mapped) {
      return kway_merge_kernel<Key, kThreads, kRowWords, kFanIn, kResident, Cuts, true>;
    }
  }
  return kway_merge_kernel<Key, kThreads, kRowWords, kFanIn, kResident, Cuts, false>;
}

template <class Key>
void launch_kway_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_tuning<Key>(architecture, [&](auto constant) {
    with_fan_in(pass.fan_in, [&](auto fan_in) {
      constexpr KernelTuning kTuning = decltype(constant)::kTuning;
      const auto kernel = kway_merge_kernel_for<Key, kTuning, kTuning.merge_threads,
                                                decltype(fan_in)::value, WrittenCuts>(pass);
      constexpr unsigned kBytes =
          TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.merge_threads);
      const auto blocks = static_cast<unsigned>(pass.row_count);
      launch_kernel(kernel, {blocks, kTuning.merge_threads, kBytes, architecture, stream},
                    "launching kway_merge_kernel", pass);
    });
  });
}

template <class Key>
void launch_two_way_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr unsigned kThreads = kTuning.two_way_threads;
    constexpr unsigned kBytes = TileWords<Key, kTuning.keys_per_thread>::bytes(kThreads);
    launch_kernel(kway_merge_kernel_for<Key, kTuning, kThreads, 2, WrittenCuts>(pass),
                  {static_cast<unsigned>(pass.row_count), kThreads, kBytes, architecture, stream},
                  "launching kway_merge_kernel", pass);
  });
}

template <class Key>
void launch_small_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_small_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    const auto kernel =
        kway_merge_kernel_for<Key, kTuning, kTuning.merge_threads, 2, SearchedCuts<32>>(pass);
    constexpr unsigned kBytes =
        TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.merge_threads);
    const auto blocks = static_cast<unsigned>(pass.group_count * pass.rows_per_group);
    launch_kernel(kernel, {blocks, kTuning.merge_threads, kBytes, architecture, stream},
                  "launching kway_merge_kernel", pass);
  });
}

}  // namespace gsort::gpu
