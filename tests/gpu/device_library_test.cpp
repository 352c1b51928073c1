// The library's pairs, numbers and segments: every type and order, against std::stable_sort of a
// copy. Other tests try the kernels at the borders of their tiles.
#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "library/device_bits.hpp"
#include "library/device_segments.hpp"
#include "support/error_of.hpp"

namespace gsort {
namespace {

using gpu::DeviceArray;
using library::Bits;

using AllKeys = ::testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float,
                                 double, Time64, std::uint8_t, std::int8_t, std::uint16_t,
                                 std::int16_t, Float16, BFloat16>;

constexpr std::size_t kScratchShift = 256 - DeviceArray<std::byte>::kGuard;

// Keys of `distinct` bit patterns; the least and the greatest number, and NaNs, are among them.
template <class Key>
std::vector<Key> keys_of_few(std::size_t count, std::size_t distinct) {
  std::mt19937_64 random(count + distinct);
  std::vector<Key> patterns(distinct);
  for (Key& pattern : patterns) pattern = std::bit_cast<Key>(static_cast<Bits<Key>>(random()));
  patterns[0] = std::bit_cast<Key>(static_cast<Bits<Key>>(~Bits<Key>{0}));
  patterns[1] = Key{0};
  // For floats -0, and NaN of both signs.
  patterns[2] = std::bit_cast<Key>(KeyMap<Bits<Key>>::kSignBit);
  patterns[3] = std::bit_cast<Key>(static_cast<Bits<Key>>(~KeyMap<Bits<Key>>::kSignBit));
  std::vector<Key> keys(count);
  for (Key& key : keys) key = patterns[random() % distinct];
  return keys;
}

// The numbers of keys in their stable order; equal floats keep theirs if `by_class`, as in pairs;
// else they are ordered by their bits.
template <class Key>
std::vector<std::uint64_t> order_of(std::span<const Key> keys, Order order, bool by_class = false) {
  const auto map = by_class ? library::class_map_of<Key>(order) : library::map_of<Key>(order);
  std::vector<std::uint64_t> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  std::ranges::stable_sort(numbers, {}, [&](std::uint64_t i) {
    return map.to_ordered(std::bit_cast<Bits<Key>>(keys[i]));
  });
  return numbers;
}

template <class T>
std::vector<T> gathered(std::span<const T> from, std::span<const std::uint64_t> numbers) {
  std::vector<T> result;
  for (const std::uint64_t number : numbers) result.push_back(from[number]);
  return result;
}

// NaN equals the same NaN.
template <class T>
void expect_same(const std::vector<T>& actual, const std::vector<T>& expected) {
  const auto same = [](const T& a, const T& b) {
    return std::bit_cast<Bits<T>>(a) == std::bit_cast<Bits<T>>(b);
  };
  EXPECT_TRUE(std::ranges::equal(actual, expected, same));
}

template <class Key>
class DeviceLibrary : public gpu::GpuTest {
 protected:
  struct Arrays {
    std::vector<std::uint64_t> offsets;
    std::vector<std::uint64_t> order;    // of all keys, array by array, counted from the first key
    std::vector<std::uint64_t> numbers;  // the same, counted from the array's first key
  };

