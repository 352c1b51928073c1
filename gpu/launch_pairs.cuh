// The bodies of launch_pair_sort, launch_pair_partition and launch_pair_merge; included by one .cu
// file a type of pairs.
#pragma once

#include "base/units.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/launch.hpp"
#include "gpu/launch_kway_merge.cuh"
#include "gpu/pair_merge_kernel.cuh"
#include "gpu/pair_sort_kernel.cuh"
#include "gpu/with_tuning.hpp"

namespace gsort::gpu {

template <class Key, class Value>
void launch_pair_sort(const PairSortPass<Key, Value>& pass, unsigned architecture,
                      cudaStream_t stream) {
  with_tuning<PairOf<Key, Value>>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel = pair_sort_kernel<Key, Value, kTuning.block_sort_threads,
                                              kTuning.keys_per_thread, kTuning.resident_threads>;
    constexpr unsigned kBytes =
        PairTile<Key, Value, kTuning.block_sort_threads, kTuning.keys_per_thread>::kBytes;
    check_cuda(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
               CudaCall::kLaunch, "reserving shared memory for pair_sort_kernel");
    const auto blocks = static_cast<unsigned>(div_up(pass.keys.count, kTuning.block_sort_keys()));
    kKernel<<<blocks, kTuning.block_sort_threads, kBytes, stream>>>(pass);
    check_launch("launching pair_sort_kernel");
  });
}

template <class Key, class Value>
void launch_pair_partition(const PairMergePass<Key, Value>& pass, unsigned architecture,
                           cudaStream_t stream) {
  launch_partition_for<PairOf<Key, Value>>(pass.keys, architecture, stream);
}

template <class Key, class Value>
void launch_pair_merge(const PairMergePass<Key, Value>& pass, unsigned architecture,
                       cudaStream_t stream) {
  with_tuning<PairOf<Key, Value>>(architecture, [&](auto constant) {
    with_fan_in(pass.keys.fan_in, [&](auto fan_in) {
      constexpr KernelTuning kTuning = decltype(constant)::kTuning;
      constexpr auto kKernel =
          pair_merge_kernel<Key, Value, kTuning.merge_threads, kTuning.keys_per_thread,
                            decltype(fan_in)::value, kTuning.resident_threads>;
      constexpr unsigned kBytes =
          PairTile<Key, Value, kTuning.merge_threads, kTuning.keys_per_thread>::kBytes;
      check_cuda(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
                 CudaCall::kLaunch, "reserving shared memory for pair_merge_kernel");
      const auto blocks = static_cast<unsigned>(pass.keys.row_count);
      kKernel<<<blocks, kTuning.merge_threads, kBytes, stream>>>(pass);
      check_launch("launching pair_merge_kernel");
    });
  });
}

}  // namespace gsort::gpu
