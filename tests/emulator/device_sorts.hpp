// Whole sorts by the CUDA engine on emulated devices, for tests: requests, and the look at what is
// left on the devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "devices.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/engine/gpu.hpp"
#include "io/system/memory.hpp"
#include "support/expected_output.hpp"
#include "support/sorted_copy.hpp"

namespace gsort::test {

inline constexpr KeyFormat kU32{KeyType::kU32, false, false};
inline constexpr const char* kGpuMemory = "48M";
inline constexpr std::uint64_t kGpuBytes = 48 * kMiB;  // runs in the tests' tiers included

// Returns host memory for one engine at a time, and keeps it for the next: in a short sort, most of
// the time would go into clearing the pages of new memory.
inline ByteSpan kept_memory(std::size_t bytes) {
  static io::Arena kept;
  if (kept.size() < bytes) kept = io::Arena(bytes, "tests");
  return kept.bytes().first(bytes);
}

// The engine on the first devices.
inline SortRequest request_on(unsigned devices, const KeyFormat& format, std::uint64_t elements) {
  SortRequest request;
  request.format = format;
  request.input = generated(format, Distribution::kZipf, elements);
  request.old_output = Bytes(3, std::byte{7});
  request.gpu_memory = kGpuMemory;
  request.devices = devices;
  request.make_engine = [](const Plan& plan, const EngineShape& shape,
                           ByteSpan memory) -> std::unique_ptr<Engine> {
    if (plan.engine == EngineKind::kCpu) return cpu::make_cpu_engine(shape, memory);
    std::vector<int> ordinals;
    for (const DevicePlan& device : plan.devices) ordinals.push_back(device.ordinal);
    return gpu::make_cuda_engine(shape, ordinals, kept_memory(memory.size()));
  };
  request.make_tier = [](const DevicePlan& device, std::uint64_t bytes) {
    return gpu::make_device_tier(device.ordinal, bytes);
  };
  return request;
}

// Sorts. Expects, even if the sort fails, that devices kept to their budgets and hold nothing.
inline SortResult sort_on_devices(const SortRequest& request, std::uint64_t least_runs) {
  emulator::restart_counts();
  SortResult result = sort_in_folder(request);
  for (int device = 0; device < emulator::kDevices; ++device) {
    SCOPED_TRACE(testing::Message() << "device " << device);
    const emulator::DeviceUse use = emulator::use_of(device);
    const bool may_sort = static_cast<unsigned>(device) < request.devices;
    EXPECT_EQ(use.objects, 0U);
    EXPECT_LE(use.peak_bytes, may_sort ? kGpuBytes : 0);
    const bool all_sort = !result.error && result.outcome.lost_devices.empty();
    EXPECT_TRUE(!all_sort || (use.launches > 0) == may_sort);
  }
  EXPECT_TRUE(result.error || result.outcome.runs >= least_runs);
  return result;
}

// As sort_on_devices(), and expects the right output.
inline SortResult expect_right_on_devices(const SortRequest& request, std::uint64_t least_runs) {
  SortResult result = sort_on_devices(request, least_runs);
  expect_right(request, result);
  return result;
}

// Calls sort() with a call of each kind that fails, and then with all calls from it on, of device
// `ordinal` alone if there is one: the first call, and then each that comes a share of so many
// later. Returns how many of these calls came.
template <class Sort>
int with_faults(std::optional<int> ordinal, std::uint64_t share, const Sort& sort) {
  int met = 0;
  for (std::size_t kind = 0; kind < gpu::kCudaCallKinds; ++kind) {
    const auto call = static_cast<gpu::CudaCall>(kind);
    const cudaError_t failure =
        call == gpu::CudaCall::kMemory ? cudaErrorMemoryAllocation : cudaErrorLaunchFailure;
    for (const bool from_then_on : {false, true}) {
      bool hit = true;
      for (std::uint64_t nth = 1; hit; nth += 1 + nth / share) {
        SCOPED_TRACE(testing::Message() << "kind " << kind << ", call " << nth << " fails"
                                        << (from_then_on ? " on" : ""));
        gpu::inject_cuda_fault({call, nth, failure, from_then_on, ordinal});
        sort();
        hit = gpu::cuda_fault_was_met();
        gpu::clear_cuda_fault();
        met += hit ? 1 : 0;
        if (testing::Test::HasFailure()) return met;
      }
    }
  }
  return met;
}

}  // namespace gsort::test
