// Pairs whose keys are floats, in numeric order: -0 equals +0, NaN equal NaN, equal keys keep their
// order and their bits. Every call, with classes that have no keys, all keys, keys of one kind and
// of many, against std::stable_sort of a copy.
#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "device_memory.hpp"
#include "library/device_bits.hpp"
#include "library/device_pairs.hpp"

namespace gsort {
namespace {

using gpu::DeviceArray;
using library::Bits;

constexpr std::size_t kShift = 256 - DeviceArray<std::byte>::kGuard;
constexpr Order kNumericOrders[] = {Order::kAscending, Order::kDescending};

// How many of 100 keys are -0, +0, the usual NaN, and NaN of any bits; the others are numbers.
struct Shares {
  const char* name;
  unsigned negative_zeros;
  unsigned positive_zeros;
  unsigned usual_nans;
  unsigned other_nans;
};
// Large arrays are tried with the first four only.
constexpr Shares kShares[] = {{"zeros of both signs", 10, 10, 0, 0},
                              {"NaN of many bits", 0, 0, 5, 25},
                              {"everything", 15, 20, 10, 15},
                              {"numbers alone", 0, 0, 0, 0},
                              {"positive zeros", 0, 30, 0, 0},
                              {"negative zeros", 30, 0, 0, 0},
                              {"usual NaN", 0, 0, 30, 0},
                              {"zeros and NaN of one kind", 0, 20, 20, 0},
                              {"nothing but zeros", 50, 50, 0, 0},
                              {"nothing but NaN", 0, 0, 50, 50},
                              {"nothing but negative zeros", 100, 0, 0, 0}};

template <class Key>
std::vector<Bits<Key>> floats_of(const Shares& shares, std::size_t count, unsigned seed) {
  using Raw = Bits<Key>;
  constexpr Raw kSign = KeyMap<Raw>::kSignBit;
  const auto map = library::class_map_of<Key>(Order::kAscending);
  const Raw nan = map.to_ordered(static_cast<Raw>(~Raw{0}));
  const Raw zero = map.to_ordered(0);
  std::mt19937_64 random(seed);
  std::vector<Raw> keys(count);
  for (Raw& key : keys) {
    unsigned of_100 = static_cast<unsigned>(random() % 100);
    const auto is_one_of = [&](unsigned share) {
      const bool is = of_100 < share;
      of_100 = is ? 100 : of_100 - share;
      return is;
    };
    if (is_one_of(shares.negative_zeros)) {
      key = kSign;
    } else if (is_one_of(shares.positive_zeros)) {
      key = 0;
    } else if (is_one_of(shares.usual_nans)) {
      key = library::map_of<Key>(Order::kAscending).to_raw(nan);
    } else {
      const bool is_nan = is_one_of(shares.other_nans);
      const Raw infinity =
          library::map_of<Key>(Order::kAscending).to_raw(static_cast<Raw>(2 * zero));
      do {
        key = static_cast<Raw>(random());
        if (is_nan) key = static_cast<Raw>(key | infinity);
      } while ((map.to_ordered(key) == nan) != is_nan || map.to_ordered(key) == zero);
    }
  }
  return keys;
}

// The numbers of keys in numeric order.
template <class Key>
std::vector<std::uint64_t> stable_order(std::span<const Bits<Key>> keys, Order order) {
  const auto map = library::class_map_of<Key>(order);
  std::vector<std::uint64_t> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  std::ranges::stable_sort(numbers, {}, [&](std::uint64_t i) { return map.to_ordered(keys[i]); });
  return numbers;
}

template <class T>
std::vector<T> in_order(std::span<const T> from, std::span<const std::uint64_t> numbers) {
  std::vector<T> result;
  for (const std::uint64_t number : numbers) result.push_back(from[number]);
  return result;
}

template <class Value>
std::vector<Value> numbered(std::size_t count) {
  std::vector<Value> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<Value>(i * 0x9e3779b97f4a7c15ULL);
  return values;
}

template <class Key>
const Key* floats_at(const DeviceArray<Bits<Key>>& array) {
  return reinterpret_cast<const Key*>(array.get());
}
template <class Key>
Key* writable_at(const DeviceArray<Bits<Key>>& array) {
  return reinterpret_cast<Key*>(array.get());
}

template <class Key>
class FloatPairs : public gpu::GpuTest {};
using FloatKeys = ::testing::Types<float, double, Float16, BFloat16>;
TYPED_TEST_SUITE(FloatPairs, FloatKeys);

template <class Key, class Value>
void sort_each_way(const std::vector<Bits<Key>>& keys, Order order) {
  const std::size_t count = keys.size();
  const auto values = numbered<Value>(count);
  const auto numbers = stable_order<Key>(keys, order);
  const auto sorted_keys = in_order<Bits<Key>>(keys, numbers);
  const auto sorted_values = in_order<Value>(values, numbers);
  const std::size_t bytes = device_pairs_scratch_bytes<Key, Value>(count);
  for (const bool keys_in_place : {false, true}) {
    for (const bool values_in_place : {false, true}) {
      SCOPED_TRACE(testing::Message()
                   << "in place: keys " << keys_in_place << ", values " << values_in_place);
      const DeviceArray<Bits<Key>> keys_in(keys, 1);
      const DeviceArray<Value> values_in(values, 1);
      const DeviceArray<Bits<Key>> keys_apart(count);
      const DeviceArray<Value> values_apart(count);
      const auto& keys_out = keys_in_place ? keys_in : keys_apart;
      const auto& values_out = values_in_place ? values_in : values_apart;
      const DeviceArray<std::byte> scratch(bytes, kShift);
      sort_device_pairs(floats_at<Key>(keys_in), writable_at<Key>(keys_out), values_in.get(),
                        values_out.get(), count, order, {scratch.get(), bytes}, nullptr);
      EXPECT_TRUE(keys_out.values() == sorted_keys);
      EXPECT_TRUE(values_out.values() == sorted_values);
      EXPECT_TRUE(keys_in_place || keys_in.values() == keys);
      EXPECT_TRUE(scratch.guards_hold() && keys_out.guards_hold() && values_out.guards_hold());
    }
  }
}

// The counts of one stretch, of a few, and of the sorts by one distribution and by two.
TYPED_TEST(FloatPairs, AreSortedStablyInNumericOrder) {
  for (const std::size_t count : {9'001U, 1U, 4'097U, 29'000U, 1'500'007U, 17'000'011U}) {
    for (const Shares& shares :
         std::span(kShares).first(count < 1'000'000 ? std::size(kShares) : 4)) {
      for (const Order order : kNumericOrders) {
        if (gpu::is_left_out(count)) continue;
        SCOPED_TRACE(testing::Message() << shares.name << ", " << count);
        const auto keys = floats_of<TypeParam>(shares, count, 7);
        sort_each_way<TypeParam, std::uint32_t>(keys, order);
        if (count < 1'000'000) sort_each_way<TypeParam, std::uint64_t>(keys, order);
      }
    }
  }
}

// Two classes that lie in one stretch each, far from each other, and at both ends.
TYPED_TEST(FloatPairs, KeepTheirOrderWhereverTheClassesLie) {
  using Raw = Bits<TypeParam>;
  constexpr Raw kSign = KeyMap<Raw>::kSignBit;
  for (const Order order : kNumericOrders) {
    auto keys = floats_of<TypeParam>(kShares[3], 20'000, 3);
    for (const std::uint64_t i : {0U, 4'095U, 4'096U, 12'288U, 19'999U}) {
      keys[i] = i % 2 == 0 ? Raw{0} : kSign;
      if (i > 0) keys[i - 1] = static_cast<Raw>(~std::uint64_t{i});
    }
    sort_each_way<TypeParam, std::uint32_t>(keys, order);
  }
}

// Slices with equal floats in any order.
template <class Key>
std::vector<Bits<Key>> sorted_slices(const Shares& shares, std::span<const std::uint64_t> counts,
                                     Order order) {
  std::vector<Bits<Key>> all;
  for (const std::uint64_t count : counts) {
    const auto keys = floats_of<Key>(shares, count, static_cast<unsigned>(all.size() + 1));
    const auto slice = in_order<Bits<Key>>(keys, stable_order<Key>(keys, order));
    all.insert(all.end(), slice.begin(), slice.end());
  }
  return all;
}

template <class Key, class Value>
void merge_all(const Shares& shares, const std::vector<std::uint64_t>& counts, Order order) {
  const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (gpu::is_left_out(total)) return;
  SCOPED_TRACE(testing::Message() << shares.name << ", " << counts.size() << " slices of " << total
                                  << (order == Order::kDescending ? ", descending" : ""));
  const auto keys = sorted_slices<Key>(shares, counts, order);
  const auto values = numbered<Value>(total);
  const auto numbers = stable_order<Key>(keys, order);
  const DeviceArray<Bits<Key>> keys_in(keys, 1);
  const DeviceArray<Value> values_in(values, 1);
  const auto slice_count = static_cast<std::uint32_t>(counts.size());
  const auto merged = [&](std::size_t bytes, const auto& merge) {
    const DeviceArray<Bits<Key>> keys_out(total, 1);
    const DeviceArray<Value> values_out(total);
    const DeviceArray<std::byte> scratch(bytes, kShift);
    merge(writable_at<Key>(keys_out), values_out.get(), DeviceScratch{scratch.get(), bytes});
    EXPECT_TRUE(keys_out.values() == in_order<Bits<Key>>(keys, numbers));
    EXPECT_TRUE(values_out.values() == in_order<Value>(values, numbers));
    EXPECT_TRUE(keys_in.values() == keys);
    EXPECT_TRUE(scratch.guards_hold() && keys_out.guards_hold() && values_out.guards_hold());
  };
  merged(device_pair_slices_scratch_bytes<Key, Value>(total, slice_count),
         [&](Key* keys_out, Value* values_out, const DeviceScratch& scratch) {
           merge_device_pair_slices(floats_at<Key>(keys_in), values_in.get(), counts.data(),
                                    slice_count, keys_out, values_out, order, scratch, nullptr);
         });
  if (counts.size() != 2) return;
  const auto b = static_cast<std::ptrdiff_t>(counts[0]);
  const DeviceArray<Bits<Key>> keys_of_b(std::vector<Bits<Key>>(keys.begin() + b, keys.end()));
  merged(device_pair_merge_scratch_bytes<Key, Value>(total),
         [&](Key* keys_out, Value* values_out, const DeviceScratch& scratch) {
           merge_device_pairs(floats_at<Key>(keys_in), values_in.get(), counts[0],
                              floats_at<Key>(keys_of_b), values_in.get() + b, counts[1], keys_out,
                              values_out, order, scratch, nullptr);
         });
}

TYPED_TEST(FloatPairs, AreMergedStablyInNumericOrder) {
  for (const Shares& shares : kShares) {
    for (const Order order : kNumericOrders) {
      merge_all<TypeParam, std::uint32_t>(shares, {3'000, 2'003}, order);
      merge_all<TypeParam, std::uint64_t>(shares, {0, 700}, order);
      merge_all<TypeParam, std::uint32_t>(shares, {700, 0}, order);
      merge_all<TypeParam, std::uint32_t>(shares, {5, 700, 0, 33, 1, 2'000}, order);
      merge_all<TypeParam, std::uint32_t>(shares, std::vector<std::uint64_t>(17, 90), order);
      merge_all<TypeParam, std::uint64_t>(shares, std::vector<std::uint64_t>(300, 11), order);
      merge_all<TypeParam, std::uint32_t>(shares, {900'000, 1'300'007}, order);
      merge_all<TypeParam, std::uint32_t>(shares, std::vector<std::uint64_t>(3'000, 501), order);
    }
  }
}

// A graph sorts what the arrays hold when it is launched: mixed classes, then others.
TYPED_TEST(FloatPairs, OfAGraphAreThoseOfItsLaunch) {
  constexpr std::size_t kCount = 9'001;
  using Key = TypeParam;
  for (const bool in_place : {false, true}) {
    const DeviceArray<Bits<Key>> keys(kCount);
    const DeviceArray<Bits<Key>> apart(kCount);
    const DeviceArray<std::uint32_t> values(kCount);
    const DeviceArray<std::uint32_t> values_apart(kCount);
    const auto& keys_out = in_place ? keys : apart;
    const auto& values_out = in_place ? values : values_apart;
    const std::size_t bytes = device_pairs_scratch_bytes<Key, std::uint32_t>(kCount);
    const DeviceArray<std::byte> scratch(bytes, kShift);
    const gpu::CapturedGraph graph([&](cudaStream_t stream) {
      sort_device_pairs(floats_at<Key>(keys), writable_at<Key>(keys_out), values.get(),
                        values_out.get(), kCount, Order::kAscending, {scratch.get(), bytes},
                        stream);
    });
    for (const Shares& shares : {kShares[2], kShares[3], kShares[0], kShares[6]}) {
      const auto raw = floats_of<Key>(shares, kCount, 5);
      const auto numbers = stable_order<Key>(raw, Order::kAscending);
      const auto marks = numbered<std::uint32_t>(kCount);
      gpu::check_cuda(cudaMemcpy(values.get(), marks.data(), kCount * sizeof(std::uint32_t),
                                 cudaMemcpyHostToDevice),
                      gpu::CudaCall::kCopy, "copying to the GPU");
      gpu::wait_for_device();
      graph.replay(keys.get(), raw);
      EXPECT_TRUE(keys_out.values() == in_order<Bits<Key>>(raw, numbers)) << shares.name;
      EXPECT_TRUE(values_out.values() == in_order<std::uint32_t>(marks, numbers)) << shares.name;
    }
  }
}

// Every float of 16 bits, with one that equals it before and after it.
TYPED_TEST(FloatPairs, OfEveryFloatOf16BitsKeepTheirBits) {
  if (sizeof(TypeParam) != 2 || gpu::is_left_out(30'000)) return;
  std::vector<Bits<TypeParam>> keys;
  for (std::uint32_t i = 0; i < 1U << 16; ++i) {
    keys.push_back(static_cast<Bits<TypeParam>>(i * 40'503U));
  }
  sort_each_way<TypeParam, std::uint32_t>(keys, Order::kDescending);
}

}  // namespace
}  // namespace gsort
