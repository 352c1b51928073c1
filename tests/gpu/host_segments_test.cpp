// Many arrays in host memory, each sorted by itself on several devices, against std::stable_sort of
// copies: arrays of one length and of many, empty ones, one that is longer than all others, and
// calls that fail on one device. Values are numbers, so that every exchange of equal keys shows.
#include "gpu/shares/host_segments.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "library/device_shares.hpp"
#include "share_memory.hpp"

namespace gsort::gpu {
namespace {

using Offsets = std::vector<std::uint64_t>;

Offsets offsets_of(const std::vector<std::uint64_t>& lengths) {
  Offsets offsets = {0};
  for (const std::uint64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

Offsets random_offsets(std::uint64_t arrays, std::uint64_t longest) {
  std::mt19937_64 random(arrays);
  std::vector<std::uint64_t> lengths(arrays);
  for (std::uint64_t& length : lengths) length = random() % (longest + 1);
  return offsets_of(lengths);
}

// Arrays, of floats if the map is of floats, and the numbers that sort each of them.
template <class Key, class Value>
struct Arrays {
  Arrays(const Offsets& offsets, std::uint64_t values, const KeyMap<Key>& map)
      : keys(map.folds_classes ? float_keys_of<Key>(offsets.back(), offsets.size())
                               : keys_of<Key>(offsets.back(), values, offsets.size())),
        order(keys.size()),
        sorted(keys.size()) {
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      const auto begin = order.begin() + static_cast<std::ptrdiff_t>(offsets[i]);
      const auto end = order.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]);
      std::iota(begin, end, Value{0});
      const Key* const array = keys.data() + offsets[i];
      std::stable_sort(begin, end, [&](Value a, Value b) {
        return map.to_ordered(array[a]) < map.to_ordered(array[b]);
      });
      std::transform(begin, end, sorted.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
                     [&](Value number) { return array[number]; });
    }
  }
  std::vector<Key> keys;
  std::vector<Value> order;
  std::vector<Key> sorted;
};

template <class Types>
class HostSegmentsOf : public GpuTest {};

using PairTypes = ::testing::Types<
    std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint64_t>,
    std::pair<std::uint64_t, std::uint32_t>, std::pair<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(HostSegmentsOf, PairTypes);

struct Case {
  const Offsets& offsets;
  bool of_one_length = false;
  std::uint32_t devices = 1;
  std::uint64_t least_group_keys = kLeastGroupKeys;
};

template <class Key, class Value>
class Sorter {
 public:
  explicit Sorter(const Case& test) : test_(test) {
    arrays_.array_count = test.offsets.size() - 1;
    if (test.of_one_length) {
      arrays_.array_keys = arrays_.array_count == 0 ? 0 : test.offsets[1];
    } else {
      arrays_.offsets = test.offsets.data();
    }
    const std::size_t bytes =
        host_segments_scratch_bytes<Key, Value>(arrays_, test.devices, test.least_group_keys);
    for (std::uint32_t i = 0; i < test.devices; ++i) {
      scratch_.emplace_back(device_of(i), bytes);
      devices_.push_back(scratch_.back().device());
    }
  }

  void sort(const ConstPairs<Key, Value>& input, const Pairs<Key, Value>& output,
            const KeyMap<Key>& map) const {
    sort_host_segments<Key, Value>({.input = input,
                                    .output = output,
                                    .arrays = arrays_,
                                    .map = map,
                                    .least_group_keys = test_.least_group_keys,
                                    .takes_numbers = output.keys == nullptr},
                                   devices_);
    EXPECT_TRUE(std::ranges::all_of(scratch_, &GuardedScratch::guard_is_whole));
  }

