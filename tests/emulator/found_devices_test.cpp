// Which of the emulated devices are found, and which of them are started.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "app/prepared_sort.hpp"
#include "base/device_error.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "devices.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/engine/gpu.hpp"
#include "io/input/reader.hpp"
#include "io/system/host_facts.hpp"
#include "support/error_of.hpp"
#include "support/invented.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

TEST(FoundDevice, ThatIsNamedTwiceIsTwoWithHalfOfTheMemory) {
  const gpu::Devices found = gpu::find_devices({2, 1, 2});
  ASSERT_EQ(found.devices.size(), 3U);
  EXPECT_EQ(found.devices[0].ordinal, 2);
  EXPECT_EQ(found.devices[0].name, "emulated 2");
  EXPECT_EQ(found.devices[0].free_bytes, emulator::kDeviceBytes / 2);
  EXPECT_EQ(found.devices[1].free_bytes, emulator::kDeviceBytes);
  EXPECT_EQ(found.devices[2].free_bytes, emulator::kDeviceBytes / 2);
}

TEST(FoundDevice, ThatIsNotThereIsAnErrorThatListsThoseThatAre) {
  const Error error = test::error_of([&] { (void)gpu::find_devices({0, 4}); });
  EXPECT_STREQ(error.what(), "--device 4: there is no such device\n  devices 0 to 3 are there");
}

// As CUDA_VISIBLE_DEVICES does.
class HiddenDevices {
 public:
  HiddenDevices(const char* visible, int count) {
    ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    emulator::set_device_count(count);
  }
  HiddenDevices(const HiddenDevices&) = delete;
  HiddenDevices& operator=(const HiddenDevices&) = delete;
  ~HiddenDevices() {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    emulator::set_device_count(emulator::kDevices);
  }
};

TEST(FoundDevice, ThatIsHiddenIsAnErrorThatSaysWhatHidesIt) {
  const HiddenDevices hidden("3", 1);
  const Error error = test::error_of([&] { (void)gpu::find_devices({0, 1}); });
  EXPECT_STREQ(error.what(),
               "--device 1: there is no such device\n"
               "  device 0 is the only one; CUDA_VISIBLE_DEVICES='3' may hide others");
}

TEST(FoundDevice, IsNotFoundWhereAllAreHidden) {
  for (const char* visible : {"", "-1", "nonsense"}) {
    const HiddenDevices hidden(visible, 0);
    const std::string reason = std::string("no NVIDIA GPU was found; CUDA_VISIBLE_DEVICES='") +
                               visible + "' may hide others";
    EXPECT_EQ(gpu::list_devices().absent_reason, reason);
    EXPECT_EQ(gpu::find_devices({0, 1}).absent_reason, reason);
  }
}

int started_devices() {
  int started = 0;
  for (int device = 0; device < emulator::kDevices; ++device) {
    started += emulator::use_of(device).is_started ? 1 : 0;
  }
  return started;
}

TEST(FoundDevice, IsListedWithoutBeingStarted) {
  emulator::restart_counts();
  EXPECT_EQ(gpu::list_devices().devices.size(), 4U);
  EXPECT_EQ(started_devices(), 0);
  EXPECT_EQ(gpu::find_devices({}).devices.size(), 4U);
  EXPECT_EQ(started_devices(), 4);
}

Options with_engine(EngineChoice engine, std::optional<std::string> gpu_memory = std::nullopt) {
  Options options;
  options.engine = engine;
  options.gpu_memory = std::move(gpu_memory);
  return options;
}

// Another process has taken memory of the device since the sort was planned.
TEST(FoundDevice, WithLessMemoryThanPlannedIsUsedWithWhatIsFree) {
  Machine machine;
  machine.gpus = {{.device = 0, .name = "emulated 0", .free_bytes = emulator::kDeviceBytes}};
  const DeviceError lack(0, Error(ErrorKind::kResource, "allocating device memory", "too much"));
  const DeviceError failure(0, Error(ErrorKind::kDevice, "sorting", "it broke"));
  (void)cudaSetDevice(0);
  std::optional<gpu::DeviceMemory> taken(std::in_place, kGiB);
  const Machine less = machine_after(lack, machine, with_engine(EngineChoice::kCuda), 1);
  ASSERT_EQ(less.gpus.size(), 1U);
  EXPECT_EQ(less.gpus[0].free_bytes, emulator::kDeviceBytes - kGiB);
  // If the engine is gsort's choice, the CPU sorts.
  EXPECT_TRUE(machine_after(lack, machine, with_engine(EngineChoice::kAuto), 1).gpus.empty());
  constexpr unsigned kTooOften = 6;
  for (const auto& [error, failures] : {std::pair(lack, kTooOften), {failure, 1U}}) {
    const Machine after = machine_after(error, machine, with_engine(EngineChoice::kAuto), failures);
    EXPECT_TRUE(after.gpus.empty());
    EXPECT_NE(after.no_gpu_reason.find(error.reason()), std::string::npos);
    EXPECT_THROW((void)machine_after(error, machine, with_engine(EngineChoice::kCuda), failures),
                 DeviceError);
  }
  // If a size is given, planning says what is free.
  EXPECT_EQ(machine_after(lack, machine, with_engine(EngineChoice::kCuda, "4G"), 1).gpus.size(),
            1U);
  (void)cudaSetDevice(0);  // freed where it was made
  taken.reset();
}

