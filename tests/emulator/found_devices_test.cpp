// Which of the emulated devices are found, and which of them are started.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "app/prepared_sort.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "devices.hpp"
#include "gpu/engine/gpu.hpp"
#include "support/error_of.hpp"
#include "support/invented.hpp"

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

// With auto, and an input of so many bytes.
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
