// sort_pair_batch on the card, against std::stable_sort of each array of a copy taken before the
// call. How arrays of words are sorted at the borders of tiles is tested in device_batch_test.cpp.
#include "gpu/segmented/device_pair_batch.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "distributions.hpp"
#include "pairs_on_both.hpp"
#include "support/error_of.hpp"

namespace gsort::gpu {
namespace {

using Lengths = std::vector<std::uint64_t>;

template <class T>
class DevicePairBatch : public GpuTest {};
TYPED_TEST_SUITE(DevicePairBatch, AllPairs);

std::vector<std::uint64_t> offsets_of(const Lengths& lengths) {
  std::vector<std::uint64_t> offsets(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  return offsets;
}

// The options of a call.
template <class Key>
struct Wanted {
  KeyMap<Key> map{};
  bool numbers = false;  // in place of values
  bool keys = true;
};

template <class T>
HostPairs<T> sorted_arrays(const HostPairs<T>& pairs, const Lengths& lengths,
                           const Wanted<typename T::Key>& wanted) {
  HostPairs<T> sorted = pairs;
  std::uint64_t begin = 0;
  for (const std::uint64_t length : lengths) {
    std::vector<std::uint64_t> order(length);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::ranges::stable_sort(
        order, {}, [&](std::uint64_t i) { return wanted.map.to_ordered(pairs.keys[begin + i]); });
    for (std::uint64_t i = 0; i < length; ++i) {
      sorted.keys[begin + i] = pairs.keys[begin + order[i]];
      sorted.values[begin + i] = wanted.numbers ? static_cast<typename T::Value>(order[i])
                                                : pairs.values[begin + order[i]];
    }
    begin += length;
  }
  return sorted;
}

// Sorts the arrays twice, in two places, so that the second result shows whether anything but the
// input decided.
template <class T>
void sort_and_compare(const std::vector<typename T::Key>& keys, const Lengths& lengths,
                      const ArrayPlaces& arrays, const Wanted<typename T::Key>& wanted,
                      const std::string& what) {
  using Key = typename T::Key;
  using Value = typename T::Value;
  if (is_left_out(keys.size())) return;
  const HostPairs<T> pairs = with_positions<T>(keys);
  const HostPairs<T> expected = sorted_arrays(pairs, lengths, wanted);
  const DeviceArray<Key> keys_in(pairs.keys);
  const DeviceArray<Value> values_in(pairs.values);
  const std::size_t bytes = sort_pair_batch_scratch_bytes<Key>(arrays);
  for (const std::size_t misalign : {0U, 1U}) {
    const DeviceArray<Key> keys_out(keys.size(), misalign);
    const DeviceArray<Value> values_out(keys.size(), misalign);
    const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
    sort_pair_batch<Key, Value>({.keys_in = keys_in.get(),
                                 .keys_out = wanted.keys ? keys_out.get() : nullptr,
                                 .values_in = wanted.numbers ? nullptr : values_in.get(),
                                 .values_out = values_out.get(),
                                 .takes_numbers = wanted.numbers,
                                 .arrays = arrays,
                                 .map = wanted.map,
                                 .scratch = {scratch.get(), bytes}});
    ASSERT_TRUE(values_out.values() == expected.values) << what;
    ASSERT_TRUE(!wanted.keys || keys_out.values() == expected.keys) << what;
    ASSERT_TRUE(keys_out.guards_hold() && values_out.guards_hold() && scratch.guards_hold())
        << what << ": wrote outside";
  }
  ASSERT_TRUE(keys_in.values() == pairs.keys && values_in.values() == pairs.values) << what;
}

template <class T>
void sort_by_offsets(const std::vector<typename T::Key>& keys, const Lengths& lengths,
                     const Wanted<typename T::Key>& wanted = {}, const std::string& what = "") {
  const std::vector<std::uint64_t> offsets = offsets_of(lengths);
  const DeviceArray<std::uint64_t> device_offsets(offsets);
  for (const std::uint64_t longest :
       {kUnknownLongest, *std::max_element(lengths.begin(), lengths.end())}) {
    const ArrayPlaces arrays{.array_count = lengths.size(),
                             .offsets = device_offsets.get(),
                             .count = keys.size(),
                             .longest = longest};
    sort_and_compare<T>(keys, lengths, arrays, wanted, what + " by offsets");
  }
  ASSERT_TRUE(device_offsets.values() == offsets);
}

template <class T>
void sort_even(const std::vector<typename T::Key>& keys, std::uint64_t array_keys,
               const Wanted<typename T::Key>& wanted = {}, const std::string& what = "") {
  const std::uint64_t count = keys.size() / array_keys;
  sort_and_compare<T>(keys, Lengths(count, array_keys),
                      {.array_count = count, .array_keys = array_keys}, wanted,
                      what + " " + std::to_string(count) + " x " + std::to_string(array_keys));
}

// Digits that differ in both halves of a key of 64 bits, in one of them, or in none.
template <class Key>
Key key_of_digit(std::uint64_t digit) {
  constexpr std::uint64_t kKeys[] = {5, 0x1'0000'0004, 0x1'0000'0005, ~std::uint64_t{0}};
  return static_cast<Key>(kKeys[digit]);
}

// All arrays of `length` keys out of `distinct`, back to back.
template <class Key>
std::vector<Key> every_array(std::uint64_t length, std::uint64_t distinct) {
  std::uint64_t arrays = 1;
  for (std::uint64_t i = 0; i < length; ++i) arrays *= distinct;
  std::vector<Key> keys;
  for (std::uint64_t array = 0; array < arrays; ++array) {
    std::uint64_t left = array;
    for (std::uint64_t i = 0; i < length; ++i, left /= distinct) {
      keys.push_back(key_of_digit<Key>(left % distinct));
    }
  }
  return keys;
}

TYPED_TEST(DevicePairBatch, SortsEverySmallArray) {
  using Key = typename TypeParam::Key;
  std::vector<Key> all;
  Lengths lengths;
  for (const std::uint64_t length : {0U, 1U, 2U, 3U, 4U, 5U, 6U}) {
    const std::vector<Key> keys = every_array<Key>(length, length < 6 ? 4 : 3);
    if (length > 0) {
      for (const bool numbers : {false, true}) sort_even<TypeParam>(keys, length, {{}, numbers});
    }
    all.insert(all.end(), keys.begin(), keys.end());
    lengths.insert(lengths.end(), length == 0 ? 3 : keys.size() / length, length);
  }
  for (const bool numbers : {false, true}) {
    sort_by_offsets<TypeParam>(all, lengths, {{}, numbers, !numbers});
  }
}

TYPED_TEST(DevicePairBatch, SortsEvenArraysOfManyLengthsAndShapes) {
  using Key = typename TypeParam::Key;
  for (const std::uint64_t length : {1U, 7U, 64U, 1000U, 8192U, 8193U, 40000U, 300007U}) {
    for (const Shape shape :
         {Shape::kUniform, Shape::kFewDistinct, Shape::kEqual, Shape::kMaximum}) {
      const std::uint64_t arrays = 1 + 20000 / length;
      for (const bool numbers : {false, true}) {
        sort_even<TypeParam>(make_keys<Key>(shape, arrays * length, length), length,
                             {{}, numbers, !numbers});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DevicePairBatch, SortsArraysOfAnyLengths) {
  using Key = typename TypeParam::Key;
  const Lengths some{0, 1, 5000, 0, 0, 17, 2, 9001, 0, 3, 700, 0};
  const Lengths long_one{3, 250000, 0, 1, 20000};
  const Lengths single{12345};
  Lengths tiny(9000, 2);
  for (std::size_t i = 0; i < tiny.size(); i += 3) tiny[i] = i % 7;
  Lengths low(150, 3);  // around the borders of shared tiles
  for (std::size_t i = 0; i < low.size(); i += 2) low[i] = 37 * i % 262;
  for (std::size_t i = 1; i < low.size(); i += 30) low[i] = 1794 + i * 17 % 260;
  for (const Lengths& lengths : {some, long_one, single, tiny, low}) {
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct, Shape::kEqual}) {
      const std::uint64_t count = offsets_of(lengths).back();
      for (const bool numbers : {false, true}) {
        sort_by_offsets<TypeParam>(make_keys<Key>(shape, count, count), lengths,
                                   {{}, numbers, !numbers});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DevicePairBatch, KeepsTheKeysOfEveryFormat) {
  using Key = typename TypeParam::Key;
  for (const KeyType type : kAllKeyTypes) {
    if (bytes_of(type) != sizeof(Key)) continue;
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        const auto map = KeyMap<Key>::of({type, big_endian, descending});
        const auto keys = make_keys<Key>(Shape::kUniform, 6000, 9);
        sort_even<TypeParam>(keys, 1500, {map}, std::string(name_of(type)));
        sort_by_offsets<TypeParam>(keys, {10, 0, 5990}, {map}, std::string(name_of(type)));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

using DevicePairBatchErrors = GpuTest;

/** Four arrays of 100 pairs and all that a sort of them needs. */
struct RightSort {
  using Sort = PairBatchSort<std::uint64_t, std::uint32_t>;
  static constexpr std::uint64_t kArrays = 4;
  static constexpr std::uint64_t kLength = 100;
  static constexpr std::uint64_t kCount = kArrays * kLength;

  DeviceArray<std::uint64_t> keys{2 * kCount};
  DeviceArray<std::uint32_t> values{2 * kCount};
  std::size_t bytes =
      sort_pair_batch_scratch_bytes<std::uint64_t>({.array_count = kArrays, .array_keys = kLength});
  DeviceArray<unsigned char> scratch{bytes, 256 - DeviceArray<char>::kGuard};

  [[nodiscard]] Sort sort() const {
    return {.keys_in = keys.get(),
            .keys_out = keys.get() + kCount,
            .values_in = values.get(),
            .values_out = values.get() + kCount,
            .arrays = {.array_count = kArrays, .array_keys = kLength},
            .scratch = {scratch.get(), bytes}};
  }
};

void expect_refusal(const RightSort::Sort& sort, const std::string& reason) {
  const Error error = test::error_of([&] { sort_pair_batch(sort); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_NE(error.reason().find(reason), std::string::npos) << error.what();
}

TEST_F(DevicePairBatchErrors, NameTheArrayThatIsWrong) {
  using Sort = RightSort::Sort;
  constexpr std::uint64_t kCount = RightSort::kCount;
  const RightSort right;
  std::uint64_t* const keys = right.keys.get();
  const auto with = [&](auto change) {
    Sort sort = right.sort();
    change(sort);
    return sort;
  };
  expect_refusal(with([](Sort& sort) { sort.keys_in = nullptr; }),
                 "the input's keys must not be null");
  expect_refusal(with([](Sort& sort) { sort.values_out = nullptr; }),
                 "the output's values must not be null");
  expect_refusal(with([&](Sort& sort) { sort.keys_out = keys + kCount - 1; }),
                 "the output's keys and the input's keys overlap");
  expect_refusal(with([&](Sort& sort) { sort.values_out = right.values.get() + 1; }),
                 "the output's values and the input's values overlap");
  expect_refusal(with([&](Sort& sort) { sort.scratch.memory = keys; }), "overlap");
  expect_refusal(with([&](Sort& sort) { sort.scratch.bytes = right.bytes - 1; }),
                 "of scratch memory");
  expect_refusal(with([](Sort& sort) { sort.arrays.array_count = ~std::uint64_t{0} / 4; }),
                 "more than 4,294,967,296 pairs");
  expect_refusal(
      with([&](Sort& sort) { sort.arrays = {.offsets = keys + kCount, .count = kCount}; }),
      "pairs, but no arrays");
  expect_refusal(with([&](Sort& sort) {
                   sort.arrays = {.array_count = ~std::uint64_t{0} / 8,
                                  .offsets = keys + kCount,
                                  .count = kCount};
                 }),
                 "more than 34,359,738,368 arrays");
  expect_refusal(with([](Sort& sort) { sort.takes_numbers = sort.map.folds_classes = true; }),
                 "floats in numeric order cannot be written with their numbers");
  expect_refusal(with([&](Sort& sort) {
                   sort.arrays = {.array_count = 1, .offsets = keys + kCount, .count = 100};
                 }),
                 "the output's keys and the offsets overlap");
  EXPECT_EQ(right.keys.values(), std::vector<std::uint64_t>(2 * kCount, 0xa5a5a5a5a5a5a5a5U));
  sort_pair_batch(right.sort());
}

}  // namespace
}  // namespace gsort::gpu
