// Sorts on emulated devices of which one fails: every call on each device in turn, once or from
// then on. The sort does without the device and says so, or ends with an Error that names it.
//
// By default, a seed (support/some_of.hpp) chooses one of the three devices, the number of the call
// grows in strides, and calls fail once and from then on by turns. With GSORT_EVERY_FAULT, the test
// tries all.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "base/device_error.hpp"
#include "device_sorts.hpp"
#include "devices.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/shares/host_segments.hpp"
#include "gpu/shares/host_shares.hpp"
#include "gpu/sort/host_array_sort.hpp"
#include "support/engine_wrap.hpp"
#include "support/some_of.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::kU32;
using test::make_chunks_short;
using test::request_on;
using test::sort_on_devices;
using test::SortRequest;
using test::SortResult;

bool wants_every_fault() {
  static const bool every = std::getenv("GSORT_EVERY_FAULT") != nullptr;
  return every;
}

std::vector<int> lost_devices() {
  if (wants_every_fault()) return {0, 1, 2};
  return {static_cast<int>(test::seed_of_cases() % 3)};
}

// Returns the next number of a call: all are tried, or powers of 4.
std::uint64_t after(std::uint64_t nth) {
  return wants_every_fault() ? nth + 1 : nth * 4;
}

// Returns faults of calls on device `ordinal`: once, from then on, or both.
std::vector<gpu::CudaFault> faults_of(int ordinal, std::size_t kind, std::uint64_t nth) {
  const auto call = static_cast<gpu::CudaCall>(kind);
  const cudaError_t failure =
      call == gpu::CudaCall::kMemory ? cudaErrorMemoryAllocation : cudaErrorLaunchFailure;
  const gpu::CudaFault once{call, nth, failure, false, ordinal};
  const gpu::CudaFault from_then_on{call, nth, failure, true, ordinal};
  if (wants_every_fault()) return {once, from_then_on};
  const bool turn = (static_cast<int>(std::bit_width(nth)) / 2 + ordinal) % 2 == 0;
  return {turn ? once : from_then_on};
}

// An engine that plans a fault when the merge begins.
class FailingMerge final : public test::ForwardingEngine {
 public:
  FailingMerge(std::unique_ptr<Engine> engine, const gpu::CudaFault& fault)
      : ForwardingEngine(std::move(engine)), fault_(fault) {}
  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned lanes, std::uint64_t part_elements) override {
    gpu::inject_cuda_fault(fault_);
    return ForwardingEngine::make_merge_lanes(lanes, part_elements);
  }

 private:
  gpu::CudaFault fault_;
};

enum class From : std::uint8_t { kTheBeginning, kTheMerge };

SortResult sort_with(const gpu::CudaFault& fault, SortRequest request, From from) {
  if (from == From::kTheBeginning) {
    gpu::inject_cuda_fault(fault);
  } else {
    request.make_engine = [make = request.make_engine, fault](
                              const Plan& plan, const EngineShape& shape, ByteSpan memory) {
      return std::make_unique<FailingMerge>(make(plan, shape, memory), fault);
    };
  }
  return sort_on_devices(request, 0);
}

// Sorts with each of these faults until the call does not come any more.
template <class Expect>
int sort_with_faults_of(int ordinal, const SortRequest& request, const Expect& expect,
                        From from = From::kTheBeginning) {
  int met = 0;
  for (std::size_t kind = 0; kind < gpu::kCudaCallKinds; ++kind) {
    bool hit = true;
    for (std::uint64_t nth = 1; hit; nth = after(nth)) {
      for (const gpu::CudaFault& fault : faults_of(ordinal, kind, nth)) {
        SCOPED_TRACE(testing::Message()
                     << "kind " << kind << ", call " << nth << " on device " << ordinal << " fails"
                     << (fault.from_then_on ? " on" : ""));
        const SortResult result = sort_with(fault, request, from);
        hit = gpu::cuda_fault_was_met();
        gpu::clear_cuda_fault();
        met += hit ? 1 : 0;
        expect(result, hit);
        if (testing::Test::HasFailure()) return met;
      }
    }
  }
  return met;
}