 private:
  Case test_;
  HostArrays arrays_{};
  std::vector<GuardedScratch> scratch_;
  std::vector<SharingDevice> devices_;
};

template <class Key, class Value>
void expect_sorts(const Case& test, std::uint64_t values,
                  const KeyMap<Key>& map = signed_descending<Key>()) {
  if (is_left_out()) return;
  SCOPED_TRACE(testing::Message() << test.offsets.size() - 1 << " arrays, " << test.devices
                                  << " devices, groups of " << test.least_group_keys);
  const Arrays<Key, Value> arrays(test.offsets, values, map);
  std::vector<Key> keys = arrays.keys;
  if (!map.folds_classes) {
    Sorter<Key, NoValue>(test).sort({keys.data(), nullptr}, {keys.data(), nullptr}, map);
    EXPECT_TRUE(keys == arrays.sorted) << "keys, in place";
  }

  const Sorter<Key, Value> pairs(test);
  std::vector<Value> moved(keys.size());
  pairs.sort({arrays.keys.data(), nullptr}, {nullptr, moved.data()}, map);
  EXPECT_TRUE(moved == arrays.order) << "numbers";

  for (std::size_t i = 0; i + 1 < test.offsets.size(); ++i) {
    std::iota(moved.begin() + static_cast<std::ptrdiff_t>(test.offsets[i]),
              moved.begin() + static_cast<std::ptrdiff_t>(test.offsets[i + 1]), Value{0});
  }
  std::ranges::fill(keys, Key{0});
  pairs.sort({arrays.keys.data(), moved.data()}, {keys.data(), moved.data()}, map);
  EXPECT_TRUE(keys == arrays.sorted && moved == arrays.order) << "pairs";
}

TYPED_TEST(HostSegmentsOf, AnyLengthsAreSorted) {
  using Key = typename TypeParam::first_type;
  using Value = typename TypeParam::second_type;
  const std::vector<Offsets> cases = {{0},
                                      offsets_of({0, 0, 0}),
                                      offsets_of({1}),
                                      offsets_of({0, 4'000, 0, 1, 2, 3}),
                                      offsets_of({300, 10, 20, 500, 0, 0, 7, 64, 65, 500}),
                                      random_offsets(60, 90)};
  for (const Offsets& offsets : cases) {
    for (const std::uint32_t devices : {1U, 2U, 3U}) {
      for (const std::uint64_t group : {std::uint64_t{1}, std::uint64_t{200}, kLeastGroupKeys}) {
        expect_sorts<Key, Value>({offsets, false, devices, group}, devices == 2 ? 0 : 9);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(HostSegmentsOf, OneLengthAreSorted) {
  using Key = typename TypeParam::first_type;
  using Value = typename TypeParam::second_type;
  for (const auto& [arrays, length] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{5, 0}, {1, 777}, {50, 33}, {7, 400}}) {
    const Offsets offsets = offsets_of(std::vector<std::uint64_t>(arrays, length));
    for (const std::uint32_t devices : {1U, 3U}) {
      for (const std::uint64_t group : {std::uint64_t{100}, kLeastGroupKeys}) {
        expect_sorts<Key, Value>({offsets, true, devices, group}, 9);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// Pairs of equal floats keep their order and their bits.
TYPED_TEST(HostSegmentsOf, FloatsAreInNumericOrder) {
  using Key = typename TypeParam::first_type;
  using Value = typename TypeParam::second_type;
  const Offsets offsets = offsets_of({300, 10, 20, 500, 0, 0, 7, 64, 65, 500});
  for (const bool descending : {false, true}) {
    expect_sorts<Key, Value>({offsets, false, 2, 200}, 0, float_classes<Key>(descending));
  }
}

class HostSegmentsSort : public GpuTest {};

TEST_F(HostSegmentsSort, SaysWhichDeviceFailed) {
  const Offsets offsets = random_offsets(30, 60);
  const KeyMap<std::uint32_t> map;
  const Arrays<std::uint32_t, std::uint32_t> arrays(offsets, 0, map);
  expect_device_errors([&] {
    const Case test{offsets, false, 3, 100};
    return [&, sorter = std::make_shared<Sorter<std::uint32_t, NoValue>>(test)] {
      std::vector<std::uint32_t> sorted(arrays.keys.size());
      sorter->sort({arrays.keys.data(), nullptr}, {sorted.data(), nullptr}, map);
      return !cuda_fault_was_met() && sorted == arrays.sorted;
    };
  });
}

ErrorKind kind_of(const HostArrays& arrays, std::size_t scratch_bytes) {
  std::vector<std::uint32_t> keys(100);
  const OnDevice scratch(device_of(0), 1 << 20);
  const SharingDevice device{device_of(0), {scratch.get(), scratch_bytes}};
  try {
    sort_host_segments<std::uint32_t, NoValue>(
        {.input = {keys.data(), nullptr}, .output = {keys.data(), nullptr}, .arrays = arrays},
        std::span(&device, 1));
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::kStopped;
}

TEST_F(HostSegmentsSort, RefusesWhatCannotBe) {
  constexpr std::size_t kEnough = 1 << 20;
  const Offsets right = {0, 40, 100};
  const Offsets late = {1, 40, 100};
  const Offsets falling = {0, 60, 40};
  const auto arrays = [](const Offsets& offsets) { return HostArrays{2, 0, offsets.data()}; };
  EXPECT_EQ(kind_of(arrays(right), kEnough), ErrorKind::kStopped);
  EXPECT_EQ(kind_of(arrays(late), kEnough), ErrorKind::kUsage);
  EXPECT_EQ(kind_of(arrays(falling), kEnough), ErrorKind::kUsage);
  EXPECT_EQ(kind_of(arrays(right), 0), ErrorKind::kUsage);
  EXPECT_EQ(kind_of({std::uint64_t{1} << 40, std::uint64_t{1} << 40, nullptr}, kEnough),
            ErrorKind::kUsage);
  EXPECT_THROW((sort_host_segments<std::uint32_t, NoValue>({}, {})), Error);
}

TEST_F(HostSegmentsSort, IsCalledByTheLibrary) {
  std::vector<float> keys = {2.5F, -1.0F, 7.0F, 0.5F, -3.0F};
  const Offsets offsets = {0, 3, 5};
  const HostSegments segments{.array_count = 2, .offsets = offsets.data()};
  const std::size_t bytes = host_segment_pairs_scratch_bytes<float, std::int64_t>(segments, 2);
  const OnDevice first(device_of(0), bytes);
  const OnDevice second(device_of(1), bytes);
  const std::vector<HostSortDevice> devices = {{device_of(0), {first.get(), bytes}},
                                               {device_of(1), {second.get(), bytes}}};
  std::vector<std::int64_t> order(5);
  argsort_host_segments(keys.data(), order.data(), segments, Order::kAscending, devices);
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 0, 2, 1, 0}));
  sort_host_segment_pairs(keys.data(), keys.data(), order.data(), order.data(), segments,
                          Order::kDescending, devices);
  EXPECT_EQ(keys, (std::vector<float>{7.0F, 2.5F, -1.0F, 0.5F, -3.0F}));
  EXPECT_EQ(order, (std::vector<std::int64_t>{2, 1, 0, 1, 0}));
  EXPECT_LE(host_segments_scratch_bytes<float>(segments, 2), bytes);
  sort_host_segments(keys.data(), keys.data(), segments, Order::kAscending, devices);
  EXPECT_EQ(keys, (std::vector<float>{-1.0F, 2.5F, 7.0F, -3.0F, 0.5F}));
}

}  // namespace
}  // namespace gsort::gpu
