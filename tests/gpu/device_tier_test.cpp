// Device memory as a place for runs: bytes come back as they were, from any offset and many
// threads; more than the device has is an Error that says so.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "device_memory.hpp"
#include "gpu/engine/gpu.hpp"
#include "support/error_of.hpp"

namespace gsort::gpu {
namespace {

using DeviceTierOnTheCard = GpuTest;
using Bytes = std::vector<std::byte>;

int first_device() {
  return find_devices({}).devices.at(0).ordinal;
}

Bytes random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST_F(DeviceTierOnTheCard, GivesBackWhatItWasGivenToManyThreads) {
  constexpr std::size_t kThreads = 12;
  constexpr std::size_t kShare = 3 * kMiB + 17;
  const auto tier = make_device_tier(first_device(), kThreads * kShare);
  std::vector<std::thread> threads;
  std::vector<int> wrong(kThreads, 0);
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const std::uint64_t begin = thread * kShare;
      for (std::size_t round = 0; round < 5; ++round) {
        const Bytes bytes = random_bytes(kShare, thread * 100 + round);
        tier->put(begin, bytes);
        Bytes back(kShare);
        tier->get(begin, back);
        wrong[thread] += back != bytes ? 1 : 0;
        Bytes part(12'345);
        tier->get(begin + 1'001, part);
        wrong[thread] += !std::equal(part.begin(), part.end(), bytes.begin() + 1'001) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::accumulate(wrong.begin(), wrong.end(), 0), 0);
}

TEST_F(DeviceTierOnTheCard, IsRefusedWhereTheDeviceHasNotSoMuch) {
  const Error error =
      test::error_of([&] { (void)make_device_tier(first_device(), std::uint64_t{1} << 50); });
  EXPECT_EQ(error.kind(), ErrorKind::kResource) << error.what();
  EXPECT_NE(std::string(error.what()).find("are free"), std::string::npos) << error.what();
  EXPECT_NE(make_device_tier(first_device(), kMiB), nullptr) << "the refusal has left something";
}

}  // namespace
}  // namespace gsort::gpu
