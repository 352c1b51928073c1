// The part of CUDA that gsort's kernels and their tests use, for a C++ compiler: kernels run on the
// CPU (emulator.hpp). Device memory is memory of the process, and every call is done when it
// returns, unless streams are late (late_streams.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>  // before __noinline__, which the library uses as a name

#include "devices.hpp"
#include "emulator.hpp"

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the names are CUDA's

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// A block at a time runs on a thread of the process, so one variable a thread is one a block.
#define __shared__ thread_local

using emulator::blockDim;
using emulator::blockIdx;
using emulator::gridDim;
using emulator::threadIdx;
using dim3 = emulator::Extent;
using std::max;
using std::min;

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotPermitted = 800,
  cudaErrorUnknown = 999,
};
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrMaxThreadsPerMultiProcessor,
  cudaDevAttrMaxSharedMemoryPerBlockOptin
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaLaunchAttributeID {
  cudaLaunchAttributeProgrammaticStreamSerialization,
  cudaLaunchAttributeCooperative
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1
};
enum { cudaEnableDefault = 0 };
enum cudaMemoryType { cudaMemoryTypeDevice, cudaMemoryTypeManaged };
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CudaEvent*;
using cudaGraph_t = struct CudaGraph*;
using cudaGraphExec_t = struct CudaGraph*;

struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  int major;
  int minor;
};

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
};

struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int programmaticStreamSerializationAllowed;
    int cooperative;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventBlockingSync = 1;
inline constexpr unsigned cudaEventDisableTiming = 2;
inline constexpr unsigned cudaHostRegisterDefault = 0;

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* found);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetPCIBusId(char* address, int bytes, int device);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int /*device*/) {
  static constexpr int kValues[] = {9, 0, emulator::kMultiprocessors, 2048,
                                    static_cast<int>(emulator::kMostSharedBytes)};
  *value = kValues[attribute];
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* memory);
cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream);
cudaError_t cudaMallocHost(void** memory, std::size_t bytes);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);

namespace emulator {
// Sets the result of the next cudaGetLastError(). Returns: the same.
cudaError_t fail(cudaError_t error);
}  // namespace emulator

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* /*kernel*/, cudaFuncAttribute /*attribute*/, int value) {
  return value >= 0 && static_cast<unsigned>(value) <= emulator::kMostSharedBytes
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

struct cudaFuncAttributes {
  int ptxVersion;
};
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* /*kernel*/) {
  attributes->ptxVersion = 90;
  return cudaSuccess;
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  if (config->blockDim.x == 0 || config->blockDim.x > emulator::kMostThreads ||
      config->dynamicSmemBytes > emulator::kMostSharedBytes || config->gridDim.x == 0) {
    return emulator::fail(cudaErrorInvalidConfiguration);
  }
  emulator::require_own(config->stream, "launching a kernel");
  (emulator::require_own_argument(arguments), ...);
  emulator::count_launch();
  // Blocks run one after the other, so only one can wait for all.
  const bool together = config->numAttrs > 0 && config->attrs->id == cudaLaunchAttributeCooperative;
  const emulator::GridShape shape{together ? dim3(1) : config->gridDim, config->blockDim,
                                  config->dynamicSmemBytes};
  emulator::queue(config->stream, [=, ... values = static_cast<Parameters>(arguments)] {
    emulator::run_grid(shape, [&] { kernel(values...); });
  });
  return cudaSuccess;
}

inline void __syncthreads() {
  emulator::wait_for_block(false);
}
inline int __syncthreads_count(int predicate) {
  return static_cast<int>(emulator::wait_for_block(predicate != 0));
}
inline int __syncthreads_or(int predicate) {
  return emulator::wait_for_block(predicate != 0) != 0;
}
inline int __syncthreads_and(int predicate) {
  return emulator::wait_for_block(predicate == 0) == 0;
}
inline void __threadfence() {}
inline void __nanosleep(unsigned /*ns*/) {}
inline void __syncwarp(unsigned mask = ~0U) {
  emulator::exchange(mask, 0);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const auto lanes = static_cast<unsigned>(width);
  const unsigned segment = emulator::lane() / lanes * lanes;
  return emulator::value_of(mask, value, segment + static_cast<unsigned>(source) % lanes);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  const unsigned lane = emulator::lane();
  const unsigned place = lane % static_cast<unsigned>(width);
  return emulator::value_of(mask, value, place >= distance ? lane - distance : lane);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  const unsigned lane = emulator::lane();
  const auto lanes = static_cast<unsigned>(width);
  return emulator::value_of(mask, value, lane % lanes + distance < lanes ? lane + distance : lane);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int distance, int width = 32) {
  const unsigned lane = emulator::lane();
  const auto lanes = static_cast<unsigned>(width);
  const unsigned source = lane ^ static_cast<unsigned>(distance);
  return emulator::value_of(mask, value, source / lanes == lane / lanes ? source : lane);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const auto& values = emulator::exchange(mask, predicate != 0 ? 1 : 0);
  unsigned ballot = 0;
  for (unsigned i = 0; i < 32; ++i) ballot |= (mask >> i & 1U) != 0 && values[i] != 0 ? 1U << i : 0;
  return ballot;
}
inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) == mask;
}
template <class Join>
unsigned emulated_reduce(unsigned mask, unsigned value, const Join& join) {
  const auto& values = emulator::exchange(mask, value);
  for (unsigned i = 0; i < 32; ++i) {
    if ((mask >> i & 1U) != 0 && i != emulator::lane()) {
      value = join(value, static_cast<unsigned>(values[i]));
    }
  }
  return value;
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  return emulated_reduce(mask, value, [](unsigned a, unsigned b) { return std::min(a, b); });
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return emulated_reduce(mask, value, [](unsigned a, unsigned b) { return a + b; });
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return emulated_reduce(mask, value, [](unsigned a, unsigned b) { return a | b; });
}

// Threads of a block take turns, so nothing comes between the steps of these.
template <class T, class Addend>
T atomicAdd(T* number, Addend addend) {
  const T old = *number;
  *number += static_cast<T>(addend);
  return old;
}
template <class T, class Bound>
T atomicMin(T* number, Bound bound) {
  const T old = *number;
  *number = std::min(old, static_cast<T>(bound));
  return old;
}
template <class T>
T atomicMax(T* number, T bound) {
  const T old = *number;
  *number = std::max(old, bound);
  return old;
}
template <class T>
T atomicOr(T* number, T bits) {
  const T old = *number;
  *number |= bits;
  return old;
}
template <class T>
void __stcg(T* to, T value) {
  *to = value;
}
inline int __popc(int bits) {
  return std::popcount(static_cast<unsigned>(bits));
}
inline int __ffs(int bits) {
  return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned>(bits)) + 1;
}
inline int __clz(int bits) {
  return std::countl_zero(static_cast<unsigned>(bits));
}
inline int __clzll(long long bits) {
  return std::countl_zero(static_cast<unsigned long long>(bits));
}

// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