TEST(FoundDevice, WithTooLittleMemoryOnceSortsIfItWasAskedFor) {
  const io::test::TempFolder folder;
  std::vector<std::uint32_t> keys(20'000);
  std::ranges::generate(keys, std::mt19937(1));
  io::test::write_file(folder / "in", std::as_bytes(std::span(keys)));
  std::ranges::sort(keys);
  Options options = test::options_for(KeyType::kU32, "1G");
  options.inputs = {folder / "in"};
  options.output = folder / "out";
  options.engine = EngineChoice::kCuda;
  options.devices.listed = {0};
  const auto sort_with_fault = [&](std::uint64_t nth, bool stays) {
    gpu::clear_cuda_fault();
    io::Reader reader(options.inputs, {4, {io::DirectIo::kAuto}, {}});
    PreparedSort sort(options, make_job(options), reader);
    gpu::inject_cuda_fault({gpu::CudaCall::kMemory, nth, cudaErrorMemoryAllocation, stays, 0});
    return sort.run(nullptr);
  };
  unsigned sorted_again = 0;
  bool was_met = true;
  for (std::uint64_t nth = 1; was_met; ++nth) {
    SCOPED_TRACE(nth);
    try {
      const Outcome outcome = sort_with_fault(nth, false);
      was_met = gpu::cuda_fault_was_met();
      for (const LostDevice& lost : outcome.lost_devices) {
        EXPECT_EQ(lost.again, DoneAgain::kSortWithLess);
        ++sorted_again;
      }
      EXPECT_TRUE(
          std::ranges::equal(io::test::read_file(folder / "out"), std::as_bytes(std::span(keys))));
    } catch (const DeviceError& failure) {
      EXPECT_EQ(failure.operation(), "pinning host memory for the GPU") << failure.what();
      continue;
    }
    if (was_met) {
      EXPECT_THROW((void)sort_with_fault(nth, true), Error);
    }
  }
  gpu::clear_cuda_fault();
  EXPECT_GT(sorted_again, 0U);
}

// With auto, and an input of this many bytes.
int started_for(std::uint64_t input_bytes, const char* memory = "8G") {
  Options options = test::options_for(KeyType::kU32, memory);
  Machine machine = test::invented_machine(input_bytes, 4, 64 * kGiB);
  machine.input_is_cached = true;
  machine.rates.gpu_bytes_per_second = 10e9;
  emulator::restart_counts();
  (void)look_for_gpus(make_job(options), machine);
  return started_devices();
}

TEST(FoundDevice, IsStartedOnlyIfTheSortMayUseIt) {
  EXPECT_EQ(started_for(kMiB), 0);
  EXPECT_EQ(started_for(kGiB), 1);
  EXPECT_GT(started_for(2 * kTiB), 1);  // as many as pay
  emulator::restart_counts();
  EXPECT_EQ(gpu::find_devices({3, 1}).devices.size(), 2U);
  EXPECT_EQ(started_devices(), 2);
  EXPECT_TRUE(emulator::use_of(1).is_started && emulator::use_of(3).is_started);
}

// Returns the bytes of this process's unnamed file in the folder that have pages, when these are
// all, or after a second.
std::uint64_t bytes_with_pages(const std::string& folder, std::uint64_t all) {
  constexpr std::uint64_t kBlock = 512;
  struct stat facts = {};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(::fstat(io::test::file_in(folder), &facts), 0);
    if (static_cast<std::uint64_t>(facts.st_blocks) * kBlock >= all) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return static_cast<std::uint64_t>(facts.st_blocks) * kBlock;
}

TEST(FoundDevice, IsStartedWhileAnOutputInMemoryGetsItsPages) {
  constexpr const char* kMemory = "/dev/shm";
  constexpr std::uint64_t kBytes = 65 * kMiB;
  const auto facts = io::folder_facts(kMemory);
  if (!facts || !facts->is_memory() || facts->free_bytes < 2 * kBytes) {
    GTEST_SKIP() << "no room in " << kMemory;
  }
  const io::test::TempFolder inputs;
  io::test::write_file(inputs / "in", {});
  std::filesystem::resize_file(inputs / "in", kBytes);
  const io::test::TempFolder folder(kMemory);
  Options options = test::options_for(KeyType::kU32, "1G");
  options.inputs = {inputs / "in"};
  options.output = folder / "out";
  options.engine = EngineChoice::kCuda;
  options.devices.listed = {0};
  options.parallel = 4;
  const auto prepared_bytes = [&](ExplainMode explain, std::uint64_t all) {
    options.explain = explain;
    io::Reader reader(options.inputs, {4, {io::DirectIo::kAuto}, {}});
    const PreparedSort sort(options, make_job(options), reader);
    EXPECT_TRUE(sort.plan().output.makes_room_early);
    return bytes_with_pages(folder.path(), all);
  };
  EXPECT_EQ(prepared_bytes(ExplainMode::kNone, kBytes), kBytes);
  EXPECT_EQ(prepared_bytes(ExplainMode::kText, 0), 0U);
  EXPECT_TRUE(folder.entries().empty());
}

TEST(FoundDevice, WithTheMostMemoryIsTheFirst) {
  emulator::set_device_bytes(0, emulator::kDeviceBytes / 4);
  const gpu::Devices found = gpu::find_devices({});
  emulator::set_device_bytes(0, emulator::kDeviceBytes);
  ASSERT_EQ(found.devices.size(), 4U);
  EXPECT_EQ(found.devices[0].ordinal, 1);
  EXPECT_EQ(found.devices[3].ordinal, 0);
  EXPECT_EQ(found.devices[3].free_bytes, emulator::kDeviceBytes / 4);
}

}  // namespace
}  // namespace gsort
