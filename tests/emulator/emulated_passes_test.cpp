// Inputs large enough for the kernels that small ones do without: passes of k-way merging, and cuts
// by a kernel of their own. Other tests on the emulator leave out inputs of this size.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/cuda/tuning.hpp"
#include "gpu/device_memory.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/distribute/device_pair_distribute.hpp"
#include "gpu/distributions.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/merge/merge_pass.hpp"
#include "gpu/pairs_on_both.hpp"
#include "gpu/records/digit_sort.hpp"
#include "gpu/segmented/device_batch.hpp"
#include "gpu/segmented/device_pair_batch.hpp"
#include "gpu/sort/device_sort.hpp"
#include "gpu/widths/device_argsort.hpp"

namespace gsort::gpu {
namespace {

template <class Key>
class EmulatedPasses : public ::testing::Test {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t, UInt128>;
TYPED_TEST_SUITE(EmulatedPasses, KeyTypes);

template <class Key>
void sort_and_compare(Shape shape, std::uint64_t count) {
  std::vector<Key> keys = make_keys<Key>(shape, count, 7);
  const DeviceArray<Key> input(keys);
  const DeviceArray<Key> output(count);
  const std::size_t scratch_bytes = sort_keys_scratch_bytes<Key>(count);
  const DeviceArray<unsigned char> scratch(scratch_bytes, 256 - DeviceArray<char>::kGuard);
  sort_keys<Key>({.input = input.get(),
                  .output = output.get(),
                  .count = count,
                  .scratch = {scratch.get(), scratch_bytes}});
  std::sort(keys.begin(), keys.end());
  ASSERT_TRUE(output.values() == keys);
  ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
}

TYPED_TEST(EmulatedPasses, SortKeysOfAnyShape) {
  const std::uint64_t small = small_tuning_for<TypeParam>(90).most_sorted_keys;
  sort_and_compare<TypeParam>(Shape::kUniform, small + 1);
  sort_and_compare<TypeParam>(Shape::kFewDistinct, small + small / 8 + 77);
}

template <class Key>
void merge_and_compare(KeyMap<Key> map) {
  const std::uint64_t count = small_tuning_for<Key>(90).most_merged_keys / 2 + 4321;
  const auto precedes = [&](Key x, Key y) { return map.to_ordered(x) < map.to_ordered(y); };
  std::vector<Key> first = make_keys<Key>(Shape::kUniform, count, 8);
  std::vector<Key> second = make_keys<Key>(Shape::kUniform, count, 9);
  std::sort(first.begin(), first.end(), precedes);
  std::sort(second.begin(), second.end(), precedes);
  const DeviceArray<Key> a(first);
  const DeviceArray<Key> b(second);
  const DeviceArray<Key> output(2 * count);
  const std::size_t scratch_bytes = merge_arrays_scratch_bytes<Key>(2 * count);
  const DeviceArray<unsigned char> scratch(scratch_bytes, 256 - DeviceArray<char>::kGuard);
  merge_arrays<Key>({.a = a.get(),
                     .a_count = count,
                     .b = b.get(),
                     .b_count = count,
                     .output = output.get(),
                     .load_map = map,
                     .store_map = map,
                     .scratch = {scratch.get(), scratch_bytes}});
  std::vector<Key> expected(2 * count);
  std::merge(first.begin(), first.end(), second.begin(), second.end(), expected.begin(), precedes);
  ASSERT_TRUE(output.values() == expected);
  ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
}

TYPED_TEST(EmulatedPasses, MergeTwoArrays) {
  merge_and_compare<TypeParam>({});
  if constexpr (kMapsLoads<TypeParam>) {
    merge_and_compare(KeyMap<TypeParam>::of({mapped_type<TypeParam>(), true, true}));
  }
}

template <class Key>
class EmulatedDistribution : public GpuTest {};

using DistributedKeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(EmulatedDistribution, DistributedKeyTypes);

// With as many bins as the count asks for, and a sample that says nothing of most keys.
TYPED_TEST(EmulatedDistribution, SortsKeysOfAnyShape) {
  constexpr std::uint64_t kCount = 400'001;
  for (const Shape shape : {Shape::kUniform, Shape::kZipf, Shape::kReversed}) {
    for (const unsigned bits : {0U, 1U, 5U}) {
      if (is_left_out()) continue;
      const DistributionChoice choice{5, 0, bits, bits};
      std::vector<TypeParam> keys = make_keys<TypeParam>(shape, kCount, 7);
      const DeviceArray<TypeParam> array(keys);
      const std::size_t scratch_bytes =
          sort_keys_by_distribution_scratch_bytes<TypeParam>(kCount, choice);
      const DeviceArray<unsigned char> scratch(scratch_bytes, 256 - DeviceArray<char>::kGuard);
      sort_keys_by_distribution<TypeParam>({.input = array.get(),
                                            .output = array.get(),
                                            .count = kCount,
                                            .scratch = {scratch.get(), scratch_bytes}},
                                           choice);
      std::sort(keys.begin(), keys.end());
      ASSERT_TRUE(array.values() == keys) << static_cast<int>(shape);
      ASSERT_TRUE(array.guards_hold() && scratch.guards_hold());
    }
  }
}

template <class Key>
class EmulatedArrays : public GpuTest {};
TYPED_TEST_SUITE(EmulatedArrays, DistributedKeyTypes);

// Some with more passes than others, some of one tile.
TYPED_TEST(EmulatedArrays, AreMergedInSeveralPasses) {
  constexpr std::uint64_t kTile = tuning_for<TypeParam>(90).block_sort_keys();
  std::vector<std::uint64_t> offsets{0};
  for (const std::uint64_t length :
       {33 * kTile + 1, std::uint64_t{5}, 9 * kTile, kTile, 2 * kTile + 1, kTile + 7}) {
    offsets.push_back(offsets.back() + length);
  }
  const std::uint64_t count = offsets.back();
  std::vector<TypeParam> keys = make_keys<TypeParam>(Shape::kUniform, count, 7);
  const DeviceArray<TypeParam> array(keys);
  const DeviceArray<std::uint64_t> device_offsets(offsets);
  const std::size_t bytes =
      sort_segmented_batch_scratch_bytes<TypeParam>(offsets.size() - 1, count);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  sort_segmented_batch<TypeParam>({.input = array.get(),
                                   .output = array.get(),
                                   .offsets = device_offsets.get(),
                                   .array_count = offsets.size() - 1,
                                   .count = count,
                                   .scratch = {scratch.get(), bytes}});
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    std::sort(keys.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
              keys.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]));
  }
  ASSERT_TRUE(array.values() == keys);
  ASSERT_TRUE(array.guards_hold() && scratch.guards_hold());
}

