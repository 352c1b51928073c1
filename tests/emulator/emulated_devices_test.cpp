// The CUDA engine on several devices that do not forgive: whole sorts use and free everything on
// the device that it was made on, leave nothing behind, stay within each device's memory, and come
// out as std::sort would have them.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "devices.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/engine/gpu.hpp"
#include "gpu/shares/peer_access.hpp"
#include "support/invented.hpp"
#include "support/sort_run.hpp"
#include "support/sorted_copy.hpp"
#include "support/stably_sorted.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::SortRequest;
using test::SortResult;

constexpr KeyFormat kU32{KeyType::kU32, false, false};
constexpr const char* kGpuMemory = "48M";
constexpr std::uint64_t kGpuBytes = 48 * kMiB;  // runs in the tests' tiers included

// The engine on the first devices.
SortRequest request_on(unsigned devices, const KeyFormat& format, std::uint64_t elements) {
  SortRequest request;
  request.format = format;
  request.input = test::generated(format, Distribution::kZipf, elements);
  request.old_output = Bytes(3, std::byte{7});
  request.gpu_memory = kGpuMemory;
  request.devices = devices;
  request.make_engine = [](const Plan& plan, const EngineShape& shape,
                           ByteSpan memory) -> std::unique_ptr<Engine> {
    if (plan.engine == EngineKind::kCpu) return cpu::make_cpu_engine(shape, memory);
    std::vector<int> ordinals;
    for (const DevicePlan& device : plan.devices) ordinals.push_back(device.ordinal);
    return gpu::make_cuda_engine(shape, ordinals, memory);
  };
  request.make_tier = [](const DevicePlan& device, std::uint64_t bytes) {
    return gpu::make_device_tier(device.ordinal, bytes);
  };
  return request;
}

// By the plan for a larger input, but with chunks of so many elements: the emulator is slow.
void make_chunks_short(SortRequest& request, std::uint64_t chunk_elements) {
  Options options = test::options_for(request.format.type, "512M");
  options.key = request.format;
  options.records = request.records;
  options.argsort = request.argsort;
  options.engine = EngineChoice::kCuda;
  options.gpu_memory = request.gpu_memory;
  options.devices.all = true;
  options.parallel = request.threads;
  Machine machine = test::invented_machine(kGiB, request.threads, kTiB);
  for (unsigned device = 0; device < request.devices; ++device) test::add_gpu(machine);
  const Plan large = make_plan(make_job(options, {}, request.input.size()), machine);
  request.change_plan = [large, chunk_elements](Plan& plan) {
    if (plan.engine == EngineKind::kCpu) return;
    const std::uint64_t elements = plan.elements;
    const OutputPlan output = plan.output;
    plan = large;
    plan.elements = elements;
    plan.output = output;
    plan.chunk.chunk_elements = chunk_elements;
  };
}

