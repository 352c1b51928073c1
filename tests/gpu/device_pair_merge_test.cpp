// merge_pair_arrays on the card, against std::stable_sort of a copy taken before the call.
#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "distributions.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/records/device_pairs.hpp"
#include "pairs_on_both.hpp"

namespace gsort::gpu {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
class DevicePairMerge : public GpuTest {};
using AllWidths =
    ::testing::Types<Types<U32, U32>, Types<U32, U64>, Types<U64, U32>, Types<U64, U64>>;
TYPED_TEST_SUITE(DevicePairMerge, AllWidths);

// Merges arrays with these keys, once sorted; `swapped`: the array whose pairs come first lies
// behind the other one.
template <class T>
void merge_keys_and_compare(std::vector<typename T::Key> keys, std::uint64_t a_count, bool swapped,
                            KeyMap<typename T::Key> map) {
  using Key = typename T::Key;
  using Value = typename T::Value;
  const std::uint64_t b_count = keys.size() - a_count;
  const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(a_count);
  std::sort(keys.begin(), middle);
  std::sort(middle, keys.end());
  const HostPairs<T> pairs = with_positions<T>(std::move(keys));
  const HostPairs<T> expected = stably_sorted(pairs, {}, map);
  const auto half = [&](std::uint64_t from, std::uint64_t count) {
    const auto cut = [&](const auto& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
      return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    return HostPairs<T>{cut(pairs.keys), cut(pairs.values)};
  };
  std::vector<std::unique_ptr<DevicePairArrays<T>>> arrays;
  for (const bool second : {swapped, !swapped}) {
    arrays.push_back(std::make_unique<DevicePairArrays<T>>(
        second ? half(a_count, b_count) : half(0, a_count), second ? 3 : 2));
  }
  const DevicePairArrays<T>& a = *arrays[swapped ? 1 : 0];
  const DevicePairArrays<T>& b = *arrays[swapped ? 0 : 1];
  const DevicePairArrays<T> output(pairs.count(), 1);
  const auto bytes = merge_pair_arrays_scratch_bytes<Key, Value>(pairs.count());
  const Scratch scratch(bytes, kScratchShift);
  merge_pair_arrays<Key, Value>({.a = a.get(),
                                 .a_count = a_count,
                                 .b = b.get(),
                                 .b_count = b_count,
                                 .output = output.get(),
                                 .store_map = map,
                                 .scratch = {scratch.get(), bytes}});
  ASSERT_TRUE(output.pairs() == expected) << a_count << " + " << b_count;
  ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
}

template <class T>
void merge_arrays_and_compare(Shape shape, std::uint64_t a_count, std::uint64_t b_count,
                              bool swapped, KeyMap<typename T::Key> map = {}) {
  if (is_left_out(a_count + b_count)) return;
  merge_keys_and_compare<T>(make_keys<typename T::Key>(shape, a_count + b_count, a_count), a_count,
                            swapped, map);
}

TYPED_TEST(DevicePairMerge, IsStableWhereverTheTwoArraysLie) {
  using Key = typename TypeParam::Key;
  const auto map = KeyMap<Key>::of({mapped_type<Key>(), true, true});
  const std::uint64_t most = small_tuning_for<Key>(90).most_merged_keys;
  using Counts = std::pair<std::uint64_t, std::uint64_t>;
  const Counts sizes[] = {
      {0, 1},         {1, 0},    {1, 1},           {2000, 48},           {2048, 2048}, {0, 5000},
      {70000, 70001}, {most, 1}, {most / 3, most}, {most / 2, most / 3}, {1, most}};
  for (const auto& [a_count, b_count] : sizes) {
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct, Shape::kMaximum}) {
      for (const bool swapped : {false, true}) {
        merge_arrays_and_compare<TypeParam>(shape, a_count, b_count, swapped);
        if (this->HasFatalFailure()) return;
      }
    }
    merge_arrays_and_compare<TypeParam>(Shape::kUniform, a_count, b_count, false, map);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DevicePairMerge, IsRightForEveryShape) {
  for (const NamedShape& named : kShapes) {
    for (const std::uint64_t count : {3000U, 1U << 20}) {
      merge_arrays_and_compare<TypeParam>(named.shape, count, count / 3, true);
      ASSERT_FALSE(this->HasFatalFailure()) << named.name;
    }
  }
}

// A key that one array has and the other has not, or that is missing between others.
TYPED_TEST(DevicePairMerge, IsRightWhereKeysAreInOneArrayAlone) {
  using Key = typename TypeParam::Key;
  std::mt19937_64 random(5);
  for (const std::uint64_t count : {500U, 1U << 20}) {
    if (are_too_many(2 * count)) continue;
    for (int round = 0; round < 4; ++round) {
      std::vector<Key> keys(2 * count);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const unsigned stride = i >= count && round % 2 == 0 ? 2 : 3;
        keys[i] = static_cast<Key>(random() % 40 * stride + (i < count ? 1 : 0));
      }
      merge_keys_and_compare<TypeParam>(keys, count, round > 1, {});
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DevicePairMerge, TakesArraysThatOverlap) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  constexpr std::uint64_t kCount = 9000;
  constexpr std::uint64_t kShift = 1234;
  std::vector<Key> keys = make_keys<Key>(Shape::kUniform, kCount + kShift, 8);
  std::sort(keys.begin(), keys.end());
  const auto pairs = with_positions<TypeParam>(keys);
  auto all = pairs;  // [0, kCount) and [kShift, kShift + kCount), end to end
  all.keys.resize(kCount);
  all.values.resize(kCount);
  all.keys.insert(all.keys.end(), pairs.keys.begin() + kShift, pairs.keys.end());
  all.values.insert(all.values.end(), pairs.values.begin() + kShift, pairs.values.end());
  const DevicePairArrays<TypeParam> input(pairs, 0);
  const DevicePairArrays<TypeParam> output(all.count(), 0);
  const auto bytes = merge_pair_arrays_scratch_bytes<Key, Value>(all.count());
  const Scratch scratch(bytes, kScratchShift);
  const Pairs<Key, Value> a = input.get();
  merge_pair_arrays<Key, Value>({.a = a,
                                 .a_count = kCount,
                                 .b = {a.keys + kShift, a.values + kShift},
                                 .b_count = kCount,
                                 .output = output.get(),
                                 .scratch = {scratch.get(), bytes}});
  EXPECT_TRUE(output.pairs() == stably_sorted(all, {}, {}));
}

TYPED_TEST(DevicePairMerge, IsRefusedBeforeAnyLaunchWithBadArguments) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  const DevicePairArrays<TypeParam> input(20000, 0);
  const DevicePairArrays<TypeParam> output(20000, 0);
  const auto bytes = merge_pair_arrays_scratch_bytes<Key, Value>(20000);
  const Scratch scratch(bytes, kScratchShift);
  const Pairs<Key, Value> in = input.get();
  const Pairs<Key, Value> out = output.get();
  const auto is_refused = [&](ConstPairs<Key, Value> a, Pairs<Key, Value> to, void* memory,
                              std::size_t memory_bytes) {
    return refused([&] {
      merge_pair_arrays<Key, Value>({.a = a,
                                     .a_count = 9000,
                                     .b = in,
                                     .b_count = 11000,
                                     .output = to,
                                     .scratch = {memory, memory_bytes}});
    });
  };
  EXPECT_FALSE(is_refused(in, out, scratch.get(), bytes));
  EXPECT_TRUE(is_refused({nullptr, in.values}, out, scratch.get(), bytes));
  EXPECT_TRUE(is_refused({in.keys, nullptr}, out, scratch.get(), bytes));
  EXPECT_TRUE(is_refused(in, {in.keys, out.values}, scratch.get(), bytes));
  EXPECT_TRUE(is_refused(in, {out.keys, in.values}, scratch.get(), bytes));
  EXPECT_TRUE(is_refused(in, {nullptr, out.values}, scratch.get(), bytes));
  EXPECT_TRUE(is_refused(in, {out.keys, nullptr}, scratch.get(), bytes));
  EXPECT_TRUE(is_refused(in, out, scratch.get(), 1));
  EXPECT_TRUE(is_refused(in, out, nullptr, bytes));
  EXPECT_TRUE(is_refused(in, out, scratch.get() + 8, bytes));
  const auto huge = [&] {
    merge_pair_arrays<Key, Value>({.a = in,
                                   .a_count = ~std::uint64_t{0},
                                   .b = in,
                                   .b_count = 2,
                                   .output = out,
                                   .scratch = {scratch.get(), bytes}});
  };
  EXPECT_TRUE(refused(huge));
}

}  // namespace
}  // namespace gsort::gpu