template <class T>
class EmulatedArraysOfPairs : public GpuTest {};
TYPED_TEST_SUITE(EmulatedArraysOfPairs, AllPairs);

// Sorts pairs, or takes their numbers; array i begins at begins[i].
template <class T>
void sort_arrays_and_compare(const std::vector<std::uint64_t>& begins, const ArrayPlaces& arrays,
                             bool numbers) {
  using Key = typename T::Key;
  using Value = typename T::Value;
  const std::uint64_t count = begins.back();
  // Few keys, in both halves if they have two: numbers decide much.
  std::vector<Key> keys = make_keys<Key>(Shape::kUniform, count, 7);
  for (Key& key : keys) key &= static_cast<Key>(0x0f0000000f);
  const HostPairs<T> pairs = with_positions<T>(keys);
  std::vector<Value> expected(count);
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    std::vector<std::uint64_t> order(begins[i + 1] - begins[i]);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::ranges::stable_sort(order, {}, [&](std::uint64_t k) { return keys[begins[i] + k]; });
    for (std::size_t k = 0; k < order.size(); ++k) {
      expected[begins[i] + k] =
          numbers ? static_cast<Value>(order[k]) : pairs.values[begins[i] + order[k]];
    }
  }
  const DevicePairArrays<T> input(pairs, 0);
  const DeviceArray<Value> output(count);
  const std::size_t bytes = sort_pair_batch_scratch_bytes<Key>(arrays);
  const Scratch scratch(bytes, kScratchShift);
  sort_pair_batch<Key, Value>({.keys_in = input.keys.get(),
                               .values_in = numbers ? nullptr : input.values.get(),
                               .values_out = output.get(),
                               .takes_numbers = numbers,
                               .arrays = arrays,
                               .scratch = {scratch.get(), bytes}});
  ASSERT_TRUE(output.values() == expected);
  ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
}

TYPED_TEST(EmulatedArraysOfPairs, AreMergedInSeveralPasses) {
  constexpr std::uint64_t kTile = tuning_for<std::uint64_t>(90).block_sort_keys();
  std::vector<std::uint64_t> begins{0};
  for (const std::uint64_t length : {9 * kTile + 1, std::uint64_t{5}, kTile, kTile + 7}) {
    begins.push_back(begins.back() + length);
  }
  const DeviceArray<std::uint64_t> offsets(begins);
  for (const bool numbers : {false, true}) {
    sort_arrays_and_compare<TypeParam>(
        begins,
        {.array_count = begins.size() - 1, .offsets = offsets.get(), .count = begins.back()},
        numbers);
    constexpr std::uint64_t kLength = 2 * kTile + 1;
    sort_arrays_and_compare<TypeParam>({0, kLength, 2 * kLength},
                                       {.array_count = 2, .array_keys = kLength}, numbers);
  }
}

