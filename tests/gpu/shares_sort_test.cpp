// Sorts over several devices, of keys and of pairs, against std::stable_sort of a copy: shares of
// every size, ties that lie across all shares, and calls that fail on one device. Values are the
// numbers of the pairs, so that every exchange of equal keys shows.
#include "gpu/shares/shares_sort.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/shares/host_shares.hpp"
#include "pairs_on_both.hpp"
#include "share_memory.hpp"
#include "support/error_of.hpp"

namespace gsort::gpu {
namespace {

// Elements in which the value of a pair is its number, as in argsort.
template <class T>
HostPairs<T> numbered(std::vector<typename T::Key> keys) {
  HostPairs<T> elements{std::move(keys), {}};
  if (kHasValues<typename T::Value>) elements.values.resize(elements.count());
  std::iota(elements.values.begin(), elements.values.end(), ValueOf<T>{});
  return elements;
}

// The elements, stably sorted; the map gives equal floats one number, and they keep their bits.
template <class T>
HostPairs<T> sorted_copy(const HostPairs<T>& elements, const KeyMap<typename T::Key>& map) {
  std::vector<std::size_t> order(elements.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return map.to_ordered(elements.keys[i]); });
  HostPairs<T> sorted;
  for (const std::size_t i : order) {
    sorted.keys.push_back(elements.keys[i]);
    if (kHasValues<typename T::Value>) sorted.values.push_back(elements.values[i]);
  }
  return sorted;
}

// Elements, dealt out to shares of these sizes.
template <class T>
class Shared {
  using K = typename T::Key;
  using V = typename T::Value;

 public:
  Shared(const HostPairs<T>& elements, const std::vector<std::uint64_t>& counts,
         bool are_floats = false) {
    const auto number = static_cast<std::uint32_t>(counts.size());
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::uint64_t count = counts[i];
      const std::size_t scratch = scratch_bytes(count, number, are_floats);
      shares_.push_back({device_of(i),
                         put(i, elements.keys, next, count),
                         count,
                         {memory_.emplace_back(device_of(i), scratch).get(), scratch}});
      if constexpr (kHasValues<V>) {
        shares_.back().values = put(i, elements.values, next, count);
      }
      next += count;
    }
  }

  void sort(const KeyMap<K>& map) const {
    if constexpr (kHasValues<V>) {
      sort_pair_shares<K, V>(shares_, map);
    } else {
      sort_shares<K>(shares_, map);
    }
  }

  [[nodiscard]] HostPairs<T> all() const {
    HostPairs<T> elements;
    for (const PairShare<K, V>& share : shares_) {
      append(share, share.keys, elements.keys);
      if constexpr (kHasValues<V>) append(share, share.values, elements.values);
    }
    return elements;
  }

  [[nodiscard]] const std::vector<PairShare<K, V>>& shares() const { return shares_; }

 private:
  static std::size_t scratch_bytes(std::uint64_t count, std::uint32_t shares, bool are_floats) {
    if constexpr (kHasValues<V>) {
      return sort_pair_shares_scratch_bytes<K, V>(count, shares, are_floats);
    } else {
      return sort_shares_scratch_bytes<K>(count, shares);
    }
  }
  template <class Word>
  Word* put(std::size_t share, const std::vector<Word>& from, std::uint64_t first,
            std::uint64_t count) {
    const OnDevice& memory = memory_.emplace_back(device_of(share), count * sizeof(Word));
    memory.put(from.data() + first, count * sizeof(Word));
    return static_cast<Word*>(memory.get());
  }
  template <class Word>
  static void append(const PairShare<K, V>& share, const Word* from, std::vector<Word>& to) {
    to.resize(to.size() + share.count);
    use_device(share.ordinal);
    ASSERT_EQ(cudaMemcpy(to.data() + to.size() - share.count, from, share.count * sizeof(Word),
                         cudaMemcpyDeviceToHost),
              cudaSuccess);
  }

  std::vector<OnDevice> memory_;
  std::vector<PairShare<K, V>> shares_;
};

// Devices with scratch memory for a sort of elements in host memory.
template <class T>
class HostSharing {
  using K = typename T::Key;
  using V = typename T::Value;

 public:
  static std::size_t scratch_bytes(std::uint64_t count, std::uint32_t devices,
                                   std::uint64_t least_chunk_keys = kLeastChunkKeys) {
    if constexpr (kHasValues<V>) {
      return sort_host_pairs_scratch_bytes<K, V>(count, devices, least_chunk_keys);
    } else {
      return sort_host_shares_scratch_bytes<K>(count, devices, least_chunk_keys);
    }
  }