SortRequest request_with_faults() {
  SortRequest request = request_on(3, kU32, 12'000);
  make_chunks_short(request, 1'000);
  request.device_buffers = 3;
  return request;
}

int losses_of(const SortResult& result, DoneAgain again) {
  return static_cast<int>(
      std::ranges::count(result.outcome.lost_devices, again, &gsort::LostDevice::again));
}

void expect_named(const SortResult& result, int lost) {
  for (const auto& [ordinal, failure, again] : result.outcome.lost_devices) {
    if (!ordinal) continue;  // host memory was not pinned
    EXPECT_EQ(*ordinal, lost) << failure;
    EXPECT_NE(failure.find("on device " + std::to_string(lost)), std::string::npos) << failure;
    if (again != DoneAgain::kSort) continue;
    for (const DevicePlan& device : result.plan.devices) EXPECT_NE(device.ordinal, lost);
  }
}

// Sorts without runs in device memory, each without the device as far as it can be.
struct Again {
  int sorts = 0;
  int chunks = 0;
  int parts = 0;
};
Again sort_without(int lost, const SortRequest& request, From from) {
  const Bytes whole = test::expected_output(request);
  Again again;
  sort_with_faults_of(
      lost, request,
      [&](const SortResult& result, bool) {
        ASSERT_FALSE(result.error.has_value()) << result.error->what();
        EXPECT_TRUE(result.output == whole);
        EXPECT_TRUE(result.left_in_temporary.empty());
        expect_named(result, lost);
        again.sorts += losses_of(result, DoneAgain::kSort);
        again.chunks += losses_of(result, DoneAgain::kChunks);
        again.parts += losses_of(result, DoneAgain::kParts);
      },
      from);
  return again;
}

// With parts enough for all lanes.
void make_chunks_and_parts_short(SortRequest& request, std::uint64_t chunk_elements) {
  make_chunks_short(request, chunk_elements);
  request.change_plan = [shorten = request.change_plan](Plan& plan) {
    shorten(plan);
    if (plan.engine == EngineKind::kCuda) plan.run.block_elements = 16;
  };
}

SortRequest request_without_tiers(unsigned devices) {
  SortRequest request = request_on(devices, kU32, 12'000);
  make_chunks_and_parts_short(request, 1'000);
  request.may_lose_devices = true;
  return request;
}

SortRequest request_with_records() {
  SortRequest request = request_on(3, kU32, 12'000);
  request.may_lose_devices = true;
  request.records.emplace();
  request.records->bytes = 12;
  request.records->keys = {{.offset = 0, .bytes = 1, .type = KeyType::kU8}};
  make_chunks_and_parts_short(request, 500);
  return request;
}

class LostDevice : public testing::TestWithParam<int> {};

TEST_P(LostDevice, IsLeftOutAndNamed) {
  const int lost = GetParam();
  SortRequest request = request_with_faults();
  request.may_lose_devices = true;
  const Bytes whole = test::sorted_copy(request.input, kU32);
  int left_out = 0;
  const int met = sort_with_faults_of(lost, request, [&](const SortResult& result, bool) {
    ASSERT_FALSE(result.error.has_value()) << result.error->what();
    EXPECT_TRUE(result.output == whole);
    expect_named(result, lost);
    left_out += losses_of(result, DoneAgain::kSort);
  });
  EXPECT_GT(met, 12);
  EXPECT_GT(left_out, 10);
}

TEST_P(LostDevice, EndsASortThatMayNotDoWithoutIt) {
  const int lost = GetParam();
  SortRequest request = request_with_faults();
  const Bytes whole = test::sorted_copy(request.input, kU32);
  const int met = sort_with_faults_of(lost, request, [&](const SortResult& result, bool) {
    if (!result.error) {
      EXPECT_TRUE(result.output == whole);
      return;
    }
    const std::string words = result.error->what();
    EXPECT_TRUE(result.output == request.old_output);
    EXPECT_TRUE(words.find("on device " + std::to_string(lost)) != std::string::npos ||
                words.find("pinning host memory") != std::string::npos)
        << words;
  });
  EXPECT_GT(met, 12);
}

// A sort in which other devices do the work of the lost one again.
struct LostWork {
  const char* name;
  SortRequest request;
  From from;
};

void PrintTo(const LostWork& work, std::ostream* out) {
  *out << work.name;
}

std::vector<LostWork> all_lost_work() {
  const SortRequest keys = request_without_tiers(3);
  const SortRequest records = request_with_records();
  SortRequest side_by_side = keys;
  side_by_side.change_plan = [shorten = keys.change_plan](Plan& plan) {
    shorten(plan);
    plan.chunk.block_bytes = 512;
  };
  // A pipe cannot be read again, and the other has taken the first bytes.
  SortRequest pipes = keys;
  pipes.from_pipe = pipes.to_pipe = true;
  // All devices have their lanes before anything is read.
  return {{"Chunks", keys, From::kTheBeginning},
          {"ChunksFilledSideBySide", side_by_side, From::kTheBeginning},
          {"ChunksOfRecords", records, From::kTheBeginning},
          {"Parts", keys, From::kTheMerge},
          {"PartsOfRecords", records, From::kTheMerge},
          {"PartsBetweenPipes", pipes, From::kTheMerge}};
}

class LostDeviceWork : public testing::TestWithParam<std::tuple<LostWork, int>> {};

TEST_P(LostDeviceWork, IsDoneAgainByOthers) {
  const auto& [work, lost] = GetParam();
  const Again again = sort_without(lost, work.request, work.from);
  if (work.from == From::kTheBeginning) {
    EXPECT_GT(again.chunks, 5);
  } else {
    EXPECT_GT(again.parts, 5);
    EXPECT_EQ(again.sorts, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, LostDeviceWork,
                         testing::Combine(testing::ValuesIn(all_lost_work()),
                                          testing::ValuesIn(lost_devices())));

// The CPU merges all that is left.
TEST(OnlyDevice, HasItsPartsMergedByTheCpu) {
  const Again again = sort_without(0, request_without_tiers(1), From::kTheMerge);
  EXPECT_GT(again.parts, 5);
  EXPECT_EQ(again.sorts, 0);
}

// A pipe cannot be read again.
TEST_P(LostDevice, EndsASortOfWhatCannotBeReadAgain) {
  const int lost = GetParam();
  SortRequest request = request_with_faults();
  request.may_lose_devices = true;
  request.to_pipe = true;  // has taken the first bytes when the last ones are merged
  const Bytes whole = test::sorted_copy(request.input, kU32);
  int ended = 0;
  const int met = sort_with_faults_of(lost, request, [&](const SortResult& result, bool) {
    if (!result.error) {
      EXPECT_TRUE(result.output == whole);
      return;
    }
    ++ended;
    EXPECT_LT(result.output->size(), whole.size());
    const std::string words = result.error->what();
    EXPECT_NE(words.find("on device " + std::to_string(lost)), std::string::npos) << words;
  });
  EXPECT_GT(met, ended);
}

// Copies are late, and keys change as soon as the stream has been waited for.
TEST(FailedSortOfHostMemory, ReadsNoneOfItAfterwards) {
  constexpr std::size_t kCount = 1'000;
  gpu::use_device(0);
  const gpu::Stream stream;
  const std::size_t bytes = gpu::sort_host_array_scratch_bytes<std::uint32_t>(kCount);
  const gpu::DeviceMemory scratch(bytes);
  const std::span arrived(scratch.as<std::uint32_t>(), kCount);
  emulator::set_late_streams(true);
  bool hit = true;
  for (std::uint64_t nth = 1; hit; ++nth) {
    std::vector<std::uint32_t> keys(kCount, 1);
    std::ranges::fill(arrived, 0U);
    gpu::inject_cuda_fault({gpu::CudaCall::kEvent, nth, cudaErrorLaunchFailure});
    try {
      gpu::sort_host_array<std::uint32_t>({.input = keys.data(),
                                           .output = keys.data(),
                                           .count = kCount,
                                           .scratch = {scratch.as<>(), bytes},
                                           .stream = stream.get()});
    } catch (const DeviceError&) {
      EXPECT_TRUE(gpu::cuda_fault_was_met());
    }
    hit = gpu::cuda_fault_was_met();
    gpu::clear_cuda_fault();
    stream.wait("testing");
    std::ranges::fill(keys, 2U);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(std::ranges::find(arrived, 2U) == arrived.end()) << "call " << nth;
  }
  emulator::set_late_streams(false);
}

// A failure on one device, while copies to the output are queued on all.
TEST(FailedSortOfHostMemory, WritesNoneOfItAfterwards) {
  constexpr std::size_t kCount = 3'000;
  constexpr std::uint64_t kPieceKeys = 200;
  const std::size_t bytes =
      gpu::sort_host_shares_scratch_bytes<std::uint32_t>(kCount, 3, kPieceKeys);
  std::vector<gpu::DeviceMemory> scratch;
  std::vector<gpu::SharingDevice> devices;
  for (int device = 0; device < 3; ++device) {
    gpu::use_device(device);
    scratch.emplace_back(bytes);
    devices.push_back({device, {scratch.back().as<>(), bytes}});
  }
  std::vector<std::uint32_t> keys(kCount);
  for (std::size_t i = 0; i < kCount; ++i) keys[i] = static_cast<std::uint32_t>(i * 2'654'435'761U);
  emulator::set_late_streams(true);
  int met = 0;
  for (const gpu::CudaCall kind : {gpu::CudaCall::kLaunch, gpu::CudaCall::kEvent}) {
    bool hit = true;
    for (std::uint64_t nth = 1; hit; ++nth) {
      std::vector<std::uint32_t> sorted(kCount);
      gpu::inject_cuda_fault({kind, nth, cudaErrorLaunchFailure, false, 1});
      try {
        gpu::sort_host_shares<std::uint32_t>({keys.data(), sorted.data(), kCount, {}, kPieceKeys},
                                             devices);
      } catch (const DeviceError&) {
        EXPECT_TRUE(gpu::cuda_fault_was_met());
      }
      hit = gpu::cuda_fault_was_met();
      gpu::clear_cuda_fault();
      met += hit ? 1 : 0;
      const std::vector<std::uint32_t> left = sorted;
      for (int device = 0; device < 3; ++device) {
        gpu::use_device(device);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      }
      EXPECT_TRUE(sorted == left) << "kind " << static_cast<int>(kind) << ", call " << nth;
    }
  }
  EXPECT_GT(met, 30);
  emulator::set_late_streams(false);
  for (int device = 2; device >= 0; --device) {
    gpu::use_device(device);
    scratch.pop_back();
  }
}

// A failure while offsets of arrays are on their way to the device.
TEST(FailedSortOfHostMemory, KeepsOffsetsUntilTheyHaveArrived) {
  constexpr std::uint64_t kArrays = 60;
  constexpr std::uint64_t kArrayKeys = 10;
  constexpr std::uint64_t kGroupKeys = 50;
  constexpr std::size_t kGroupOffsets = kGroupKeys / kArrayKeys + 1;
  std::vector<std::uint64_t> offsets(kArrays + 1);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = i * kArrayKeys;
  const gpu::HostArrays arrays{.array_count = kArrays, .offsets = offsets.data()};
  const std::size_t bytes =
      gpu::host_segments_scratch_bytes<std::uint32_t, gpu::NoValue>(arrays, 1, kGroupKeys);
  gpu::use_device(0);
  const gpu::DeviceMemory scratch(bytes);
  const gpu::SharingDevice device{0, {scratch.as<>(), bytes}};
  const std::vector<std::uint32_t> keys(kArrays * kArrayKeys, 1);
  std::set<const void*> tables;
  emulator::set_copy_hook([&](int, void* to, const void*, std::size_t copied) {
    if (copied == kGroupOffsets * sizeof(std::uint64_t)) tables.insert(to);
  });
  emulator::set_late_streams(true);
  bool hit = true;
  for (std::uint64_t nth = 1; hit; ++nth) {
    tables.clear();
    std::vector<std::uint32_t> sorted(keys.size());
    gpu::inject_cuda_fault({gpu::CudaCall::kLaunch, nth, cudaErrorLaunchFailure});
    try {
      gpu::sort_host_segments<std::uint32_t, gpu::NoValue>({.input = {keys.data(), nullptr},
                                                            .output = {sorted.data(), nullptr},
                                                            .arrays = arrays,
                                                            .least_group_keys = kGroupKeys},
                                                           std::span(&device, 1));
    } catch (const DeviceError&) {
      EXPECT_TRUE(gpu::cuda_fault_was_met());
    }
    hit = gpu::cuda_fault_was_met();
    gpu::clear_cuda_fault();
    EXPECT_FALSE(tables.empty());
    for (const void* const table : tables) {
      EXPECT_EQ(std::memcmp(table, offsets.data(), kGroupOffsets * sizeof(std::uint64_t)), 0)
          << "launch " << nth;
    }
  }
  emulator::set_late_streams(false);
  emulator::set_copy_hook(nullptr);
}

INSTANTIATE_TEST_SUITE_P(Each, LostDevice, testing::ValuesIn(lost_devices()),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace gsort
