// Fences of a sorted array in device memory: every `step`th key, so that the host can look for cuts
// without reading the array.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "base/units.hpp"

namespace gsort::gpu {

// Queues fences[i] = keys[i * step] on the stream of the current device, for all
// div_up(count, step) of them. Requires: count > 0. Throws: Error(kDevice) naming the kernel.
template <class Key>
void launch_fences(const Key* keys, std::uint64_t count, std::uint64_t step, Key* fences,
                   cudaStream_t stream);

extern template void launch_fences(const std::uint32_t*, std::uint64_t, std::uint64_t,
                                   std::uint32_t*, cudaStream_t);
extern template void launch_fences(const std::uint64_t*, std::uint64_t, std::uint64_t,
                                   std::uint64_t*, cudaStream_t);

}  // namespace gsort::gpu
