// See cuda_check.hpp. A planned fault is made of atomics: lanes check from several threads.
#include "gpu/cuda/cuda_check.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "base/device_error.hpp"
#include "base/made_once.hpp"
#include "base/units.hpp"
#include "gpu/cuda/call_memory.hpp"

namespace gsort::gpu {
namespace {

constexpr int kAnyDevice = -1;

// One fault at a time; `calls_left` is 0 when none is planned, or it has come.
struct PlannedFault {
  std::atomic<std::uint64_t> calls_left{0};
  std::atomic<CudaCall> call{CudaCall::kQuery};
  std::atomic<cudaError_t> result{cudaSuccess};
  std::atomic<bool> from_then_on{false};
  std::atomic<int> ordinal{kAnyDevice};
  std::atomic<bool> was_met{false};
};

PlannedFault& planned() {
  static PlannedFault fault;
  return fault;
}

bool is_on_device_of(const PlannedFault& fault) {
  return fault.ordinal == kAnyDevice || current_ordinal() == fault.ordinal;
}

struct DeviceNames {
  std::mutex mutex;
  std::map<int, std::string> names;
};

DeviceNames& device_names() {
  return made_once_a_process([] { return DeviceNames(); });
}

}  // namespace

void remember_device_name(int ordinal, std::string_view name) {
  DeviceNames& known = device_names();
  const std::scoped_lock lock(known.mutex);
  known.names[ordinal] = name;
}

std::string device_words(std::optional<int> ordinal) {
  if (!ordinal) return "on the GPU";
  DeviceNames& known = device_names();
  const std::scoped_lock lock(known.mutex);
  const auto found = known.names.find(*ordinal);
  const std::string number = "on device " + std::to_string(*ordinal);
  return found == known.names.end() ? number : number + " (" + found->second + ")";
}

std::optional<int> current_ordinal() {
  int ordinal = 0;
  return cudaGetDevice(&ordinal) == cudaSuccess ? std::optional(ordinal) : std::nullopt;
}

cudaError_t planned_cuda_failure(CudaCall kind) {
  PlannedFault& fault = planned();
  if (fault.was_met && fault.from_then_on && is_on_device_of(fault)) return fault.result;
  std::uint64_t left = fault.calls_left;
  if (left == 0 || fault.call != kind || !is_on_device_of(fault)) return cudaSuccess;
  while (left != 0) {
    if (!fault.calls_left.compare_exchange_weak(left, left - 1)) continue;
    if (left > 1) break;
    fault.was_met = true;
    return fault.result;
  }
  return cudaSuccess;
}

void check_cuda(cudaError_t result, CudaCall kind, std::string_view operation) {
  const cudaError_t failure = planned_cuda_failure(kind);
  check_cuda_result(failure != cudaSuccess ? failure : result, operation);
}

void check_cuda_result(cudaError_t result, std::string_view operation, std::optional<int> ordinal) {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // the caller's next check must not find it
  if (!ordinal) ordinal = current_ordinal();
  const auto error_kind =
      result == cudaErrorMemoryAllocation ? ErrorKind::kResource : ErrorKind::kDevice;
  throw DeviceError(
      ordinal,
      Error(error_kind, std::string(operation),
            std::string(cudaGetErrorString(result)) + " (" + cudaGetErrorName(result) + ")")
          .path(device_words(ordinal))
          .hint("check the GPU with 'nvidia-smi' and 'dmesg', or use --engine cpu"));
}

void check_launch(std::string_view operation) {
  check_cuda(cudaGetLastError(), CudaCall::kLaunch, operation);
}

void inject_cuda_fault(const CudaFault& fault) {
  clear_cuda_fault();
  planned().call = fault.call;
  planned().result = fault.result;
  planned().from_then_on = fault.from_then_on;
  planned().ordinal = fault.ordinal.value_or(kAnyDevice);
  planned().calls_left = fault.nth;
}

void clear_cuda_fault() {
  planned().calls_left = 0;
  planned().was_met = false;
}

bool cuda_fault_was_met() {
  return planned().was_met;
}

void require_memory(const void* pointer, std::uint64_t bytes, std::size_t alignment,
                    std::string_view operation, std::string_view name) {
  if (bytes == 0) return;
  if (pointer == nullptr) {
    throw Error(ErrorKind::kUsage, std::string(operation), std::string(name) + " must not be null");
  }
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0) {
    throw Error(ErrorKind::kUsage, std::string(operation),
                std::string(name) + " is not aligned to " + std::to_string(alignment) + " bytes");
  }
}

void require_apart(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes,
                   std::string_view operation, std::string_view names) {
  if (!overlap(a, a_bytes, b, b_bytes)) return;
  throw Error(ErrorKind::kUsage, std::string(operation), std::string(names) + " overlap");
}

void require_scratch(const ScratchMemory& scratch, std::size_t need_bytes,
                     std::string_view operation) {
  if (scratch.bytes < need_bytes) {
    throw Error(ErrorKind::kUsage, std::string(operation),
                "needs " + format_bytes(need_bytes) + " of scratch memory, was given " +
                    format_bytes(scratch.bytes));
  }
  require_memory(scratch.memory, need_bytes, kScratchAlignment, operation, "the scratch memory");
}

}  // namespace gsort::gpu
