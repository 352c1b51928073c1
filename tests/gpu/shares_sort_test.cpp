// Sorts over several devices, against std::sort of a copy: shares of every size, ties that lie
// across all shares, and calls that fail on one device.
#include "gpu/shares/shares_sort.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "device_memory.hpp"
#include "gpu/shares/host_shares.hpp"
#include "library/device_shares.hpp"
#include "share_memory.hpp"
#include "support/error_of.hpp"

namespace gsort::gpu {
namespace {

template <class Key>
class SharesSort : public GpuTest {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(SharesSort, KeyTypes);

class DeviceShares : public GpuTest {};

// Keys, dealt out to shares of these sizes.
template <class Key>
class Shared {
 public:
  Shared(const std::vector<Key>& keys, const std::vector<std::uint64_t>& counts) {
    const Key* next = keys.data();
    const auto number = static_cast<std::uint32_t>(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t scratch = sort_shares_scratch_bytes<Key>(counts[i], number);
      keys_.emplace_back(device_of(i), counts[i] * sizeof(Key));
      keys_.back().put(next, counts[i] * sizeof(Key));
      scratch_.emplace_back(device_of(i), scratch);
      shares_.push_back({device_of(i),
                         static_cast<Key*>(keys_.back().get()),
                         counts[i],
                         {scratch_.back().get(), scratch}});
      next += counts[i];
    }
  }

  [[nodiscard]] std::vector<Key> all() const {
    std::vector<Key> keys;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      std::vector<Key> share(shares_[i].count);
      keys_[i].get(share.data(), share.size() * sizeof(Key));
      keys.insert(keys.end(), share.begin(), share.end());
    }
    return keys;
  }

  [[nodiscard]] const std::vector<DeviceShare<Key>>& shares() const { return shares_; }

 private:
  std::vector<OnDevice> keys_;
  std::vector<OnDevice> scratch_;
  std::vector<DeviceShare<Key>> shares_;
};

template <class Key>
std::vector<Key> sorted_copy(std::vector<Key> keys, const KeyMap<Key>& map) {
  std::ranges::sort(keys, {}, [&](Key key) { return map.to_ordered(key); });
  return keys;
}

TYPED_TEST(SharesSort, SortsSharesAsOneSequence) {
  for (const auto& counts : kCounts) {
    for (const std::uint64_t values : {0U, 1U, 2U, 100U}) {
      const auto keys = keys_of<TypeParam>(sum_of(counts), values, counts.size());
      for (const auto& map : {KeyMap<TypeParam>{}, signed_descending<TypeParam>()}) {
        if (is_left_out()) continue;
        SCOPED_TRACE(testing::Message() << counts.size() << " shares, " << values << " values");
        const Shared<TypeParam> shared(keys, counts);
        use_device(device_of(1));
        sort_shares<TypeParam>(shared.shares(), map);
        EXPECT_EQ(current_ordinal(), device_of(1));
        ASSERT_TRUE(shared.all() == sorted_copy(keys, map));
      }
    }
  }
}

// Devices with scratch memory for a sort of keys in host memory.
template <class Key>
class HostSharing {
 public:
  HostSharing(std::uint64_t count, std::uint32_t devices, std::uint64_t least_chunk_keys)
      : least_chunk_keys_(least_chunk_keys) {
    const auto bytes = sort_host_shares_scratch_bytes<Key>(count, devices, least_chunk_keys);
    for (std::uint32_t i = 0; i < devices; ++i) {
      scratch_.emplace_back(device_of(i), bytes);
      devices_.push_back(scratch_.back().device());
    }
  }

  void sort(const std::vector<Key>& input, std::vector<Key>& output, const KeyMap<Key>& map) const {
    sort_host_shares<Key>({input.data(), output.data(), input.size(), map, least_chunk_keys_},
                          devices_);
  }

  [[nodiscard]] bool guards_are_whole() const {
    return std::ranges::all_of(scratch_, &GuardedScratch::guard_is_whole);
  }

