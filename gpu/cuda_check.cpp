// See cuda_check.hpp. The counters of planned failures are atomics: lanes check from several
// threads.
#include "gpu/cuda_check.hpp"

#include <array>
#include <atomic>
#include <string>

#include "base/error.hpp"
#include "base/units.hpp"
#include "gpu/device_arrays.hpp"

namespace gsort::gpu {
namespace {

struct PlannedFailure {
  std::atomic<std::uint64_t> calls_left{0};
  std::atomic<cudaError_t> result{cudaSuccess};
};

std::array<PlannedFailure, kCudaCallKinds>& planned_failures() {
  static std::array<PlannedFailure, kCudaCallKinds> failures;
  return failures;
}

// The result to report: `result`, unless a test has planned for this call to fail.
cudaError_t with_planned_failure(cudaError_t result, CudaCall kind) {
  PlannedFailure& planned = planned_failures()[static_cast<std::size_t>(kind)];
  std::uint64_t left = planned.calls_left.load();
  while (left != 0) {
    if (planned.calls_left.compare_exchange_weak(left, left - 1)) {
      return left == 1 ? planned.result.load() : result;
    }
  }
  return result;
}

}  // namespace

void check_cuda(cudaError_t result, CudaCall kind, std::string_view operation) {
  result = with_planned_failure(result, kind);
  if (result == cudaSuccess) return;
  const auto error_kind =
      result == cudaErrorMemoryAllocation ? ErrorKind::kResource : ErrorKind::kDevice;
  throw Error(error_kind, std::string(operation),
              std::string(cudaGetErrorString(result)) + " (" + cudaGetErrorName(result) + ")");
}

void check_launch(std::string_view operation) {
  check_cuda(cudaGetLastError(), CudaCall::kLaunch, operation);
}

void fail_cuda_call(CudaCall kind, std::uint64_t nth, cudaError_t result) {
  PlannedFailure& planned = planned_failures()[static_cast<std::size_t>(kind)];
  planned.result.store(result);
  planned.calls_left.store(nth);
}

void require_memory(const void* pointer, std::uint64_t bytes, std::size_t alignment,
                    std::string_view operation, std::string_view name) {
  if (bytes == 0) return;
  if (pointer == nullptr) {
    throw Error(ErrorKind::kUsage, std::string(operation), std::string(name) + " is null");
  }
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0) {
    throw Error(ErrorKind::kUsage, std::string(operation),
                std::string(name) + " is not aligned to " + std::to_string(alignment) + " bytes");
  }
}

void require_apart(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes,
                   std::string_view operation, std::string_view names) {
  if (a_bytes == 0 || b_bytes == 0) return;
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a);
  const auto b_begin = reinterpret_cast<std::uintptr_t>(b);
  if (a_begin < b_begin + b_bytes && b_begin < a_begin + a_bytes) {
    throw Error(ErrorKind::kUsage, std::string(operation), std::string(names) + " overlap");
  }
}

void require_scratch(std::size_t have_bytes, std::size_t need_bytes, std::string_view operation) {
  if (have_bytes >= need_bytes) return;
  throw Error(ErrorKind::kUsage, std::string(operation),
              "needs " + format_bytes(need_bytes) + " of scratch memory, was given " +
                  format_bytes(have_bytes));
}

void require_sort_memory(const SortMemory& memory, std::string_view operation) {
  const auto& [input, output, bytes, alignment, scratch, scratch_bytes, scratch_needed] = memory;
  require_memory(input, bytes, alignment, operation, "the input");
  require_memory(output, bytes, alignment, operation, "the output");
  if (input != output) require_apart(input, bytes, output, bytes, operation, "input and output");
  require_scratch(scratch_bytes, scratch_needed, operation);
  require_memory(scratch, scratch_needed, kScratchAlignment, operation, "the scratch memory");
  require_apart(input, bytes, scratch, scratch_needed, operation, "input and scratch memory");
  require_apart(output, bytes, scratch, scratch_needed, operation, "output and scratch memory");
}

}  // namespace gsort::gpu