template <class T>
void sort_pairs_and_compare(const HostPairs<T>& pairs, const DistributionChoice& choice,
                            bool in_place) {
  const DevicePairArrays<T> input(pairs, 0);
  const DevicePairArrays<T> apart(in_place ? 0 : pairs.count(), 0);
  const DevicePairArrays<T>& output = in_place ? input : apart;
  const auto bytes =
      sort_many_pairs_scratch_bytes<typename T::Key, typename T::Value>(pairs.count(), choice);
  const Scratch scratch(bytes, kScratchShift);
  sort_many_pairs<typename T::Key, typename T::Value>({.input = input.get(),
                                                       .output = output.get(),
                                                       .count = pairs.count(),
                                                       .scratch = {scratch.get(), bytes}},
                                                      choice);
  ASSERT_TRUE(output.pairs() == stably_sorted(pairs, {}, {}));
  ASSERT_TRUE(input.guards_hold() && output.guards_hold() && scratch.guards_hold());
  cases_of_test.run = 1;
}

template <class T>
class EmulatedPairDistribution : public GpuTest {};

using DistributedPairTypes =
    ::testing::Types<Types<std::uint64_t, std::uint32_t>, Types<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(EmulatedPairDistribution, DistributedPairTypes);

// The same; some blocks have several tiles of a bucket, some buckets tiles of several blocks.
TYPED_TEST(EmulatedPairDistribution, SortsPairsOfAnyShapeStably) {
  for (const Shape shape : {Shape::kUniform, Shape::kZipf, Shape::kSawtooth}) {
    for (const unsigned bits : {0U, 1U, 5U}) {
      if (is_left_out()) continue;
      SCOPED_TRACE(static_cast<int>(shape));
      sort_pairs_and_compare<TypeParam>(
          with_positions<TypeParam>(make_keys<std::uint64_t>(shape, 400'001, 7)),
          {5, 0, bits, bits}, true);
    }
  }
}

template <class T>
class EmulatedDigits : public GpuTest {};

using DigitPairTypes =
    ::testing::Types<Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, std::uint64_t>>;
TYPED_TEST_SUITE(EmulatedDigits, DigitPairTypes);

// An odd number of pairs in large tiles. Three digits differ, so the first round joins the pairs in
// the output, the second in the scratch memory.
TYPED_TEST(EmulatedDigits, SortManyPairsInThreeRounds) {
  auto keys = make_keys<std::uint32_t>(Shape::kUniform, kManyPairs + 1, 7);
  for (std::uint32_t& key : keys) key &= 0xff00ffffU;
  sort_pairs_and_compare<TypeParam>(with_positions<TypeParam>(std::move(keys)), {}, false);
}

// The values are the numbers of the keys; the keys of the rounds lie in the scratch memory.
TYPED_TEST(EmulatedDigits, NumberManyKeys) {
  using Index = typename TypeParam::Value;
  constexpr std::uint64_t kCount = kLeastPairsByDigits + 1;
  const auto keys = make_keys<std::uint32_t>(Shape::kUniform, kCount, 7);
  HostPairs<TypeParam> numbered{keys, std::vector<Index>(kCount)};
  std::iota(numbered.values.begin(), numbered.values.end(), Index{0});
  const DeviceArray<std::uint32_t> input(keys);
  const DeviceArray<Index> indices(kCount);
  const std::size_t bytes = argsort_scratch_bytes<std::uint32_t, Index>(kCount);
  const Scratch scratch(bytes, kScratchShift);
  argsort<std::uint32_t, Index>({.keys = input.get(),
                                 .indices = indices.get(),
                                 .count = kCount,
                                 .scratch = {scratch.get(), bytes}});
  ASSERT_TRUE(indices.values() == stably_sorted(numbered, {}, {}).values);
  ASSERT_TRUE(input.values() == keys);
  ASSERT_TRUE(indices.guards_hold() && scratch.guards_hold());
  cases_of_test.run = 1;
}

class EmulatedDigitCounts : public GpuTest {};

// A counter of each digit for each lane; one digit differs, and look-backs read one word at a time.
TEST_F(EmulatedDigitCounts, HaveACopyForEachLane) {
  using PairsOf32 = Types<std::uint32_t, std::uint32_t>;
  auto keys = make_keys<std::uint32_t>(Shape::kUniform, kManyCountedKeys + 1, 7);
  for (std::uint32_t& key : keys) key &= 0xffU;
  sort_pairs_and_compare<PairsOf32>(with_positions<PairsOf32>(std::move(keys)), {}, false);
}

}  // namespace
}  // namespace gsort::gpu
