// Launches a kernel whose blocks all run at once, so that they can wait for each other.
#pragma once

#include <string_view>

#include <cuda_runtime.h>

#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/taken_jobs.cuh"

namespace gsort::gpu {

// Waits until all blocks of the grid have called this `times` times; their earlier writes are
// visible then. `arrived` was 0 before the launch. All threads of all blocks call this. Requires: a
// cooperative launch.
__device__ inline void grid_meet(std::uint64_t* arrived, unsigned times) {
  __syncthreads();  // all threads of the block have written
  if (threadIdx.x == 0) {
    __threadfence();
    thread_add(arrived, 1);
    const volatile std::uint64_t* const count = arrived;
    while (*count < std::uint64_t{times} * gridDim.x) __nanosleep(100);
    __threadfence();
  }
  __syncthreads();  // all blocks have arrived
}

struct CooperativeShape {
  unsigned blocks = 0;  // all must fit on the device at once
  unsigned threads = 0;
  unsigned shared_bytes = 0;  // dynamic; small enough to need no attribute
  cudaStream_t stream = nullptr;
};

// Queues kernel(argument). Throws: Error(kDevice) with `operation`.
template <class Argument>
void launch_cooperatively(void (*kernel)(Argument), const CooperativeShape& shape,
                          std::string_view operation, const Argument& argument) {
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  config.attrs = &together;
  config.numAttrs = 1;
  check_cuda(cudaLaunchKernelEx(&config, kernel, argument), CudaCall::kLaunch, operation);
}

}  // namespace gsort::gpu
