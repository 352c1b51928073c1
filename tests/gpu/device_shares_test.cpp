// The library's sorts over several devices, of keys and of pairs.
#include "library/device_shares.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device_memory.hpp"
#include "share_memory.hpp"
#include "support/error_of.hpp"

namespace gsort::gpu {
namespace {

class LibraryShares : public GpuTest {};

TEST_F(LibraryShares, OfKeysAreSorted) {
  std::vector<float> keys = {2.5F, -1.0F, 7.0F, 0.5F, -3.0F};
  const OnDevice first(device_of(0), 2 * sizeof(float));
  const OnDevice second(device_of(1), 3 * sizeof(float));
  first.put(keys.data(), 2 * sizeof(float));
  second.put(keys.data() + 2, 3 * sizeof(float));
  const std::size_t bytes = device_share_scratch_bytes<float>(3, 2);
  const OnDevice scratch_of_first(device_of(0), bytes);
  const OnDevice scratch_of_second(device_of(1), bytes);
  const std::vector<gsort::DeviceShare<float>> shares = {
      {device_of(0), static_cast<float*>(first.get()), 2, {scratch_of_first.get(), bytes}},
      {device_of(1), static_cast<float*>(second.get()), 3, {scratch_of_second.get(), bytes}}};
  sort_device_shares<float>(shares, Order::kDescending);
  first.get(keys.data(), 2 * sizeof(float));
  second.get(keys.data() + 2, 3 * sizeof(float));
  EXPECT_EQ(keys, (std::vector<float>{7.0F, 2.5F, 0.5F, -1.0F, -3.0F}));

  const std::size_t host_bytes = host_sort_scratch_bytes<float>(5, 2);
  const OnDevice host_first(device_of(0), host_bytes);
  const OnDevice host_second(device_of(1), host_bytes);
  const std::vector<HostSortDevice> devices = {{device_of(0), {host_first.get(), host_bytes}},
                                               {device_of(1), {host_second.get(), host_bytes}}};
  std::vector<float> sorted(5);
  sort_host_keys<float>(keys.data(), sorted.data(), 5, Order::kAscending, devices);
  EXPECT_EQ(sorted, (std::vector<float>{-3.0F, -1.0F, 0.5F, 2.5F, 7.0F}));
}

TEST_F(LibraryShares, OfPairsAreSorted) {
  std::vector<float> keys = {0.0F, -1.0F, 7.0F, -1.0F, -0.0F};
  std::vector<std::int64_t> values = {0, 1, 2, 3, 4};
  const std::size_t bytes = device_pair_share_scratch_bytes<float, std::int64_t>(3, 2);
  std::vector<OnDevice> memory;
  std::vector<DevicePairShare<float, std::int64_t>> shares;
  const std::uint64_t counts[] = {2, 3};
  for (std::size_t i = 0, next = 0; i < 2; next += counts[i++]) {
    memory.emplace_back(device_of(i), counts[i] * sizeof(float));
    memory.back().put(keys.data() + next, counts[i] * sizeof(float));
    auto* const share_keys = static_cast<float*>(memory.back().get());
    memory.emplace_back(device_of(i), counts[i] * sizeof(std::int64_t));
    memory.back().put(values.data() + next, counts[i] * sizeof(std::int64_t));
    auto* const share_values = static_cast<std::int64_t*>(memory.back().get());
    memory.emplace_back(device_of(i), bytes);
    shares.push_back(
        {device_of(i), share_keys, share_values, counts[i], {memory.back().get(), bytes}});
  }
  sort_device_pair_shares<float, std::int64_t>(shares, Order::kDescending);
  memory[1].get(values.data(), 2 * sizeof(std::int64_t));
  memory[4].get(values.data() + 2, 3 * sizeof(std::int64_t));
  EXPECT_EQ(values, (std::vector<std::int64_t>{2, 0, 4, 1, 3}));
  memory[3].get(keys.data(), 3 * sizeof(float));
  EXPECT_TRUE(keys[0] == 0 && std::signbit(keys[0]));
}

TEST_F(LibraryShares, OfPairsInHostMemoryAreSorted) {
  const std::size_t bytes = host_pairs_scratch_bytes<double, float>(5, 2);
  const std::size_t index_bytes = host_pairs_scratch_bytes<double, std::int64_t>(5, 2);
  std::vector<OnDevice> memory;
  std::vector<HostSortDevice> devices;
  for (std::size_t i = 0; i < 2; ++i) {
    memory.emplace_back(device_of(i), std::max(bytes, index_bytes));
    devices.push_back({device_of(i), {memory.back().get(), std::max(bytes, index_bytes)}});
  }
  std::vector<double> keys = {0.0, -1.0, 7.0, -1.0, -0.0};
  std::vector<std::int64_t> order(5);
  argsort_host_keys(keys.data(), order.data(), 5, Order::kDescending, devices);
  EXPECT_EQ(order, (std::vector<std::int64_t>{2, 0, 4, 1, 3}));
  std::vector<float> values = {0.0F, 1.0F, 2.0F, 3.0F, 4.0F};
  sort_host_pairs(keys.data(), keys.data(), values.data(), values.data(), 5, Order::kAscending,
                  devices);
  EXPECT_EQ(keys, (std::vector<double>{-1.0, -1.0, 0.0, -0.0, 7.0}));
  EXPECT_TRUE(!std::signbit(keys[2]) && std::signbit(keys[3]));
  EXPECT_EQ(values, (std::vector<float>{1.0F, 3.0F, 0.0F, 4.0F, 2.0F}));
}

TEST_F(LibraryShares, OfPairsInHostMemoryRefuseWhatCannotBe) {
  const auto expect_usage_error = [](const auto& call, const std::string& part) {
    const Error error = test::error_of(call);
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  };
  std::vector<std::uint32_t> keys(4);
  std::vector<std::uint32_t> values(4);
  const std::vector<HostSortDevice> devices = {{0, {}}};
  const auto sort = [&](const std::uint32_t* values_in, std::uint32_t* values_out) {
    sort_host_pairs(keys.data(), keys.data(), values_in, values_out, 4, Order::kAscending, devices);
  };
  expect_usage_error([&] { sort(nullptr, values.data()); }, "null");
  expect_usage_error([&] { sort(values.data(), nullptr); }, "null");
  expect_usage_error([&] { sort(keys.data(), values.data()); }, "overlap");
  expect_usage_error([&] { sort(values.data(), keys.data()); }, "overlap");
  expect_usage_error([&] { sort(values.data(), values.data() + 1); }, "overlap");
  expect_usage_error([&] { sort(values.data(), values.data()); }, "scratch");
  expect_usage_error(
      [&] { argsort_host_keys(keys.data(), keys.data(), 4, Order::kAscending, devices); },
      "overlap");
  expect_usage_error(
      [&] {
        argsort_host_keys(keys.data(), reinterpret_cast<std::int32_t*>(values.data()),
                          std::uint64_t{1} << 31, Order::kAscending, devices);
      },
      "do not fit in 31 bits");
}

}  // namespace
}  // namespace gsort::gpu