 private:
  std::uint64_t least_chunk_keys_;
  std::vector<GuardedScratch> scratch_;
  std::vector<SharingDevice> devices_;
};

template <class Key>
void expect_host_sort(std::vector<Key> keys, std::uint32_t devices, std::uint64_t least_chunk_keys,
                      const KeyMap<Key>& map) {
  if (is_left_out()) return;
  SCOPED_TRACE(testing::Message() << devices << " devices, " << keys.size()
                                  << " keys, chunks of at least " << least_chunk_keys);
  const auto expected = sorted_copy(keys, map);
  const HostSharing<Key> sharing(keys.size(), devices, least_chunk_keys);
  std::vector<Key> apart(keys.size());
  sharing.sort(keys, apart, map);
  EXPECT_TRUE(apart == expected);
  sharing.sort(keys, keys, map);
  EXPECT_TRUE(keys == expected) << "in place";
  EXPECT_TRUE(sharing.guards_are_whole());
}

TYPED_TEST(SharesSort, SortsHostMemoryOnSeveralDevices) {
  for (const std::uint32_t devices : {1U, 2U, 3U, 4U}) {
    for (const std::uint64_t count : {0U, 1U, 2U, 5'003U}) {
      expect_host_sort<TypeParam>(keys_of<TypeParam>(count, devices % 2 == 0 ? 0 : 20, count),
                                  devices, kLeastChunkKeys, signed_descending<TypeParam>());
    }
  }
}

// A piece has a multiple of 32 keys, a part at most 8 pieces; more than 8 slices are merged twice.
TYPED_TEST(SharesSort, MergesPiecesOfEverySize) {
  for (const std::uint32_t devices : {1U, 2U, 3U, 9U}) {
    for (const std::uint64_t share : {1U, 31U, 32U, 33U, 64U, 65U, 256U, 257U, 1'500U}) {
      for (const std::uint64_t count :
           {devices * share - 1, devices * share, devices * share + 1}) {
        expect_host_sort<TypeParam>(keys_of<TypeParam>(count, 0, count), devices, 1, {});
      }
    }
  }
}

// All slices of a piece but one may be empty, and ties lie across all pieces.
TYPED_TEST(SharesSort, MergesPiecesOfSkewedShares) {
  for (const std::uint32_t devices : {2U, 4U}) {
    for (const std::uint64_t values : {1U, 2U, 40U, 0U}) {
      auto keys = keys_of<TypeParam>(4'001, values, devices);
      std::ranges::sort(keys);
      expect_host_sort<TypeParam>(keys, devices, 100, {});
      expect_host_sort<TypeParam>(keys, devices, 100, signed_descending<TypeParam>());
      std::rotate(keys.begin(), keys.begin() + 1'234, keys.end());
      expect_host_sort<TypeParam>(keys, devices, 100, {});
    }
  }
}

TYPED_TEST(SharesSort, NeedsTwoArraysAndAnEighth) {
  for (const std::uint32_t devices : {1U, 2U, 3U, 8U}) {
    for (const std::uint64_t share : {std::uint64_t{1} << 24, (std::uint64_t{1} << 28) + 1}) {
      const std::size_t array = share * sizeof(TypeParam);
      const auto bytes = sort_host_shares_scratch_bytes<TypeParam>(devices * share, devices);
      EXPECT_LE(bytes, array * 2 + array / 8 + array / 32) << devices << " devices, " << share;
    }
  }
}

TEST_F(DeviceShares, AreSortedByTheLibrary) {
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

TEST_F(DeviceShares, SayWhichDeviceFailed) {
  const std::vector<std::uint64_t> counts = {700, 900, 400};
  const auto keys = keys_of<std::uint32_t>(sum_of(counts), 0, 1);
  const auto expected = sorted_copy(keys, {});
  expect_device_errors([&] {
    return [&, shared = std::make_shared<Shared<std::uint32_t>>(keys, counts)] {
      sort_shares<std::uint32_t>(shared->shares(), {});
      return !cuda_fault_was_met() && shared->all() == expected;
    };
  });
}

TEST_F(DeviceShares, OfHostMemorySayWhichDeviceFailed) {
  const auto keys = keys_of<std::uint32_t>(1'000, 0, 1);
  const auto expected = sorted_copy(keys, {});
  expect_device_errors([&] {
    return [&, sharing = std::make_shared<HostSharing<std::uint32_t>>(keys.size(), 3, 100)] {
      std::vector<std::uint32_t> sorted(keys.size());
      sharing->sort(keys, sorted, {});
      return !cuda_fault_was_met() && sorted == expected;
    };
  });
}

TEST_F(DeviceShares, RefuseWhatCannotBe) {
  const auto kind_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::kStopped;
  };
  std::uint32_t key = 0;
  EXPECT_EQ(kind_of([] { sort_shares<std::uint32_t>({}, {}); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([&] {
              sort_host_shares<std::uint32_t>({&key, &key, 1, {}}, {});
            }),
            ErrorKind::kUsage);
  const std::vector<DeviceShare<std::uint32_t>> no_keys = {{0, nullptr, 5, {}}};
  EXPECT_EQ(kind_of([&] { sort_shares<std::uint32_t>(no_keys, {}); }), ErrorKind::kUsage);
  const std::vector<DeviceShare<std::uint32_t>> no_scratch = {{0, &key, 1, {}}};
  EXPECT_EQ(kind_of([&] { sort_shares<std::uint32_t>(no_scratch, {}); }), ErrorKind::kUsage);
}

// The shares, the keys and the scratch memory of each: nothing may lie in two of them.
TEST_F(DeviceShares, RefuseMemoryThatOverlapsBeforeAnythingIsDone) {
  const auto expect_overlap = [](const auto& call) {
    const Error error = test::error_of(call);
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_NE(std::string(error.what()).find("overlap"), std::string::npos) << error.what();
  };
  const auto keys = keys_of<std::uint32_t>(1'800, 0, 1);
  const Shared<std::uint32_t> shared(keys, {900, 900});
  const auto sort_with = [&](const auto& change) {
    auto shares = shared.shares();
    change(shares);
    sort_shares<std::uint32_t>(shares, signed_descending<std::uint32_t>());
  };
  expect_overlap([&] { sort_with([](auto& shares) { shares[1].keys = shares[0].keys; }); });
  expect_overlap([&] { sort_with([](auto& shares) { shares[1].scratch = shares[0].scratch; }); });
  expect_overlap([&] {
    sort_with([](auto& shares) {
      shares[1].keys = static_cast<std::uint32_t*>(shares[1].scratch.memory) + 64;
    });
  });
  EXPECT_TRUE(shared.all() == keys);

  const std::size_t bytes = sort_host_shares_scratch_bytes<std::uint32_t>(keys.size(), 2);
  const OnDevice scratch(device_of(0), bytes);
  const SharingDevice device{device_of(0), {scratch.get(), bytes}};
  std::vector<std::uint32_t> sorted = keys;
  expect_overlap([&] {
    sort_host_shares<std::uint32_t>({sorted.data(), sorted.data(), sorted.size(), {}},
                                    std::vector{device, device});
  });
  EXPECT_TRUE(sorted == keys);
}

}  // namespace
}  // namespace gsort::gpu
