// See table_copy.hpp. Arguments of a kernel are copied when it is launched, so the host's numbers
// may go. The kernel is also the one that is asked what the device's code was compiled for.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/table_copy.hpp"

namespace gsort::gpu {

inline constexpr unsigned kTableChunk = 256;  // numbers that one launch passes as arguments

struct TableChunk {
  std::uint64_t values[kTableChunk];
};

__global__ void __launch_bounds__(kTableChunk)
    table_kernel(const TableChunk chunk, unsigned count, std::uint64_t* table) {
  grid_begin();
  if (threadIdx.x < count) table[threadIdx.x] = chunk.values[threadIdx.x];
}

void launch_table_copy(const std::uint64_t* values, std::uint64_t count, std::uint64_t* table,
                       unsigned architecture, cudaStream_t stream) {
  for (std::uint64_t done = 0; done < count; done += kTableChunk) {
    TableChunk chunk;
    const auto size = static_cast<unsigned>(std::min<std::uint64_t>(count - done, kTableChunk));
    std::copy_n(values + done, size, chunk.values);
    launch_kernel(table_kernel, {1, kTableChunk, 0, architecture, stream}, "launching table_kernel",
                  chunk, size, table + done);
  }
}

namespace {

unsigned attribute_of_current(cudaDeviceAttr attribute, std::string_view operation) {
  int device = 0;
  int value = 0;
  check_cuda(cudaGetDevice(&device), CudaCall::kQuery, "asking for the current GPU");
  check_cuda(cudaDeviceGetAttribute(&value, attribute, device), CudaCall::kQuery, operation);
  return static_cast<unsigned>(value);
}

}  // namespace

unsigned current_architecture() {
  constexpr const char* kOperation = "asking for the GPU's compute capability";
  return 10 * attribute_of_current(cudaDevAttrComputeCapabilityMajor, kOperation) +
         attribute_of_current(cudaDevAttrComputeCapabilityMinor, kOperation);
}

unsigned multiprocessors() {
  return attribute_of_current(cudaDevAttrMultiProcessorCount, "asking for the GPU's size");
}

unsigned resident_threads() {
  return multiprocessors() *
         attribute_of_current(cudaDevAttrMaxThreadsPerMultiProcessor, "asking for the GPU's size");
}

unsigned shared_bytes_of_block() {
  return attribute_of_current(cudaDevAttrMaxSharedMemoryPerBlockOptin,
                              "asking for the GPU's shared memory");
}

unsigned compiled_architecture() {
  constexpr std::size_t kRememberedDevices = 64;  // others are asked again
  static std::array<std::atomic<unsigned>, kRememberedDevices> remembered{};
  int device = 0;
  check_cuda(cudaGetDevice(&device), CudaCall::kQuery, "asking for the current GPU");
  const auto place = static_cast<std::size_t>(device);
  if (place < kRememberedDevices) {
    const unsigned known = remembered[place].load(std::memory_order_relaxed);
    if (known != 0) return known;
  }
  cudaFuncAttributes code{};
  check_cuda(cudaFuncGetAttributes(&code, table_kernel), CudaCall::kQuery,
             "asking what GPU the kernels were compiled for");
  const auto found = static_cast<unsigned>(code.ptxVersion);
  if (place < kRememberedDevices) remembered[place].store(found, std::memory_order_relaxed);
  return found;
}

}  // namespace gsort::gpu
