// The body of launch_block_sort; included by one .cu file a key type.
#pragma once

#include "base/units.hpp"
#include "gpu/block_sort_kernel.cuh"
#include "gpu/cuda_check.hpp"
#include "gpu/launch.hpp"
#include "gpu/with_tuning.hpp"

namespace gsort::gpu {

template <class Key>
void launch_block_sort(const BlockSortPass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel = block_sort_kernel<Key, kTuning.block_sort_threads,
                                               kTuning.keys_per_thread, kTuning.resident_threads>;
    constexpr unsigned kBytes =
        TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.block_sort_threads);
    check_cuda(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
               CudaCall::kLaunch, "reserving shared memory for block_sort_kernel");
    const auto blocks = static_cast<unsigned>(div_up(pass.count, kTuning.block_sort_keys()));
    kKernel<<<blocks, kTuning.block_sort_threads, kBytes, stream>>>(pass);
    check_launch("launching block_sort_kernel");
  });
}

}  // namespace gsort::gpu