// Nothing is left on the devices, which have kept to their budgets, whatever came of the sort.
SortResult sort_on_devices(const SortRequest& request, std::uint64_t least_runs) {
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

void expect_sorted(const SortRequest& request, const Bytes& wanted, std::uint64_t least_runs) {
  const SortResult result = sort_on_devices(request, least_runs);
  ASSERT_FALSE(result.error.has_value()) << result.error->what();
  EXPECT_TRUE(result.output == wanted);
}

class EmulatedDevices : public testing::TestWithParam<unsigned> {};

TEST_P(EmulatedDevices, SortKeysThroughRuns) {
  for (const KeyFormat& format : {kU32, KeyFormat{KeyType::kF64, true, true}}) {
    SortRequest request = request_on(GetParam(), format, 60'000);
    make_chunks_short(request, 5'000);
    expect_sorted(request, test::sorted_copy(request.input, format), 12);
  }
}

// Chunks that are filled side by side hold whole blocks alone, so there are more of them.
TEST_P(EmulatedDevices, AreFilledSideBySide) {
  SortRequest request = request_on(GetParam(), kU32, 60'000);
  request.threads = 4;
  make_chunks_short(request, 5'000);
  const auto change = request.change_plan;
  request.change_plan = [change](Plan& plan) {
    change(plan);
    plan.chunk.block_bytes = 4'096;
  };
  expect_sorted(request, test::sorted_copy(request.input, kU32), GetParam() == 1 ? 12 : 15);
}

TEST_P(EmulatedDevices, KeepRunsInTheirMemory) {
  SortRequest request = request_on(GetParam(), kU32, 60'000);
  make_chunks_short(request, 5'000);
  request.device_buffers = 12;
  const SortResult result = sort_on_devices(request, 12);
  ASSERT_FALSE(result.error.has_value()) << result.error->what();
  EXPECT_TRUE(result.output == test::sorted_copy(request.input, kU32));
  EXPECT_GT(result.outcome.device_bytes, 0U);
  EXPECT_EQ(result.outcome.spilled_bytes, 0U);
}

TEST_P(EmulatedDevices, SortRecordsStably) {
  SortRequest request = request_on(GetParam(), kU32, 40'000);
  request.records.emplace();
  request.records->bytes = 16;
  request.records->keys = {{.offset = 0, .bytes = 4, .type = KeyType::kU32}};
  make_chunks_short(request, 1'000);
  expect_sorted(request, test::stably_sorted(request.input, *request.records), 10);
}

// Of keys of which every one is there many times: their order is that of their positions.
TEST_P(EmulatedDevices, SortPositionsStably) {
  SortRequest request = request_on(GetParam(), kU32, 20'000);
  for (std::size_t at = 0; at < request.input.size(); ++at) {
    request.input[at] &= at % 4 == 3 ? std::byte{15} : std::byte{0};
  }
  request.argsort = true;
  make_chunks_short(request, 2'000);
  const auto keys = test::keys_in<std::uint32_t>(request.input);
  std::vector<std::uint32_t> positions(keys.size());
  std::iota(positions.begin(), positions.end(), 0U);
  std::ranges::stable_sort(positions, {}, [&](std::uint32_t at) { return keys[at]; });
  const auto raw = std::as_bytes(std::span(positions));
  expect_sorted(request, Bytes(raw.begin(), raw.end()), 10);
}

TEST_P(EmulatedDevices, MergeInSeveralRounds) {
  SortRequest request = request_on(GetParam(), kU32, 30'000);
  make_chunks_short(request, 3'000);
  const auto change = request.change_plan;
  request.change_plan = [change](Plan& plan) {
    change(plan);
    plan.run.fan_in = 3;
  };
  expect_sorted(request, test::sorted_copy(request.input, kU32), 10);
}

INSTANTIATE_TEST_SUITE_P(Counts, EmulatedDevices, testing::Values(1U, 2U, 3U, 4U));

// A lane that takes its time to give its chunk away.
class SlowedLane final : public ChunkLane {
 public:
  explicit SlowedLane(std::unique_ptr<ChunkLane> lane) : lane_(std::move(lane)) {}
  void begin(ConstByteSpan sample) override { lane_->begin(sample); }
  [[nodiscard]] ByteSpan acquire_block() override { return lane_->acquire_block(); }
  void add(ByteSpan block, std::size_t bytes, std::uint64_t position) override {
    lane_->add(block, bytes, position);
  }
  void sort(KeyForm form) override { lane_->sort(form); }
  void emit(PieceSink& sink) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    lane_->emit(sink);
  }

 private:
  std::unique_ptr<ChunkLane> lane_;
};

// The engine on two devices, of which the second one is slow.
class HalfSlowedEngine final : public Engine {
 public:
  explicit HalfSlowedEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
  [[nodiscard]] std::string_view name() const override { return engine_->name(); }
  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    auto lanes = engine_->make_chunk_lanes();
    for (std::size_t lane = 1; lane < lanes.size(); lane += 2) {
      lanes[lane] = std::make_unique<SlowedLane>(std::move(lanes[lane]));
    }
    return lanes;
  }
  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned lanes, std::uint64_t part_elements) override {
    return engine_->make_merge_lanes(lanes, part_elements);
  }
  [[nodiscard]] std::vector<std::unique_ptr<ArrayLane>> make_array_lanes(
      unsigned lanes, const ArrayShape& arrays) override {
    return engine_->make_array_lanes(lanes, arrays);
  }

 private:
  std::unique_ptr<Engine> engine_;
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
  const SortResult result = sort_on_devices(request, 50);
  ASSERT_FALSE(result.error.has_value()) << result.error->what();
  EXPECT_TRUE(result.output == test::sorted_copy(request.input, kU32));
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
  int met = 0;
  for (std::size_t kind = 0; kind < gpu::kCudaCallKinds; ++kind) {
    const auto call = static_cast<gpu::CudaCall>(kind);
    const cudaError_t failure =
        call == gpu::CudaCall::kMemory ? cudaErrorMemoryAllocation : cudaErrorLaunchFailure;
    for (const bool from_then_on : {false, true}) {
      bool hit = true;
      for (std::uint64_t nth = 1; hit; nth += 1 + nth / 2) {
        SCOPED_TRACE(testing::Message() << "kind " << kind << ", call " << nth << " fails"
                                        << (from_then_on ? " on" : ""));
        gpu::inject_cuda_fault({call, nth, failure, from_then_on});
        expect_right_or_named(request, whole);
        hit = gpu::cuda_fault_was_met();
        gpu::clear_cuda_fault();
        met += hit ? 1 : 0;
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(met, 60);
}

// Once, or from then on, and only of calls on device `ordinal`.
std::vector<gpu::CudaFault> faults_of(int ordinal, std::size_t kind, std::uint64_t nth) {
  const auto call = static_cast<gpu::CudaCall>(kind);
  const cudaError_t failure =
      call == gpu::CudaCall::kMemory ? cudaErrorMemoryAllocation : cudaErrorLaunchFailure;
  return {{call, nth, failure, false, ordinal}, {call, nth, failure, true, ordinal}};
}

// Sorts with each of these faults until the call does not come any more.
template <class Expect>
int sort_with_faults_of(int ordinal, const SortRequest& request, const Expect& expect) {
  int met = 0;
  for (std::size_t kind = 0; kind < gpu::kCudaCallKinds; ++kind) {
    bool hit = true;
    for (std::uint64_t nth = 1; hit; nth *= 4) {
      for (const gpu::CudaFault& fault : faults_of(ordinal, kind, nth)) {
        SCOPED_TRACE(testing::Message()
                     << "kind " << kind << ", call " << nth << " on device " << ordinal << " fails"
                     << (fault.from_then_on ? " on" : ""));
        gpu::inject_cuda_fault(fault);
        const SortResult result = sort_on_devices(request, 0);
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
    for (const auto& [ordinal, failure] : result.outcome.lost_devices) {
      ++left_out;
      if (!ordinal) continue;  // host memory was not pinned
      EXPECT_EQ(*ordinal, lost) << failure;
      EXPECT_NE(failure.find("on device " + std::to_string(lost)), std::string::npos) << failure;
      for (const DevicePlan& device : result.plan.devices) EXPECT_NE(device.ordinal, lost);
    }
  });
  EXPECT_GT(met, 30);
  EXPECT_GT(left_out, 20);
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
  EXPECT_GT(met, 30);
}

// Of a pipe nobody can read again.
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

INSTANTIATE_TEST_SUITE_P(Each, LostDevice, testing::Values(0, 1, 2));

TEST(EmulatedDevice, ThatIsNamedTwiceIsTwoWithHalfOfTheMemory) {
  const gpu::Devices found = gpu::find_devices({2, 1, 2});
  ASSERT_EQ(found.devices.size(), 3U);
  EXPECT_EQ(found.devices[0].ordinal, 2);
  EXPECT_EQ(found.devices[0].name, "emulated 2");
  EXPECT_EQ(found.devices[0].free_bytes, emulator::kDeviceBytes / 2);
  EXPECT_EQ(found.devices[1].free_bytes, emulator::kDeviceBytes);
  EXPECT_EQ(found.devices[2].free_bytes, emulator::kDeviceBytes / 2);
}

TEST(EmulatedDevice, ThatIsNotThereIsAnErrorThatListsThoseThatAre) {
  try {
    (void)gpu::find_devices({0, 4});
    FAIL() << "there are four devices";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--device 4: there is no such device\n  devices 0 to 3 are there");
  }
}

TEST(EmulatedDevice, IsListedWithoutBeingStarted) {
  EXPECT_EQ(gpu::list_devices().devices.size(), 4U);
  EXPECT_EQ(gpu::find_devices({}).devices.size(), 4U);
}

TEST(EmulatedDevice, WithTheMostMemoryIsTheFirst) {
  emulator::set_device_bytes(0, emulator::kDeviceBytes / 4);
  const gpu::Devices found = gpu::find_devices({});
  emulator::set_device_bytes(0, emulator::kDeviceBytes);
  ASSERT_EQ(found.devices.size(), 4U);
  EXPECT_EQ(found.devices[0].ordinal, 1);
  EXPECT_EQ(found.devices[3].ordinal, 0);
  EXPECT_EQ(found.devices[3].free_bytes, emulator::kDeviceBytes / 4);
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

// What the emulator is for.
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
