// Every CUDA call of gsort goes through a check in this file, in every build. A failure becomes an
// Error that names the operation; a sticky error names the operation that met it first. Tests make
// the Nth call of a kind fail, to see what the callers do then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <cuda_runtime_api.h>

namespace gsort::gpu {

// Kinds of calls, as far as tests want them to fail one by one.
enum class CudaCall : std::uint8_t { kQuery, kMemory, kCopy, kLaunch, kStream, kEvent };
inline constexpr std::size_t kCudaCallKinds = 6;

// Throws: Error(kDevice) "OPERATION: the CUDA error's text" unless `result` is cudaSuccess;
// Error(kResource) for a lack of device memory.
void check_cuda(cudaError_t result, CudaCall kind, std::string_view operation);

// The same for a kernel just launched: asks for the launch's error.
void check_launch(std::string_view operation);

// Makes the nth next checked call of `kind` (1 is the very next) report `result`; 0 takes that
// back. For tests only. Thread-safe.
void fail_cuda_call(CudaCall kind, std::uint64_t nth, cudaError_t result);

// Argument checks that library calls make before they queue anything. `operation` and `name` go
// into the message. Throws: Error(kUsage).
void require_memory(const void* pointer, std::uint64_t bytes, std::size_t alignment,
                    std::string_view operation, std::string_view name);
void require_apart(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes,
                   std::string_view operation, std::string_view names);
void require_scratch(std::size_t have_bytes, std::size_t need_bytes, std::string_view operation);

// The same for a call that reads `bytes` of input and writes as many of output, in place or apart,
// with scratch memory apart from both.
struct SortMemory {
  const void* input = nullptr;
  const void* output = nullptr;
  std::uint64_t bytes = 0;
  std::size_t alignment = 1;
  const void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  std::size_t scratch_needed = 0;
};
void require_sort_memory(const SortMemory& memory, std::string_view operation);

}  // namespace gsort::gpu
