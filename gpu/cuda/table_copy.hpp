// Copies a few host numbers to device memory as kernel arguments: nothing to wait for, nothing to
// keep alive.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace gsort::gpu {

// Queues the copy on `stream`. Throws: Error(kDevice) naming the kernel.
void launch_table_copy(const std::uint64_t* values, std::uint64_t count, std::uint64_t* table,
                       unsigned architecture, cudaStream_t stream);

}  // namespace gsort::gpu
