// Sorts of pairs over several devices, against std::stable_sort of a copy; values are the numbers
// of the pairs, so that every exchange of equal keys shows.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "gpu/shares/host_shares.hpp"
#include "gpu/shares/shares_sort.hpp"
#include "library/device_shares.hpp"
#include "share_memory.hpp"
#include "support/error_of.hpp"

namespace gsort::gpu {
namespace {

template <class Key, class Value>
struct HostPairs {
  std::vector<Key> keys;
  std::vector<Value> values;
  friend bool operator==(const HostPairs&, const HostPairs&) = default;
};

template <class Value, class Key>
HostPairs<Key, Value> numbered(std::vector<Key> keys) {
  std::vector<Value> values(keys.size());
  std::iota(values.begin(), values.end(), Value{0});
  return {std::move(keys), std::move(values)};
}

template <class Value, class Key>
HostPairs<Key, Value> stably_sorted(const std::vector<Key>& keys, const KeyMap<Key>& map) {
  HostPairs<Key, Value> sorted = numbered<Value>(keys);
  std::ranges::stable_sort(sorted.values, {}, [&](Value i) {
    return map.to_ordered(keys[static_cast<std::size_t>(i)]);
  });
  std::ranges::transform(sorted.values, sorted.keys.begin(),
                         [&](Value i) { return keys[static_cast<std::size_t>(i)]; });
  return sorted;
}

// Pairs, dealt out to shares of these sizes.
template <class Key, class Value>
class SharedPairs {
 public:
  SharedPairs(const HostPairs<Key, Value>& pairs, const std::vector<std::uint64_t>& counts,
              bool are_floats = false) {
    const auto number = static_cast<std::uint32_t>(counts.size());
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t scratch =
          sort_pair_shares_scratch_bytes<Key, Value>(counts[i], number, are_floats);
      keys_.emplace_back(device_of(i), counts[i] * sizeof(Key));
      keys_.back().put(pairs.keys.data() + next, counts[i] * sizeof(Key));
      values_.emplace_back(device_of(i), counts[i] * sizeof(Value));
      values_.back().put(pairs.values.data() + next, counts[i] * sizeof(Value));
      scratch_.emplace_back(device_of(i), scratch);
      shares_.push_back({device_of(i),
                         static_cast<Key*>(keys_.back().get()),
                         counts[i],
                         {scratch_.back().get(), scratch},
                         static_cast<Value*>(values_.back().get())});
      next += counts[i];
    }
  }

  [[nodiscard]] HostPairs<Key, Value> all() const {
    HostPairs<Key, Value> pairs;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      append(keys_[i], shares_[i].count, pairs.keys);
      append(values_[i], shares_[i].count, pairs.values);
    }
    return pairs;
  }

  [[nodiscard]] const std::vector<PairShare<Key, Value>>& shares() const { return shares_; }

 private:
  template <class T>
  static void append(const OnDevice& memory, std::uint64_t count, std::vector<T>& to) {
    to.resize(to.size() + count);
    memory.get(to.data() + to.size() - count, count * sizeof(T));
  }

  std::vector<OnDevice> keys_;
  std::vector<OnDevice> values_;
  std::vector<OnDevice> scratch_;
  std::vector<PairShare<Key, Value>> shares_;
};

// Devices with scratch memory for a sort of pairs in host memory.
template <class Key, class Value>
class PairSharing {
 public:
  PairSharing(std::uint64_t count, std::uint32_t devices, std::uint64_t least_chunk_keys)
      : least_chunk_keys_(least_chunk_keys) {
    const auto bytes = sort_host_pairs_scratch_bytes<Key, Value>(count, devices, least_chunk_keys);
    for (std::uint32_t i = 0; i < devices; ++i) {
      scratch_.emplace_back(device_of(i), bytes);
      devices_.push_back(scratch_.back().device());
    }
  }

  void sort(const HostPairs<Key, Value>& input, HostPairs<Key, Value>& output,
            const KeyMap<Key>& map) const {
    sort_host_pairs<Key, Value>({.input = {input.keys.data(), input.values.data()},
                                 .output = {output.keys.data(), output.values.data()},
                                 .count = input.keys.size(),
                                 .map = map,
                                 .least_chunk_keys = least_chunk_keys_},
                                devices_);
  }
  [[nodiscard]] std::vector<Value> argsort(const std::vector<Key>& keys,
                                           const KeyMap<Key>& map) const {
    std::vector<Value> numbers(keys.size());
    sort_host_pairs<Key, Value>({.input = {keys.data(), nullptr},
                                 .output = {nullptr, numbers.data()},
                                 .count = keys.size(),
                                 .map = map,
                                 .least_chunk_keys = least_chunk_keys_,
                                 .takes_numbers = true},
                                devices_);
    return numbers;
  }
  [[nodiscard]] bool guards_are_whole() const {
    return std::ranges::all_of(scratch_, &GuardedScratch::guard_is_whole);
  }

