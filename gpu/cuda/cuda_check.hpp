// Every build checks gsort's calls of CUDA by this file, except those of destructors, of the search
// for devices, and those made while an error is reported: a failure there is no error, or cannot
// be reported. A failure becomes an Error that names the operation; a sticky error names the
// operation that met it first. Tests make the Nth call of a kind fail, to test its callers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cuda_runtime_api.h>

#include "gpu/cuda/scratch.hpp"

namespace gsort::gpu {

// Kinds of calls, as far as tests want them to fail one by one.
enum class CudaCall : std::uint8_t { kQuery, kMemory, kCopy, kLaunch, kStream, kEvent };
inline constexpr std::size_t kCudaCallKinds = static_cast<std::size_t>(CudaCall::kEvent) + 1;

// The failure planned for this call, or cudaSuccess. Counts it. Thread-safe.
[[nodiscard]] cudaError_t planned_cuda_failure(CudaCall kind);

// As check_cuda(), for the result of try_cuda(): no test plans for it. `ordinal` is the device if
// it is not the calling thread's.
void check_cuda_result(cudaError_t result, std::string_view operation,
                       std::optional<int> ordinal = std::nullopt);

// Throws: DeviceError(kDevice) "OPERATION on device 0 (NAME): the CUDA error's text" unless
// `result` is cudaSuccess; DeviceError(kResource) for a lack of device memory.
void check_cuda(cudaError_t result, CudaCall kind, std::string_view operation);

// For errors: device `ordinal` is called so. Thread-safe.
void remember_device_name(int ordinal, std::string_view name);

// "on device 1 (NVIDIA H100)", as the path of an Error, or without the name if it is not known;
// "on the GPU" where there is no ordinal.
[[nodiscard]] std::string device_words(std::optional<int> ordinal);

// The calling thread's device; none if CUDA does not tell.
[[nodiscard]] std::optional<int> current_ordinal();

// The same for a kernel just launched: asks for the launch's error.
void check_launch(std::string_view operation);

// The result of `call` for check_cuda_result(), or the planned failure in its place: for calls that
// leave something behind when they succeed.
template <class Call>
[[nodiscard]] cudaError_t try_cuda(CudaCall kind, const Call& call) {
  const cudaError_t planned = planned_cuda_failure(kind);
  return planned != cudaSuccess ? planned : call();
}

// A planned failure, for tests.
struct CudaFault {
  CudaCall call = CudaCall::kQuery;
  std::uint64_t nth = 1;  // the first checked call of that kind to fail, counted from 1
  cudaError_t result = cudaErrorUnknown;
  bool from_then_on = false;  // and all calls of any kind after it, as after a kernel that crashed
  std::optional<int> ordinal = std::nullopt;  // of calls on this device alone
};

// Plans it, in place of an earlier one.
void inject_cuda_fault(const CudaFault& fault);
void clear_cuda_fault();
// Whether the call has come.
[[nodiscard]] bool cuda_fault_was_met();

// Argument checks that library calls make before they queue anything. `operation` and `name` go
// into the message. Throws: Error(kUsage).
void require_memory(const void* pointer, std::uint64_t bytes, std::size_t alignment,
                    std::string_view operation, std::string_view name);
void require_apart(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes,
                   std::string_view operation, std::string_view names);
void require_scratch(const ScratchMemory& scratch, std::size_t need_bytes,
                     std::string_view operation);

}  // namespace gsort::gpu