  static Arrays arrays_of(const std::vector<Key>& keys, std::vector<std::uint64_t> lengths,
                          Order order, bool by_class = false) {
    Arrays arrays{{0}, {}, {}};
    for (const std::uint64_t length : lengths) {
      const std::uint64_t begin = arrays.offsets.back();
      for (const std::uint64_t number :
           order_of<Key>(std::span(keys).subspan(begin, length), order, by_class)) {
        arrays.order.push_back(begin + number);
        arrays.numbers.push_back(number);
      }
      arrays.offsets.push_back(begin + length);
    }
    return arrays;
  }
};
TYPED_TEST_SUITE(DeviceLibrary, AllKeys);

// A value that is no number.
struct Color {
  alignas(4) std::uint8_t rgba[4];
};
template <class Value>
Value value_of(std::size_t i) {
  return std::bit_cast<Value>(static_cast<WordOf<Value>>(i * 0x9e3779b97f4a7c15ULL));
}

template <class Key, class Value>
void sort_pairs_in_place_and_apart(const std::vector<Key>& keys, Order order) {
  const std::size_t count = keys.size();
  std::vector<Value> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of<Value>(i);
  const auto numbers = order_of<Key>(keys, order, true);
  const DeviceArray<Key> keys_in(keys);
  const DeviceArray<Value> values_in(values);
  const DeviceArray<Key> keys_out(count);
  const std::size_t bytes = device_pairs_scratch_bytes<Key, Value>(count);
  const DeviceArray<std::byte> scratch(bytes, kScratchShift);
  for (Key* const to : {keys_out.get(), keys_in.get()}) {
    const DeviceArray<Value> values_out(count);
    sort_device_pairs(keys_in.get(), to, values_in.get(), values_out.get(), count, order,
                      {scratch.get(), bytes}, nullptr);
    expect_same(values_out.values(), gathered<Value>(values, numbers));
  }
  expect_same(keys_out.values(), gathered<Key>(keys, numbers));
  expect_same(keys_in.values(), gathered<Key>(keys, numbers));
  expect_same(values_in.values(), values);
  EXPECT_TRUE(scratch.guards_hold() && keys_out.guards_hold());
}

TYPED_TEST(DeviceLibrary, SortsPairsStably) {
  for (const Order order : gpu::orders_of<TypeParam>()) {
    for (const std::size_t count : {20'000U, 0U, 1U, 700U}) {
      if (gpu::is_left_out()) continue;
      const auto keys = keys_of_few<TypeParam>(count, 97);
      sort_pairs_in_place_and_apart<TypeParam, std::uint32_t>(keys, order);
      sort_pairs_in_place_and_apart<TypeParam, double>(keys, order);
      sort_pairs_in_place_and_apart<TypeParam, Color>(keys, order);
    }
  }
}

// Slices that are sorted each, what they are merged into, and the numbers of the merged keys.
template <class Key>
struct SortedSlices {
  std::vector<std::uint64_t> counts;
  std::vector<Key> keys;
  std::vector<std::uint64_t> merged;

  static SortedSlices of(std::vector<std::uint64_t> counts, Order order, bool by_class) {
    SortedSlices slices;
    slices.keys =
        keys_of_few<Key>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), 500);
    std::span<Key> left(slices.keys);
    for (const std::uint64_t count : counts) {
      const std::vector<Key> slice(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(count));
      std::ranges::copy(gathered<Key>(slice, order_of<Key>(slice, order, by_class)), left.begin());
      left = left.subspan(count);
    }
    slices.merged = order_of<Key>(slices.keys, order, by_class);
    slices.counts = std::move(counts);
    return slices;
  }
};

template <class Key>
void merge_two(std::uint64_t a_count, std::uint64_t b_count, Order order) {
  if (gpu::is_left_out(a_count + b_count)) return;
  const auto slices = SortedSlices<Key>::of({a_count, b_count}, order, false);
  const std::uint64_t count = a_count + b_count;
  const DeviceArray<Key> input(slices.keys);
  const DeviceArray<Key> output(count);
  const std::size_t bytes = device_merge_scratch_bytes<Key>(count);
  const DeviceArray<std::byte> scratch(bytes, kScratchShift);
  merge_device_keys(input.get(), a_count, input.get() + a_count, b_count, output.get(), order,
                    {scratch.get(), bytes}, nullptr);
  expect_same(output.values(), gathered<Key>(slices.keys, slices.merged));

  const auto pairs = SortedSlices<Key>::of({a_count, b_count}, order, true);
  const DeviceArray<Key> keys_in(pairs.keys);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of<float>(i);
  const DeviceArray<float> values_in(values);
  const DeviceArray<float> values_out(count);
  const std::size_t pair_bytes = device_pair_merge_scratch_bytes<Key, float>(count);
  const DeviceArray<std::byte> pair_scratch(pair_bytes, kScratchShift);
  merge_device_pairs(keys_in.get(), values_in.get(), a_count, keys_in.get() + a_count,
                     values_in.get() + a_count, b_count, output.get(), values_out.get(), order,
                     {pair_scratch.get(), pair_bytes}, nullptr);
  expect_same(output.values(), gathered<Key>(pairs.keys, pairs.merged));
  expect_same(values_out.values(), gathered<float>(values, pairs.merged));
  expect_same(keys_in.values(), pairs.keys);
  expect_same(input.values(), slices.keys);
  EXPECT_TRUE(output.guards_hold() && scratch.guards_hold() && pair_scratch.guards_hold());
}

TYPED_TEST(DeviceLibrary, MergesTwoArraysStably) {
  for (const Order order : gpu::orders_of<TypeParam>()) {
    merge_two<TypeParam>(0, 5, order);
    merge_two<TypeParam>(700, 1, order);
    merge_two<TypeParam>(9'000, 5'003, order);
    merge_two<TypeParam>(1'300'007, 900'000, order);  // with a kernel for the cuts
  }
}

template <class Key>
void merge_slices_of(const std::vector<std::uint64_t>& counts, Order order) {
  const auto slices = SortedSlices<Key>::of(counts, order, false);
  const std::uint64_t count = slices.keys.size();
  if (gpu::is_left_out(count)) return;
  const auto slice_count = static_cast<std::uint32_t>(counts.size());
  const DeviceArray<Key> input(slices.keys);
  const DeviceArray<Key> output(count);
  const std::size_t bytes = device_slices_scratch_bytes<Key>(count, slice_count);
  const DeviceArray<std::byte> scratch(bytes, kScratchShift);
  merge_device_slices(input.get(), slices.counts.data(), slice_count, output.get(), order,
                      {scratch.get(), bytes}, nullptr);
  expect_same(output.values(), gathered<Key>(slices.keys, slices.merged));

  const auto pairs = SortedSlices<Key>::of(counts, order, true);
  const DeviceArray<Key> keys_in(pairs.keys);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of<double>(i);
  const DeviceArray<double> values_in(values);
  const DeviceArray<double> values_out(count);
  const std::size_t pair_bytes = device_pair_slices_scratch_bytes<Key, double>(count, slice_count);
  const DeviceArray<std::byte> pair_scratch(pair_bytes, kScratchShift);
  merge_device_pair_slices(keys_in.get(), values_in.get(), pairs.counts.data(), slice_count,
                           output.get(), values_out.get(), order, {pair_scratch.get(), pair_bytes},
                           nullptr);
  expect_same(output.values(), gathered<Key>(pairs.keys, pairs.merged));
  expect_same(values_out.values(), gathered<double>(values, pairs.merged));
  expect_same(keys_in.values(), pairs.keys);
  expect_same(input.values(), slices.keys);
  EXPECT_TRUE(output.guards_hold() && scratch.guards_hold() && pair_scratch.guards_hold());
}

TYPED_TEST(DeviceLibrary, MergesAnyNumberOfSlicesStably) {
  for (const Order order : gpu::orders_of<TypeParam>()) {
    merge_slices_of<TypeParam>({900}, order);
    merge_slices_of<TypeParam>({9'000, 5'003}, order);
    merge_slices_of<TypeParam>({0, 4'000, 1, 9'001}, order);
    merge_slices_of<TypeParam>({3'000, 0, 2'999, 3'001, 1, 5'000, 77}, order);
    merge_slices_of<TypeParam>(std::vector<std::uint64_t>(70, 250), order);  // two passes
    merge_slices_of<TypeParam>(std::vector<std::uint64_t>(8, 200'003), order);
  }
}

// Every way to cut every sorted sequence of a few keys in two.
TYPED_TEST(DeviceLibrary, MergesEverySmallInput) {
  for (const Order order : gpu::orders_of<TypeParam>()) {
    for (std::uint64_t a_count = 0; a_count <= 4; ++a_count) {
      for (std::uint64_t b_count = 0; a_count + b_count <= 7; ++b_count) {
        merge_two<TypeParam>(a_count, b_count, order);
        merge_slices_of<TypeParam>({a_count, b_count, 1}, order);
      }
    }
  }
}

template <class Key, class Index>
void argsort_all(const std::vector<Key>& keys, Order order) {
  const auto numbers = order_of<Key>(keys, order, true);
  const DeviceArray<Key> input(keys);
  const DeviceArray<Index> indices(keys.size());
  const std::size_t bytes = device_argsort_scratch_bytes<Key, Index>(keys.size());
  const DeviceArray<std::byte> scratch(bytes, kScratchShift);
  argsort_device_keys(input.get(), indices.get(), keys.size(), order, {scratch.get(), bytes},
                      nullptr);
  EXPECT_EQ(indices.values(), std::vector<Index>(numbers.begin(), numbers.end()));
  expect_same(input.values(), keys);
}

TYPED_TEST(DeviceLibrary, GivesNumbersOfEveryType) {
  for (const Order order : gpu::orders_of<TypeParam>()) {
    const auto keys = keys_of_few<TypeParam>(9'001, 300);
    argsort_all<TypeParam, std::uint32_t>(keys, order);
    argsort_all<TypeParam, std::int32_t>(keys, order);
    argsort_all<TypeParam, std::uint64_t>(keys, order);
    argsort_all<TypeParam, std::int64_t>(keys, order);
  }
}

TYPED_TEST(DeviceLibrary, SortsSegments) {
  const std::vector<std::uint64_t> lengths{0, 3, 9'000, 1, 0, 0, 500, 2};
  const auto keys = keys_of_few<TypeParam>(9'506, 300);
  for (const Order order : gpu::orders_of<TypeParam>()) {
    const auto arrays = this->arrays_of(keys, lengths, order);
    const DeviceArray<TypeParam> input(keys);
    const DeviceArray<std::uint64_t> offsets(arrays.offsets);
    const DeviceSegments segments{
        .array_count = lengths.size(), .offsets = offsets.get(), .count = keys.size()};
    const std::size_t bytes = device_segments_scratch_bytes<TypeParam>(segments);
    const DeviceArray<std::byte> scratch(bytes, kScratchShift);
    sort_device_segments(input.get(), input.get(), segments, order, {scratch.get(), bytes},
                         nullptr);
    expect_same(input.values(), gathered<TypeParam>(keys, arrays.order));
    EXPECT_TRUE(scratch.guards_hold() && input.guards_hold());
  }
}

TYPED_TEST(DeviceLibrary, SortsSegmentsOfOneLength) {
  const auto keys = keys_of_few<TypeParam>(7 * 130, 90);
  const DeviceArray<TypeParam> input(keys);
  const DeviceArray<TypeParam> output(keys.size());
  const DeviceSegments segments{.array_count = 7, .array_keys = 130};
  const std::size_t bytes = device_segments_scratch_bytes<TypeParam>(segments);
  EXPECT_EQ(bytes == 0, sizeof(TypeParam) == 4 || sizeof(TypeParam) == 8);
  const DeviceArray<std::byte> scratch(bytes, kScratchShift);
  sort_device_segments(input.get(), output.get(), segments, Order::kDescending,
                       {scratch.get(), bytes}, nullptr);
  const auto arrays = this->arrays_of(keys, std::vector<std::uint64_t>(7, 130), Order::kDescending);
  expect_same(output.values(), gathered<TypeParam>(keys, arrays.order));
}

TYPED_TEST(DeviceLibrary, SortsPairsOfSegmentsAndGivesTheirNumbers) {
  const std::vector<std::uint64_t> lengths{0, 3, 9'000, 1, 0, 0, 500, 2};
  const auto keys = keys_of_few<TypeParam>(9'506, 300);
  std::vector<float> values(keys.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of<float>(i);
  const DeviceArray<TypeParam> keys_in(keys);
  const DeviceArray<float> values_in(values);
  for (const Order order : gpu::orders_of<TypeParam>()) {
    const auto arrays = this->arrays_of(keys, lengths, order, true);
    const DeviceArray<std::uint64_t> offsets(arrays.offsets);
    const DeviceSegments segments{.array_count = lengths.size(),
                                  .offsets = offsets.get(),
                                  .count = keys.size(),
                                  .longest = 9'000};
    const std::size_t bytes = device_segment_pairs_scratch_bytes<TypeParam>(segments);
    const DeviceArray<std::byte> scratch(bytes, kScratchShift);
    const DeviceArray<TypeParam> keys_out(keys.size());
    const DeviceArray<float> values_out(keys.size());
    sort_device_segment_pairs(keys_in.get(), keys_out.get(), values_in.get(), values_out.get(),
                              segments, order, {scratch.get(), bytes}, nullptr);
    expect_same(keys_out.values(), gathered<TypeParam>(keys, arrays.order));
    expect_same(values_out.values(), gathered<float>(values, arrays.order));
    const DeviceArray<std::int64_t> indices(keys.size());
    argsort_device_segments(keys_in.get(), indices.get(), segments, order, {scratch.get(), bytes},
                            nullptr);
    const auto& numbers = arrays.numbers;
    EXPECT_EQ(indices.values(), std::vector<std::int64_t>(numbers.begin(), numbers.end()));
    EXPECT_TRUE(scratch.guards_hold());
  }
}

// No GPU is asked.
TEST(DeviceLibraryErrors, NumbersThatAnIndexDoesNotHaveAreRefused) {
  const auto expect_refusal = [](const auto& call, const std::string& reason) {
    const Error error = test::error_of(call);
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_NE(error.reason().find(reason), std::string::npos) << error.what();
  };
  constexpr std::uint64_t kTwoToThe31 = std::uint64_t{1} << 31;
  expect_refusal([] { (void)device_argsort_scratch_bytes<float, std::int32_t>(kTwoToThe31); },
                 "the numbers of 2,147,483,648 keys do not fit in 31 bits");
  expect_refusal(
      [] {
        argsort_device_keys<float, std::uint32_t>(nullptr, nullptr, 2 * kTwoToThe31,
                                                  Order::kAscending, {}, nullptr);
      },
      "do not fit in 32 bits");
  EXPECT_GT((device_argsort_scratch_bytes<float, std::uint32_t>(kTwoToThe31)), kTwoToThe31);
  const DeviceSegments many{.array_count = kTwoToThe31, .array_keys = 3};
  expect_refusal([&] { (void)device_segment_pairs_scratch_bytes<double>(many); },
                 "more than 4,294,967,296 pairs");
}

template <class Key, class Value>
void expect_no_less_memory_for_more_pairs() {
  std::size_t before = 0;
  for (std::uint64_t step = 1; step <= 144; ++step) {  // of an eighth of 2^20 pairs
    for (const std::uint64_t count : {(step << 17) - 1, step << 17, (step << 17) + 1}) {
      const std::size_t bytes = device_pairs_scratch_bytes<Key, Value>(count);
      ASSERT_GE(bytes, before) << count;
      before = bytes;
    }
  }
}

// Where sorts change, too: merges, one distribution, two with few bins and with many.
TEST(DevicePairMemory, IsNeverLessForMorePairs) {
  expect_no_less_memory_for_more_pairs<std::uint32_t, std::uint32_t>();
  expect_no_less_memory_for_more_pairs<float, std::uint64_t>();
  expect_no_less_memory_for_more_pairs<double, std::uint32_t>();
  expect_no_less_memory_for_more_pairs<std::uint64_t, std::uint64_t>();
  expect_no_less_memory_for_more_pairs<Float16, std::uint32_t>();
}

TEST(DevicePairMemory, OfSegmentsIsNoneForShortOnesOf32BitsAndMoreForOtherKeys) {
  const DeviceSegments of_few_pairs{.array_count = 3, .array_keys = 8'192};
  EXPECT_EQ(device_segment_pairs_scratch_bytes<float>(of_few_pairs), 0U);
  const DeviceSegments segments{.array_count = 8, .array_keys = 20'000};
  constexpr std::size_t kPairs = 160'000;
  const std::size_t bytes = device_segment_pairs_scratch_bytes<float>(segments);
  EXPECT_GE(bytes, 16 * kPairs);
  EXPECT_EQ(device_segment_pairs_scratch_bytes<BFloat16>(segments), bytes + 8 * kPairs);
  EXPECT_EQ(device_segment_pairs_scratch_bytes<std::int8_t>(segments), bytes + 8 * kPairs);
  EXPECT_EQ(device_segment_pairs_scratch_bytes<double>(segments), bytes + 12 * kPairs);
}

}  // namespace
}  // namespace gsort