 private:
  std::uint64_t least_chunk_keys_;
  std::vector<GuardedScratch> scratch_;
  std::vector<SharingDevice> devices_;
};

template <class Types>
class SharesOfPairs : public GpuTest {};

using PairTypes = ::testing::Types<
    std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint64_t>,
    std::pair<std::uint64_t, std::uint32_t>, std::pair<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(SharesOfPairs, PairTypes);

TYPED_TEST(SharesOfPairs, AreSortedStablyAsOneSequence) {
  using Key = typename TypeParam::first_type;
  using Value = typename TypeParam::second_type;
  for (const auto& counts : kCounts) {
    for (const std::uint64_t values : {0U, 1U, 2U, 100U}) {
      if (is_left_out()) continue;
      SCOPED_TRACE(testing::Message() << counts.size() << " shares, " << values << " values");
      const auto keys = keys_of<Key>(sum_of(counts), values, counts.size());
      const auto map = values == 2 ? KeyMap<Key>{} : signed_descending<Key>();
      const SharedPairs<Key, Value> shared(numbered<Value>(keys), counts);
      sort_pair_shares<Key, Value>(shared.shares(), map);
      ASSERT_TRUE(shared.all() == stably_sorted<Value>(keys, map));
    }
  }
}

// Equal floats keep their order and their bits.
TYPED_TEST(SharesOfPairs, OfFloatsAreInNumericOrder) {
  using Key = typename TypeParam::first_type;
  using Value = typename TypeParam::second_type;
  for (const bool descending : {false, true}) {
    const auto map = float_classes<Key>(descending);
    for (const auto& counts : kCounts) {
      if (is_left_out()) continue;
      SCOPED_TRACE(testing::Message() << counts.size() << " shares");
      const auto keys = float_keys_of<Key>(sum_of(counts), counts.size());
      const SharedPairs<Key, Value> shared(numbered<Value>(keys), counts, true);
      sort_pair_shares<Key, Value>(shared.shares(), map);
      ASSERT_TRUE(shared.all() == stably_sorted<Value>(keys, map));
    }
  }
}

template <class Key, class Value>
void expect_host_sorts(const std::vector<Key>& keys, std::uint32_t devices,
                       std::uint64_t least_chunk_keys,
                       const KeyMap<Key>& map = signed_descending<Key>()) {
  if (is_left_out()) return;
  SCOPED_TRACE(testing::Message() << devices << " devices, " << keys.size()
                                  << " pairs, chunks of at least " << least_chunk_keys);
  const auto expected = stably_sorted<Value>(keys, map);
  const PairSharing<Key, Value> sharing(keys.size(), devices, least_chunk_keys);
  HostPairs<Key, Value> pairs = numbered<Value>(keys);
  HostPairs<Key, Value> apart = pairs;
  sharing.sort(pairs, apart, map);
  EXPECT_TRUE(apart == expected);
  sharing.sort(pairs, pairs, map);
  EXPECT_TRUE(pairs == expected) << "in place";
  EXPECT_TRUE(sharing.argsort(keys, map) == expected.values);
  EXPECT_TRUE(sharing.guards_are_whole());
}