  HostSharing(std::uint64_t count, std::uint32_t devices, std::uint64_t least_chunk_keys)
      : least_chunk_keys_(least_chunk_keys) {
    for (std::uint32_t i = 0; i < devices; ++i) {
      scratch_.emplace_back(device_of(i), scratch_bytes(count, devices, least_chunk_keys));
      devices_.push_back(scratch_.back().device());
    }
  }

  void sort(const HostPairs<T>& input, HostPairs<T>& output, const KeyMap<K>& map) const {
    if constexpr (kHasValues<V>) {
      sort_host_pairs<K, V>({.input = {input.keys.data(), input.values.data()},
                             .output = {output.keys.data(), output.values.data()},
                             .count = input.count(),
                             .map = map,
                             .least_chunk_keys = least_chunk_keys_},
                            devices_);
    } else {
      sort_host_shares<K>(
          {input.keys.data(), output.keys.data(), input.count(), map, least_chunk_keys_}, devices_);
    }
  }
  [[nodiscard]] std::vector<V> argsort(const std::vector<K>& keys, const KeyMap<K>& map) const
      requires(kHasValues<V>) {
    std::vector<V> numbers(keys.size());
    sort_host_pairs<K, V>({.input = {keys.data(), nullptr},
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

template <class T>
class SharesSort : public GpuTest {};

using SharedElements =
    ::testing::Types<Types<std::uint32_t, NoValue>, Types<std::uint64_t, NoValue>,
                     Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, std::uint64_t>,
                     Types<std::uint64_t, std::uint32_t>, Types<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(SharesSort, SharedElements);

TYPED_TEST(SharesSort, SortsSharesAsOneSequence) {
  using Key = typename TypeParam::Key;
  for (const auto& counts : kCounts) {
    for (const std::uint64_t values : {0U, 1U, 2U, 100U}) {
      const auto elements =
          numbered<TypeParam>(keys_of<Key>(sum_of(counts), values, counts.size()));
      for (const auto& map : {KeyMap<Key>{}, signed_descending<Key>()}) {
        if (is_left_out()) continue;
        SCOPED_TRACE(testing::Message() << counts.size() << " shares, " << values << " values");
        const Shared<TypeParam> shared(elements, counts);
        use_device(device_of(1));
        shared.sort(map);
        EXPECT_EQ(current_ordinal(), device_of(1));
        ASSERT_TRUE(shared.all() == sorted_copy(elements, map));
      }
    }
  }
}

// Pairs of equal floats keep their order and their bits.
template <class T>
class FloatShares : public GpuTest {};
TYPED_TEST_SUITE(FloatShares, AllPairs);

TYPED_TEST(FloatShares, AreSortedInNumericOrder) {
  using Key = typename TypeParam::Key;
  for (const bool descending : {false, true}) {
    const auto map = float_classes<Key>(descending);
    for (const auto& counts : kCounts) {
      if (is_left_out()) continue;
      SCOPED_TRACE(testing::Message() << counts.size() << " shares");
      const auto pairs = numbered<TypeParam>(float_keys_of<Key>(sum_of(counts), counts.size()));
      const Shared<TypeParam> shared(pairs, counts, true);
      shared.sort(map);
      ASSERT_TRUE(shared.all() == sorted_copy(pairs, map));
    }
  }
}

template <class T>
void expect_host_sort(std::vector<typename T::Key> keys, std::uint32_t devices,
                      std::uint64_t least_chunk_keys, const KeyMap<typename T::Key>& map) {
  SCOPED_TRACE(testing::Message() << devices << " devices, " << keys.size()
                                  << " keys, chunks of at least " << least_chunk_keys);
  auto elements = numbered<T>(std::move(keys));
  const auto expected = sorted_copy(elements, map);
  const HostSharing<T> sharing(elements.count(), devices, least_chunk_keys);
  HostPairs<T> apart{std::vector<typename T::Key>(elements.count()),
                     std::vector<ValueOf<T>>(elements.values.size())};
  if constexpr (kHasValues<typename T::Value>) {
    EXPECT_TRUE(sharing.argsort(elements.keys, map) == expected.values);
  }
  sharing.sort(elements, apart, map);
  EXPECT_TRUE(apart == expected);
  sharing.sort(elements, elements, map);
  EXPECT_TRUE(elements == expected) << "in place";
  EXPECT_TRUE(sharing.guards_are_whole());
}

TYPED_TEST(SharesSort, SortsHostMemoryOnSeveralDevices) {
  using Key = typename TypeParam::Key;
  for (const std::uint32_t devices : {1U, 2U, 3U, 4U, 9U}) {
    for (const std::uint64_t values : {0U, 1U, 30U}) {
      for (const std::uint64_t count : {0U, 1U, 2U, 5'003U}) {
        if (is_left_out()) continue;
        for (const std::uint64_t least_chunk_keys : {kLeastChunkKeys, std::uint64_t{50}}) {
          expect_host_sort<TypeParam>(keys_of<Key>(count, values, count), devices, least_chunk_keys,
                                      signed_descending<Key>());
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(FloatShares, ComeFromHostMemoryInNumericOrder) {
  using Key = typename TypeParam::Key;
  for (const bool descending : {false, true}) {
    for (const std::uint32_t devices : {1U, 2U, 9U}) {
      for (const std::uint64_t count : {3'001U, 1U, 0U}) {
        if (is_left_out()) continue;
        for (const std::uint64_t least_chunk_keys : {kLeastChunkKeys, std::uint64_t{50}}) {
          expect_host_sort<TypeParam>(float_keys_of<Key>(count, devices), devices, least_chunk_keys,
                                      float_classes<Key>(descending));
        }
      }
    }
  }
}

// Enough for several chunks and pieces on each device.
TYPED_TEST(SharesSort, SortsHostMemoryInPieces) {
  using Key = typename TypeParam::Key;
  constexpr std::uint64_t kCount = 7 * kLeastChunkKeys + 5;
  if (are_too_many(kCount)) return;
  expect_host_sort<TypeParam>(keys_of<Key>(kCount, 1'000, 1), 3, kLeastChunkKeys,
                              signed_descending<Key>());
  if constexpr (kHasValues<typename TypeParam::Value>) {
    expect_host_sort<TypeParam>(float_keys_of<Key>(kCount, 1), 3, kLeastChunkKeys,
                                float_classes<Key>(false));
  }
}

// A piece has a multiple of 32 keys, a part at most 8 pieces; more than 8 slices are merged twice.
TYPED_TEST(SharesSort, MergesPiecesOfEverySize) {
  using Key = typename TypeParam::Key;
  for (const std::uint32_t devices : {1U, 2U, 3U, 9U}) {
    for (const std::uint64_t share : {1U, 31U, 32U, 33U, 64U, 65U, 256U, 257U, 1'500U}) {
      if (is_left_out()) continue;
      for (const std::uint64_t count :
           {devices * share - 1, devices * share, devices * share + 1}) {
        expect_host_sort<TypeParam>(keys_of<Key>(count, 0, count), devices, 1, {});
      }
    }
  }
}

// All slices of a piece but one may be empty, and ties lie across all pieces.
TYPED_TEST(SharesSort, MergesPiecesOfSkewedShares) {
  using Key = typename TypeParam::Key;
  for (const std::uint32_t devices : {2U, 4U}) {
    for (const std::uint64_t values : {1U, 2U, 40U, 0U}) {
      if (is_left_out()) continue;
      auto keys = keys_of<Key>(4'001, values, devices);
      std::ranges::sort(keys);
      expect_host_sort<TypeParam>(keys, devices, 100, {});
      expect_host_sort<TypeParam>(keys, devices, 100, signed_descending<Key>());
      std::rotate(keys.begin(), keys.begin() + 1'234, keys.end());
      expect_host_sort<TypeParam>(keys, devices, 100, {});
    }
  }
}

TYPED_TEST(SharesSort, NeedsTwoArraysAndAnEighth) {
  using Value = typename TypeParam::Value;
  const std::size_t element_bytes =
      sizeof(typename TypeParam::Key) + (kHasValues<Value> ? sizeof(Value) : std::size_t{0});
  for (const std::uint32_t devices : {1U, 2U, 3U, 8U}) {
    for (const std::uint64_t share : {std::uint64_t{1} << 24, (std::uint64_t{1} << 28) + 1}) {
      const std::size_t array = share * element_bytes;
      const auto bytes = HostSharing<TypeParam>::scratch_bytes(devices * share, devices);
      EXPECT_LE(bytes, array * 2 + array / 8 + array / 32) << devices << " devices, " << share;
    }
  }
}

class DeviceShares : public GpuTest {};

// In a chunk of so many pairs, a sort by distribution would need more memory than there is.
TEST_F(DeviceShares, OfHostMemoryAreManyInAChunk) {
  using Key = std::uint64_t;
  constexpr std::uint64_t kCount = std::uint64_t{1} << 26;
  if (are_too_many(kCount)) return;
  const auto keys = keys_of<Key>(kCount, 1'000'000, 1);
  const HostSharing<Types<Key, Key>> sharing(kCount, 1, kCount);
  const std::vector<Key> order = sharing.argsort(keys, {});
  ASSERT_LT(std::ranges::max(order), kCount);
  const auto pair_at = [&](std::size_t i) { return std::pair(keys[order[i]], order[i]); };
  for (std::size_t i = 1; i < kCount; ++i) ASSERT_LT(pair_at(i - 1), pair_at(i)) << i;
}

template <class T>
class FailingShares : public GpuTest {};
using FailingElements =
    ::testing::Types<Types<std::uint32_t, NoValue>, Types<std::uint32_t, std::uint32_t>>;
TYPED_TEST_SUITE(FailingShares, FailingElements);

TYPED_TEST(FailingShares, SayWhichDeviceFailed) {
  const std::vector<std::uint64_t> counts = {700, 900, 400};
  const auto elements = numbered<TypeParam>(keys_of<std::uint32_t>(sum_of(counts), 0, 1));
  const auto expected = sorted_copy(elements, {});
  expect_device_errors([&] {
    return [&, shared = std::make_shared<Shared<TypeParam>>(elements, counts)] {
      shared->sort({});
      return !cuda_fault_was_met() && shared->all() == expected;
    };
  });
}

TYPED_TEST(FailingShares, OfHostMemorySayWhichDeviceFailed) {
  const auto elements = numbered<TypeParam>(keys_of<std::uint32_t>(1'000, 0, 1));
  const auto expected = sorted_copy(elements, {});
  expect_device_errors([&] {
    return [&, sharing = std::make_shared<HostSharing<TypeParam>>(elements.count(), 3, 100)] {
      auto sorted = elements;
      if constexpr (kHasValues<typename TypeParam::Value>) {
        sorted = {expected.keys, sharing->argsort(elements.keys, {})};
      } else {
        sharing->sort(elements, sorted, {});
      }
      return !cuda_fault_was_met() && sorted == expected;
    };
  });
}

void expect_usage_error(const std::string& part, const std::function<void()>& call) {
  const Error error = test::error_of(call);
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
}

TEST_F(DeviceShares, RefuseWhatCannotBe) {
  std::uint32_t key = 0;
  expect_usage_error("", [] { sort_shares<std::uint32_t>({}, {}); });
  expect_usage_error("", [&] { sort_host_shares<std::uint32_t>({&key, &key, 1, {}}, {}); });
  const std::vector<DeviceShare<std::uint32_t>> no_keys = {{0, nullptr, 5, {}}};
  expect_usage_error("", [&] { sort_shares<std::uint32_t>(no_keys, {}); });
  const std::vector<DeviceShare<std::uint32_t>> no_scratch = {{0, &key, 1, {}}};
  expect_usage_error("", [&] { sort_shares<std::uint32_t>(no_scratch, {}); });
  const std::vector<PairShare<std::uint32_t, std::uint32_t>> no_values = {
      {.ordinal = 0, .keys = &key, .count = 1}};
  expect_usage_error("a share of values",
                     [&] { sort_pair_shares<std::uint32_t, std::uint32_t>(no_values, {}); });
}

// The shares, the keys and the scratch memory of each: nothing may lie in two of them.
TEST_F(DeviceShares, RefuseMemoryThatOverlapsBeforeAnythingIsDone) {
  using Keys = Types<std::uint32_t, NoValue>;
  const auto keys = numbered<Keys>(keys_of<std::uint32_t>(1'800, 0, 1));
  const Shared<Keys> shared(keys, {900, 900});
  const auto sort_with = [&](const auto& change) {
    auto shares = shared.shares();
    change(shares);
    sort_shares<std::uint32_t>(shares, signed_descending<std::uint32_t>());
  };
  expect_usage_error("overlap",
                     [&] { sort_with([](auto& shares) { shares[1].keys = shares[0].keys; }); });
  expect_usage_error(
      "overlap", [&] { sort_with([](auto& shares) { shares[1].scratch = shares[0].scratch; }); });
  expect_usage_error("overlap", [&] {
    sort_with([](auto& shares) {
      shares[1].keys = static_cast<std::uint32_t*>(shares[1].scratch.memory) + 64;
    });
  });
  EXPECT_TRUE(shared.all() == keys);

  const std::size_t bytes = sort_host_shares_scratch_bytes<std::uint32_t>(keys.count(), 2);
  const OnDevice scratch(device_of(0), bytes);
  const SharingDevice device{device_of(0), {scratch.get(), bytes}};
  auto sorted = keys.keys;
  expect_usage_error("overlap", [&] {
    sort_host_shares<std::uint32_t>({sorted.data(), sorted.data(), sorted.size(), {}},
                                    std::vector{device, device});
  });
  EXPECT_TRUE(sorted == keys.keys);
}

}  // namespace
}  // namespace gsort::gpu
