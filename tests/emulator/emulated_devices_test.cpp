// The CUDA engine on several devices that do not forgive: whole sorts use and free everything on
// the device that it was made on, leave nothing behind, stay within each device's memory, and come
// out as std::sort would have them.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "device_sorts.hpp"
#include "devices.hpp"
#include "engine/footprint.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/engine/gpu.hpp"
#include "gpu/shares/host_shares.hpp"
#include "gpu/shares/peer_access.hpp"
#include "gpu/shares/shares_sort.hpp"
#include "io/system/memory.hpp"
#include "support/engine_wrap.hpp"
#include "support/invented.hpp"
#include "support/stably_sorted.hpp"
#include "support/tuples.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::expect_right_on_devices;
using test::kU32;
using test::make_chunks_short;
using test::request_on;
using test::sort_on_devices;
using test::SortRequest;
using test::SortResult;

class EmulatedDevices : public testing::TestWithParam<unsigned> {};

TEST_P(EmulatedDevices, SortKeysThroughRuns) {
  for (const KeyFormat& format :
       {kU32, KeyFormat{KeyType::kF64, true, true}, KeyFormat{KeyType::kU128},
        KeyFormat{KeyType::kI128, true, true}}) {
    SortRequest request = request_on(GetParam(), format, 60'000);
    make_chunks_short(request, 5'000);
    expect_right_on_devices(request, 12);
  }
}

// To the last element, also where chunks do not hold whole blocks.
TEST_P(EmulatedDevices, AreFilledSideBySide) {
  SortRequest request = request_on(GetParam(), kU32, 60'000);
  request.threads = 4;
  make_chunks_short(request, 5'000);
  const auto change = request.change_plan;
  request.change_plan = [change](Plan& plan) {
    change(plan);
    plan.chunk.block_bytes = 4'096;
  };
  expect_right_on_devices(request, 12);
}

TEST_P(EmulatedDevices, KeepRunsInTheirMemory) {
  SortRequest request = request_on(GetParam(), kU32, 60'000);
  make_chunks_short(request, 5'000);
  request.device_buffers = 12;
  const SortResult result = expect_right_on_devices(request, 12);
  EXPECT_GT(result.outcome.device_bytes, 0U);
  EXPECT_EQ(result.outcome.spilled_bytes, 0U);
}

TEST_P(EmulatedDevices, SortRecordsStably) {
  SortRequest request = request_on(GetParam(), kU32, 40'000);
  request.records.emplace();
  request.records->bytes = 16;
  request.records->keys = {{.offset = 0, .bytes = 4, .type = KeyType::kU32}};
  make_chunks_short(request, 1'000);
  expect_right_on_devices(request, 10);
}

TEST_P(EmulatedDevices, SortRecordsThatAreOneWideKey) {
  for (const RecordFormat& records : test::tuples_of_width(16)) {
    const KeyFormat format = ElementFormat{{}, records}.as_keys(16).key;
    SortRequest request = request_on(GetParam(), format, 20'000);
    make_chunks_short(request, 2'000);
    const SortResult result = sort_on_devices(request, 10);
    ASSERT_FALSE(result.error.has_value()) << result.error->what();
    EXPECT_TRUE(result.output == test::stably_sorted(request.input, records));
  }
}

// Every key is there many times: equal keys have the order of their positions.
TEST_P(EmulatedDevices, SortPositionsStably) {
  SortRequest request = request_on(GetParam(), kU32, 20'000);
  for (std::size_t at = 0; at < request.input.size(); ++at) {
    request.input[at] &= at % 4 == 3 ? std::byte{15} : std::byte{0};
  }
  request.argsort = true;
  make_chunks_short(request, 2'000);
  expect_right_on_devices(request, 10);
}

TEST_P(EmulatedDevices, MergeInSeveralRounds) {
  SortRequest request = request_on(GetParam(), kU32, 30'000);
  make_chunks_short(request, 3'000);
  const auto change = request.change_plan;
  request.change_plan = [change](Plan& plan) {
    change(plan);
    plan.run.fan_in = 3;
  };
  expect_right_on_devices(request, 10);
}

// More than are chosen while the input is read.
TEST_P(EmulatedDevices, GiveTheFirstElements) {
  SortRequest request = request_on(GetParam(), kU32, 40'000);
  request.top = 20'000;
  make_chunks_short(request, 3'000);
  request.change_plan = [change = request.change_plan, top = request.top](Plan& plan) {
    change(plan);
    plan.job.top = top;
  };
  expect_right_on_devices(request, 10);
}

TEST_P(EmulatedDevices, SortEachArrayByItself) {
  constexpr std::size_t kArrayBytes = 250 * 4;
  SortRequest request = request_on(GetParam(), kU32, 100'000);
  request.batch_elements = kArrayBytes / 4;
  request.change_plan = [](Plan& plan) {
    std::get<BatchPlan>(plan.strategy).block_elements = kArrayBytes / 4;
    plan.chunk.block_bytes = kArrayBytes;
  };
  expect_right_on_devices(request, 0);
}

INSTANTIATE_TEST_SUITE_P(Counts, EmulatedDevices, testing::Values(1U, 2U, 3U, 4U));

// A lane that takes its time to give its chunk away.
class SlowedLane final : public test::ForwardingChunkLane {
 public:
  using ForwardingChunkLane::ForwardingChunkLane;
  void emit(PieceSink& sink) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ForwardingChunkLane::emit(sink);
  }
};

// The engine on two devices, of which the second one is slow.
class HalfSlowedEngine final : public test::ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    auto lanes = ForwardingEngine::make_chunk_lanes();
    for (std::size_t lane = 1; lane < lanes.size(); lane += 2) {
      lanes[lane] = std::make_unique<SlowedLane>(std::move(lanes[lane]));
    }
    return lanes;
  }
};

// Chunks go to the device that is free, runs to the memory that there is.
TEST(EmulatedDevice, ThatIsSlowAndSmallTakesWhatItCan) {
  SortRequest request = request_on(2, kU32, 100'000);
  make_chunks_short(request, 2'000);
  request.device_buffers = 2;
  const auto change = request.change_plan;
  request.change_plan = [change](Plan& plan) {
    change(plan);
    plan.devices[0].more_buffers = 10;
  };
  const auto make_engine = request.make_engine;
  request.make_engine = [make_engine](const Plan& plan, const EngineShape& shape, ByteSpan memory) {
    return std::make_unique<HalfSlowedEngine>(make_engine(plan, shape, memory));
  };
  std::uint64_t tier_bytes[2] = {0, 0};
  request.make_tier = [&](const DevicePlan& device, std::uint64_t bytes) {
    tier_bytes[device.ordinal] = bytes;
    return gpu::make_device_tier(device.ordinal, bytes);
  };
  const SortResult result = expect_right_on_devices(request, 50);
  EXPECT_GT(emulator::use_of(0).launches, 2 * emulator::use_of(1).launches);
  EXPECT_EQ(tier_bytes[0], result.plan.run.device_bytes(10));
  EXPECT_EQ(tier_bytes[1], result.plan.run.device_bytes());
  EXPECT_GT(result.outcome.device_bytes, 0U);
}

// A sort that meets the fault ends with an Error that names a device, and the old output, or it can
// do without what it was refused.
void expect_right_or_named(const SortRequest& request, const Bytes& whole) {
  const SortResult result = sort_on_devices(request, 0);
  if (!result.error) {
    EXPECT_TRUE(result.output == whole);
    return;
  }
  const std::string words = result.error->what();
  const ErrorKind kind = result.error->kind();
  EXPECT_TRUE(kind == ErrorKind::kDevice || kind == ErrorKind::kResource) << words;
  EXPECT_TRUE(words.find(" on device ") != std::string::npos ||
              words.find("pinning host memory") != std::string::npos)
      << words;
  EXPECT_FALSE(result.error->hint().empty()) << words;
  EXPECT_TRUE(result.output == request.old_output) << words;
}

TEST(EmulatedDevice, IsNamedWhereACallFails) {
  SortRequest request = request_on(3, kU32, 12'000);
  make_chunks_short(request, 1'000);
  request.device_buffers = 3;
  const Bytes whole = test::sorted_copy(request.input, kU32);
  const int met =
      test::with_faults(std::nullopt, 2, [&] { expect_right_or_named(request, whole); });
  EXPECT_GT(met, 60);
}

// The lanes of a device use the region that the device was told.
TEST(EmulatedDevice, HasItsPartOfTheHostMemoryNearIt) {
  EngineShape shape;
  shape.format = kU32;
  shape.threads = 1;
  shape.block_bytes = 2 * kMiB;
  shape.chunk_elements = 1'000;
  shape.chunk_lanes = 6;
  const std::vector<int> ordinals = {2, 0, 1};
  const io::Arena memory(6 * CudaFootprint::chunk_host_bytes(1, shape.block_bytes), "tests");
  std::vector<std::pair<int, ByteSpan>> regions;
  const auto place = [&](int ordinal, ByteSpan region) { regions.emplace_back(ordinal, region); };
  const auto engine = gpu::make_cuda_engine(shape, ordinals, memory.bytes(), place);
  ASSERT_EQ(regions.size(), 3U);
  const std::byte* next = memory.data();
  for (std::size_t device = 0; device < 3; ++device) {
    EXPECT_EQ(regions[device].first, ordinals[device]);
    EXPECT_EQ(regions[device].second.data(), next);
    next += regions[device].second.size();
  }
  EXPECT_EQ(next, memory.data() + memory.size());
  const auto lanes = engine->make_chunk_lanes();
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const ByteSpan region = regions[lane % 3].second;
    const std::byte* const block = lanes[lane]->acquire_block().data();
    EXPECT_TRUE(block >= region.data() && block < region.data() + region.size()) << lane;
  }
  EXPECT_EQ(gpu::pci_address_of(1), "0000:A1:00.0");
}

// The emulator ends the process if access is enabled where there is none.
TEST(EmulatedDevice, MayBeGivenAccessTwiceOrHaveNone) {
  const std::vector<int> all = {0, 1, 2, 3, 1};
  gpu::allow_peer_access(all);
  gpu::allow_peer_access(all);
  emulator::set_peer_access(false);
  gpu::allow_peer_access(all);
  emulator::set_peer_access(true);
}

// Streams do their work late while this lives.
class LateWork {
 public:
  LateWork() { emulator::set_late_streams(true); }
  LateWork(const LateWork&) = delete;
  LateWork& operator=(const LateWork&) = delete;
  ~LateWork() { emulator::set_late_streams(false); }
};

TEST(EmulatedDevice, DoesTheWorkOfLateStreamsInEveryOrderThatEventsAllow) {
  gpu::use_device(0);
  const LateWork late;
  const gpu::Stream first;
  const gpu::Stream second;
  for (const bool is_ordered : {false, true}) {
    std::set<unsigned char> seen;
    for (int i = 0; i < 100; ++i) {
      unsigned char value = 0;
      ASSERT_EQ(cudaMemsetAsync(&value, 1, 1, first.get()), cudaSuccess);
      if (is_ordered) gpu::order_streams(first.get(), second.get(), "testing");
      ASSERT_EQ(cudaMemsetAsync(&value, 2, 1, second.get()), cudaSuccess);
      EXPECT_EQ(value, 0);
      first.wait("testing");
      second.wait("testing");
      seen.insert(value);
    }
    EXPECT_EQ(seen, is_ordered ? std::set<unsigned char>{2} : (std::set<unsigned char>{1, 2}));
  }
}

// Slices then go through host memory.
TEST(EmulatedDevice, SharesASortWithOthersItCannotReach) {
  const Bytes input = test::generated(kU32, Distribution::kZipf, 20'000);
  const auto keys = test::keys_in<std::uint32_t>(input);
  std::vector<std::uint32_t> wanted(keys.begin(), keys.end());
  std::ranges::sort(wanted);
  std::vector<std::uint32_t> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  std::vector<std::uint32_t> wanted_numbers = numbers;
  std::ranges::stable_sort(wanted_numbers, {}, [&](std::uint32_t i) { return keys[i]; });
  constexpr std::uint64_t kPieceKeys = 1'000;
  const auto bytes =
      gpu::sort_host_pairs_scratch_bytes<std::uint32_t, std::uint32_t>(keys.size(), 4, kPieceKeys);
  std::vector<gpu::DeviceMemory> memory;
  std::vector<gpu::SharingDevice> devices;
  for (int device = 0; device < 4; ++device) {
    gpu::use_device(device);
    memory.emplace_back(bytes);
    devices.push_back({device, {memory.back().as<std::byte>(), bytes}});
  }
  emulator::set_peer_access(false);
  const LateWork late;
  for (int round = 0; round < 10; ++round) {
    std::vector<std::uint32_t> sorted(keys.size());
    gpu::sort_host_shares<std::uint32_t>({keys.data(), sorted.data(), keys.size(), {}, kPieceKeys},
                                         devices);
    EXPECT_TRUE(sorted == wanted) << round;
    std::vector<std::uint32_t> moved = numbers;
    gpu::sort_host_pairs<std::uint32_t, std::uint32_t>({.input = {keys.data(), moved.data()},
                                                        .output = {sorted.data(), moved.data()},
                                                        .count = keys.size(),
                                                        .least_chunk_keys = kPieceKeys,
                                                        .takes_numbers = round % 2 == 1},
                                                       devices);
    EXPECT_TRUE(sorted == wanted && moved == wanted_numbers) << "pairs, " << round;
  }
  emulator::set_peer_access(true);
  for (int device = 3; device >= 0; --device) {
    gpu::use_device(device);
    memory.pop_back();
  }
}

TEST(EmulatedDevice, ThatIsNotNamedIsNotStarted) {
  const std::vector<std::uint32_t> keys = {3, 1, 2};
  std::vector<std::uint32_t> sorted(keys.size());
  constexpr int kNamed = 1;
  gpu::use_device(kNamed);
  const auto bytes = gpu::sort_host_shares_scratch_bytes<std::uint32_t>(keys.size(), 1, 1'000);
  {
    const gpu::DeviceMemory memory(bytes);
    const std::vector<gpu::SharingDevice> devices = {{kNamed, {memory.as<std::byte>(), bytes}}};
    emulator::restart_counts();
    std::thread([&] {  // it has no device yet
      gpu::sort_host_shares<std::uint32_t>({keys.data(), sorted.data(), keys.size(), {}, 1'000},
                                           devices);
      EXPECT_EQ(gpu::current_ordinal(), 0);
    })
        .join();
  }
  EXPECT_EQ(sorted, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_TRUE(emulator::use_of(kNamed).is_started);
  EXPECT_FALSE(emulator::use_of(0).is_started);
}

// The emulator reports the use of a device that is not the current one.
TEST(EmulatedDeviceDeathTest, EndsTheProcessWhereItIsMistakenForAnother) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto on = [](int device) { gpu::use_device(device); };
  EXPECT_DEATH(
      {
        on(1);
        gpu::DeviceMemory memory(100);
        on(0);
      },
      "freeing memory on device 0: it was made on another device");
  EXPECT_DEATH(
      {
        on(1);
        const gpu::Stream stream;
        on(0);
        stream.wait("tests");
      },
      "waiting for a stream on device 0: what it works on is another device's");
  EXPECT_DEATH(
      {
        on(2);
        const gpu::DeviceMemory memory(100);
        on(3);
        std::byte bytes[8]{};
        (void)cudaMemcpy(memory.as<std::byte>() + 92, bytes, 8, cudaMemcpyHostToDevice);
      },
      "copying memory on device 3: what it works on is another device's");
}

}  // namespace
}  // namespace gsort
