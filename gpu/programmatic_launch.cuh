// Launching kernels so that one starts up while its predecessor on the stream still ends
// (programmatic dependent launch, from sm_90 on, by code that was compiled for it; elsewhere an
// ordinary launch). Every kernel
// launched so calls grid_begin() first: before it returns, nothing of the predecessors may be read
// and nothing that they read may be written. As every kernel waits, waiting for the last one is
// waiting for all.
//
// What it gains: two to three microseconds a kernel, which is half the time of sorts of up to 2^18
// keys, and 1 to 2% of that of 2^24 to 2^27.
#pragma once

#include <string_view>

#include <cuda_runtime.h>

#include "gpu/cuda_check.hpp"
#include "gpu/launch.hpp"

namespace gsort::gpu {

// Waits until all earlier kernels of the stream are done, their writes visible. The successor may
// take the places on the multiprocessors that this kernel leaves free.
__device__ inline void grid_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

struct LaunchShape {
  unsigned blocks = 0;
  unsigned threads = 0;
  unsigned shared_bytes = 0;  // dynamic
  unsigned architecture = 0;
  cudaStream_t stream = nullptr;
  // For kernels that live on the L1 cache. A kernel that starts beside blocks of its predecessor
  // keeps their division of a multiprocessor's memory, most of it shared memory: the partitions of
  // a sort then take it 1.4% longer on an H200.
  bool starts_alone = false;
};

// More dynamic shared memory than this must be asked for, kernel by kernel.
inline constexpr unsigned kUnaskedSharedBytes = 48U << 10;

// Larger grids start in the ordinary way: on an H200 the overlap gained nothing for 2^28 keys, and
// made a sort of 2^29 0.5% slower.
inline constexpr unsigned kMostOverlappedBlocks = 100000;

// Queues kernel(arguments...). Throws: Error(kDevice) with `operation`.
template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), const LaunchShape& shape,
                   std::string_view operation, Arguments&&... arguments) {
  if (shape.shared_bytes > kUnaskedSharedBytes) {
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shape.shared_bytes)),
               CudaCall::kLaunch, operation);
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &overlap;
  // grid_begin() waits in code for sm_90 only: older code must not start before its time.
  const bool overlaps = !shape.starts_alone && shape.blocks <= kMostOverlappedBlocks &&
                        shape.architecture >= 90 && compiled_architecture() >= 90;
  config.numAttrs = overlaps ? 1 : 0;
  check_cuda(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
             CudaCall::kLaunch, operation);
}

}  // namespace gsort::gpu