TYPED_TEST(SharesOfPairs, ComeFromHostMemory) {
  using Key = typename TypeParam::first_type;
  using Value = typename TypeParam::second_type;
  for (const std::uint32_t devices : {1U, 2U, 3U, 4U, 9U}) {
    for (const std::uint64_t values : {0U, 1U, 30U}) {
      for (const std::uint64_t count : {0U, 1U, 2U, 3'001U}) {
        if (is_left_out()) continue;
        const auto keys = keys_of<Key>(count, values, count);
        expect_host_sorts<Key, Value>(keys, devices, kLeastChunkKeys);
        expect_host_sorts<Key, Value>(keys, devices, 50);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(SharesOfPairs, OfFloatsComeFromHostMemoryInNumericOrder) {
  using Key = typename TypeParam::first_type;
  using Value = typename TypeParam::second_type;
  for (const bool descending : {false, true}) {
    const auto map = float_classes<Key>(descending);
    for (const std::uint32_t devices : {1U, 2U, 9U}) {
      for (const std::uint64_t count : {3'001U, 1U, 0U}) {
        if (is_left_out()) continue;
        const auto keys = float_keys_of<Key>(count, devices);
        expect_host_sorts<Key, Value>(keys, devices, kLeastChunkKeys, map);
        expect_host_sorts<Key, Value>(keys, devices, 50, map);
      }
    }
  }
}

// Enough for several chunks and pieces on each device.
TYPED_TEST(SharesOfPairs, ComeFromHostMemoryInPieces) {
  using Key = typename TypeParam::first_type;
  using Value = typename TypeParam::second_type;
  constexpr std::uint64_t kCount = 7 * kLeastChunkKeys + 5;
  if (are_too_many(kCount)) return;
  expect_host_sorts<Key, Value>(keys_of<Key>(kCount, 1'000, 1), 3, kLeastChunkKeys);
  expect_host_sorts<Key, Value>(float_keys_of<Key>(kCount, 1), 3, kLeastChunkKeys,
                                float_classes<Key>(false));
}

TYPED_TEST(SharesOfPairs, NeedTwoArraysAndAnEighth) {
  using Key = typename TypeParam::first_type;
  using Value = typename TypeParam::second_type;
  for (const std::uint32_t devices : {1U, 2U, 8U}) {
    constexpr std::uint64_t kShare = (std::uint64_t{1} << 26) + 1;
    constexpr std::size_t kArray = kShare * (sizeof(Key) + sizeof(Value));
    const auto bytes = sort_host_pairs_scratch_bytes<Key, Value>(devices * kShare, devices);
    EXPECT_LE(bytes, kArray * 2 + kArray / 8 + kArray / 32) << devices << " devices";
  }
}

class DevicePairShares : public GpuTest {};

TEST_F(DevicePairShares, AreSortedByTheLibrary) {
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

TEST_F(DevicePairShares, OfHostMemoryAreSortedByTheLibrary) {
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

// So many that a sort by distribution would need more memory than there is.
TEST_F(DevicePairShares, OfHostMemoryAreManyInAChunk) {
  using Key = std::uint64_t;
  constexpr std::uint64_t kCount = std::uint64_t{1} << 26;
  if (are_too_many(kCount)) return;
  const auto keys = keys_of<Key>(kCount, 1'000'000, 1);
  const PairSharing<Key, Key> sharing(kCount, 1, kCount);
  const std::vector<Key> order = sharing.argsort(keys, {});
  ASSERT_LT(std::ranges::max(order), kCount);
  const auto pair_at = [&](std::size_t i) { return std::pair(keys[order[i]], order[i]); };
  for (std::size_t i = 1; i < kCount; ++i) ASSERT_LT(pair_at(i - 1), pair_at(i)) << i;
}

TEST_F(DevicePairShares, SayWhichDeviceFailed) {
  const std::vector<std::uint64_t> counts = {700, 900, 400};
  const auto keys = keys_of<std::uint32_t>(sum_of(counts), 0, 1);
  const auto pairs = numbered<std::uint32_t>(keys);
  const auto expected = stably_sorted<std::uint32_t>(keys, {});
  expect_device_errors([&] {
    return
        [&, shared = std::make_shared<SharedPairs<std::uint32_t, std::uint32_t>>(pairs, counts)] {
          sort_pair_shares<std::uint32_t, std::uint32_t>(shared->shares(), {});
          return !cuda_fault_was_met() && shared->all() == expected;
        };
  });
}

TEST_F(DevicePairShares, OfHostMemorySayWhichDeviceFailed) {
  const auto keys = keys_of<std::uint32_t>(1'000, 0, 1);
  const auto expected = stably_sorted<std::uint32_t>(keys, {});
  expect_device_errors([&] {
    return [&, sharing = std::make_shared<PairSharing<std::uint32_t, std::uint32_t>>(keys.size(), 3,
                                                                                     100)] {
      const auto numbers = sharing->argsort(keys, {});
      return !cuda_fault_was_met() && numbers == expected.values;
    };
  });
}

TEST_F(DevicePairShares, RefuseWhatCannotBe) {
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
  const std::vector<PairShare<std::uint32_t, std::uint32_t>> no_values = {
      {.ordinal = 0, .keys = keys.data(), .count = 4}};
  expect_usage_error([&] { sort_pair_shares<std::uint32_t, std::uint32_t>(no_values, {}); },
                     "a share of values");
}

}  // namespace
}  // namespace gsort::gpu
