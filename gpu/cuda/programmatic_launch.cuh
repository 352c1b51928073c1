// Launching kernels so that one starts up while its predecessor on the stream still ends, where
// that pays (launch_overlap.hpp). Every kernel launched so calls grid_begin() first: before it
// returns, nothing of the predecessors may be read and nothing that they read may be written. As
// every kernel waits, waiting for the last one is waiting for all.
#pragma once

#include <string_view>

#include <cuda_runtime.h>

#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/launch_overlap.hpp"

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
  bool starts_alone = false;  // launch_overlap.hpp
};

// A block has 48 KB of shared memory, static memory included; more must be asked for, kernel by
// kernel. Kernels with no more dynamic memory than this have less than 8 KB of static memory.
inline constexpr unsigned kUnaskedSharedBytes = 40U << 10;

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
  const OverlapQuestion question{shape.architecture, compiled_architecture(), shape.blocks,
                                 shape.starts_alone};
  config.numAttrs = may_overlap(question) ? 1 : 0;
  check_cuda(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
             CudaCall::kLaunch, operation);
}

}  // namespace gsort::gpu
