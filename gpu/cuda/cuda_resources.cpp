#include "gpu/cuda/cuda_resources.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/device_error.hpp"
#include "base/page.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::gpu {
namespace {

// Calls a function of the driver API, which is not linked. Its errors have the same numbers as
// those of the runtime.
template <class... Arguments>
cudaError_t call_driver(const char* name, Arguments... arguments) {
  constexpr unsigned kVersion = 12'000;  // of the API
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t result =
      cudaGetDriverEntryPointByVersion(name, &function, kVersion, cudaEnableDefault, &found);
  if (result != cudaSuccess) return result;
  if (found != cudaDriverEntryPointSuccess) return cudaErrorUnknown;
  return static_cast<cudaError_t>(reinterpret_cast<int (*)(Arguments...)>(function)(arguments...));
}

}  // namespace

void use_device(int ordinal) {
  const cudaError_t result = cudaSetDevice(ordinal);
  const cudaError_t planned = planned_cuda_failure(CudaCall::kQuery);
  check_cuda_result(planned != cudaSuccess ? planned : result, "selecting the CUDA device",
                    ordinal);
}

void return_to_device(int ordinal) noexcept {
  static_cast<void>(cudaSetDevice(ordinal));
}

CurrentDevice::CurrentDevice(int ordinal) : ordinal_(ordinal) {
  constexpr const char* kOperation = "selecting the CUDA device";
  void* context = nullptr;
  check_cuda_result(
      try_cuda(CudaCall::kQuery,
               [&] { return call_driver("cuDevicePrimaryCtxRetain", &context, ordinal); }),
      kOperation, ordinal);
  const cudaError_t result = call_driver("cuCtxPushCurrent", context);
  if (result != cudaSuccess) {
    static_cast<void>(call_driver("cuDevicePrimaryCtxRelease", ordinal));
    check_cuda_result(result, kOperation, ordinal);
  }
}

CurrentDevice::~CurrentDevice() {
  void* context = nullptr;
  static_cast<void>(call_driver("cuCtxPopCurrent", &context));
  static_cast<void>(call_driver("cuDevicePrimaryCtxRelease", ordinal_));
}

Stream::Stream() {
  check_cuda_result(
      try_cuda(CudaCall::kStream,
               [&] { return cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }),
      "making a CUDA stream");
}

Stream::~Stream() {
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

void Stream::wait(const char* operation) const {
  check_cuda(cudaStreamSynchronize(stream_), CudaCall::kStream, operation);
}

void order_streams(cudaStream_t first, cudaStream_t second, const char* operation) {
  const Event event;
  check_cuda(cudaEventRecord(event.get(), first), CudaCall::kEvent, operation);
  check_cuda(cudaStreamWaitEvent(second, event.get()), CudaCall::kEvent, operation);
}

Event::Event() {
  constexpr unsigned kFlags = cudaEventDisableTiming | cudaEventBlockingSync;
  check_cuda_result(
      try_cuda(CudaCall::kEvent, [&] { return cudaEventCreateWithFlags(&event_, kFlags); }),
      "making a CUDA event");
}

Event::~Event() {
  if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
}

void Event::record(const Stream& stream) const {
  check_cuda(cudaEventRecord(event_, stream.get()), CudaCall::kEvent, "recording a CUDA event");
}

void Event::wait(const char* operation) const {
  check_cuda(cudaEventSynchronize(event_), CudaCall::kEvent, operation);
}

DeviceMemory::DeviceMemory(std::uint64_t bytes) {
  if (bytes == 0) return;
  const cudaError_t result =
      try_cuda(CudaCall::kMemory, [&] { return cudaMalloc(&memory_, bytes); });
  if (result == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());  // not sticky: the next call must not report it again
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    static_cast<void>(cudaMemGetInfo(&free_bytes, &total_bytes));
    const std::optional<int> ordinal = current_ordinal();
    throw DeviceError(ordinal, Error(ErrorKind::kResource, "allocating device memory",
                                     fmt::format("{} are needed, {} are free", format_bytes(bytes),
                                                 format_bytes(free_bytes)))
                                   .path(device_words(ordinal))
                                   .hint("give less with --gpu-memory, or use --engine cpu"));
  }
  check_cuda_result(result, "allocating device memory");
}

DeviceMemory::~DeviceMemory() {
  if (memory_ != nullptr) static_cast<void>(cudaFree(memory_));
}

PinnedMemory::PinnedMemory(ByteSpan memory, unsigned threads) : memory_(memory) {
  if (memory.empty()) return;
  const std::size_t share = round_up(div_up(memory.size(), threads), kMemoryPageBytes);
  run_workers(threads, [&](unsigned worker) {
    const std::size_t end = std::min(memory.size(), (worker + 1) * share);
    for (std::size_t at = worker * share; at < end; at += kMemoryPageBytes)
      memory[at] = std::byte{0};
  });
  const cudaError_t result = try_cuda(CudaCall::kMemory, [&] {
    return cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterDefault);
  });
  if (result == cudaErrorMemoryAllocation || result == cudaErrorNotPermitted) {
    static_cast<void>(cudaGetLastError());
    throw DeviceError(std::nullopt,
                      Error(ErrorKind::kResource, "pinning host memory for the GPU",
                            fmt::format("the driver refused {}", format_bytes(memory.size())))
                          .hint("give less with -S, or use --engine cpu"));
  }
  check_cuda_result(result, "pinning host memory for the GPU");
}

PinnedMemory::~PinnedMemory() {
  if (!memory_.empty()) static_cast<void>(cudaHostUnregister(memory_.data()));
}

}  // namespace gsort::gpu
