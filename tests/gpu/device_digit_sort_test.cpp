// Sorts of pairs by digits on the card, against std::stable_sort of a copy taken before the call;
// and argsort, against that of the numbers.
#include "gpu/records/device_digit_sort.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "distribute_cases.hpp"
#include "element/record_text.hpp"
#include "gpu/records/digit_sort.hpp"
#include "gpu/widths/device_argsort.hpp"
#include "support/error_of.hpp"
#include "support/tuples.hpp"

namespace gsort::gpu {
namespace {

template <class T>
class DeviceDigitSort : public GpuTest {
 protected:
  static constexpr std::size_t kTile = kDigitTuning<typename T::Value, false>.tile_pairs();
};
using PairsByDigits =
    ::testing::Types<Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, std::uint64_t>>;
TYPED_TEST_SUITE(DeviceDigitSort, PairsByDigits);

constexpr DistributionChoice kByDigits{.least_keys = 0};

TYPED_TEST(DeviceDigitSort, SortsEverySizeAtABorder) {
  std::vector<std::size_t> sizes{1, 2, 31, 32, 33, 255, 256, 257, 1000, 1234567};
  for (const std::size_t times : {1U, 2U, 3U, 5U, 33U, 300U}) {
    for (const std::size_t near :
         {this->kTile * times - 1, this->kTile * times, this->kTile * times + 1}) {
      sizes.push_back(near);
    }
  }
  for (const std::size_t size : sizes) {
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
      sort_and_compare(elements_of<TypeParam>(shape, size, size), {.choice = kByDigits},
                       "at a border");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDigitSort, SortsEveryShape) {
  for (const NamedShape& named : kShapes) {
    for (const std::size_t size : {std::size_t{29998}, std::size_t{3'000'001}}) {
      if (are_too_many(size)) continue;
      for (const bool in_place : {false, true}) {
        sort_and_compare(elements_of<TypeParam>(named.shape, size, 5),
                         {.choice = kByDigits, .in_place = in_place}, std::string(named.name));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Digits that all keys share need no pass.
TYPED_TEST(DeviceDigitSort, SortsKeysThatDifferInAnyDigits) {
  for (unsigned digits = 0; digits < 16; ++digits) {
    std::uint32_t differing = 0;
    for (unsigned digit = 0; digit < kDigits; ++digit) {
      if ((digits >> digit & 1U) != 0) differing |= 0xffU << kDigitBits * digit;
    }
    for (const std::uint32_t shared : {0U, 0xffffffffU, 0x12345678U}) {
      auto elements = elements_of<TypeParam>(Shape::kUniform, 29999, digits);
      for (auto& key : elements.keys) key = (key & differing) | (shared & ~differing);
      for (const bool in_place : {false, true}) {
        for (const std::size_t misalign : {0U, 1U}) {
          sort_and_compare(elements,
                           {.choice = kByDigits, .misalign = misalign, .in_place = in_place},
                           "digits " + std::to_string(digits));
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(DeviceDigitSort, SortsKeysInPlaceWithValuesApart) {
  using Value = typename TypeParam::Value;
  for (const std::uint32_t differing : {0xffU, 0xffffffU, 0xffffffffU}) {
    for (const std::size_t misalign : {0U, 1U}) {  // of the values alone
      auto elements = elements_of<TypeParam>(Shape::kUniform, 20000, 5);
      for (auto& key : elements.keys) key &= differing;
      if (is_left_out(elements.count())) continue;
      const DevicePairArrays<TypeParam> input(elements, 0);
      const DeviceArray<Value> values(elements.count(), misalign);
      const std::size_t bytes = distribution_bytes<TypeParam>(elements.count(), kByDigits);
      const Scratch scratch(bytes, kScratchShift);
      distribute<TypeParam>({.input = input.get(),
                             .output = {input.get().keys, values.get()},
                             .count = elements.count(),
                             .scratch = {scratch.get(), bytes}},
                            kByDigits);
      const HostPairs<TypeParam> expected = stably_sorted(elements, {}, {});
      EXPECT_TRUE(input.keys.values() == expected.keys) << differing;
      EXPECT_TRUE(values.values() == expected.values) << differing;
      EXPECT_TRUE(input.values.values() == elements.values) << "the input changed";
    }
  }
}

TYPED_TEST(DeviceDigitSort, AppliesTheMapsOfEveryFormat) {
  using Key = typename TypeParam::Key;
  const auto elements = elements_of<TypeParam>(Shape::kUniform, 29000, 9);
  const auto sort_mapped = [&](const KeyMap<Key>& map, const std::string& what) {
    sort_and_compare(elements, {kByDigits, map, map, 0, true}, what);
    sort_and_compare(elements, {kByDigits, map, KeyMap<Key>{}, 1, false}, what);
  };
  for (const KeyType type : {KeyType::kU32, KeyType::kI32, KeyType::kF32}) {
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        sort_mapped(KeyMap<Key>::of({type, big_endian, descending}), std::string(name_of(type)));
        if (this->HasFatalFailure()) return;
      }
    }
  }
  for (const RecordFormat& records : test::tuples_of_width(sizeof(Key))) {
    sort_mapped(KeyMap<Key>::of(ElementFormat{{}, records}.as_keys().key), describe_keys(records));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceDigitSort, SortsByDefaultWhateverTheCount) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{29000}, kLeastPairsByDigits - 1,
                                 kLeastPairsByDigits, std::size_t{17'000'000}}) {
    if (are_too_many(size)) continue;
    sort_and_compare(elements_of<TypeParam>(Shape::kZipf, size, 6), {}, "by default");
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceDigitSort, NeedsLittleMoreThanASecondArray) {
  constexpr std::size_t kPairBytes = sizeof(std::uint32_t) + sizeof(typename TypeParam::Value);
  for (std::uint64_t count = std::uint64_t{1} << 21; count <= kMostPairsByDigits;
       count += count / 9) {
    const std::size_t bytes = sort_pairs_by_digits_scratch_bytes<typename TypeParam::Value>(count);
    EXPECT_LE(bytes - count * kPairBytes, count * kPairBytes * 3 / 100) << count;
  }
  std::size_t least = 0;
  for (std::uint64_t count = std::uint64_t{1} << 23; count < kMaxSortedKeys; count += count / 9) {
    const std::size_t bytes = distribution_bytes<TypeParam>(count);
    EXPECT_GE(bytes, least) << count;
    EXPECT_LE(bytes - count * kPairBytes, count * kPairBytes * 6 / 100) << count;
    least = bytes;
  }
  cases_of_test.run = 1;
}

TYPED_TEST(DeviceDigitSort, RefusesBadArgumentsBeforeAnyLaunch) {
  using Elements = Pairs<typename TypeParam::Key, typename TypeParam::Value>;
  const std::size_t count = 20000;
  const DevicePairArrays<TypeParam> elements(2 * count, 0);
  const std::size_t bytes = distribution_bytes<TypeParam>(count, kByDigits);
  const Scratch scratch(bytes, kScratchShift);
  const auto is_refused = [&](Elements output, std::size_t scratch_bytes) {
    return refused([&] {
      distribute<TypeParam>({.input = elements.get(),
                             .output = output,
                             .count = count,
                             .scratch = {scratch.get(), scratch_bytes}},
                            kByDigits);
    });
  };
  const Elements all = elements.get();
  EXPECT_TRUE(is_refused({nullptr, all.values}, bytes));
  EXPECT_TRUE(is_refused({all.keys, nullptr}, bytes));
  EXPECT_TRUE(is_refused({all.keys + 5, all.values}, bytes));
  EXPECT_TRUE(is_refused({all.keys, all.values + 5}, bytes));
  EXPECT_TRUE(is_refused(all, bytes - 1));
  cases_of_test.run = 1;
}

template <class T>
class DeviceArgsort : public GpuTest {};
using IndexTypes =
    ::testing::Types<Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, std::uint64_t>,
                     Types<std::uint64_t, std::uint32_t>, Types<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(DeviceArgsort, IndexTypes);

template <class T>
void argsort_and_compare(const std::vector<typename T::Key>& keys, KeyMap<typename T::Key> map) {
  using Key = typename T::Key;
  using Index = typename T::Value;
  if (is_left_out(keys.size())) return;
  std::vector<Index> expected(keys.size());
  std::iota(expected.begin(), expected.end(), Index{0});
  std::ranges::stable_sort(expected, {}, [&](Index i) { return map.to_ordered(keys[i]); });
  const DeviceArray<Key> input(keys);
  const DeviceArray<Index> indices(keys.size());
  const std::size_t bytes = argsort_scratch_bytes<Key, Index>(keys.size());
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  argsort<Key, Index>({.keys = input.get(),
                       .indices = indices.get(),
                       .count = keys.size(),
                       .load_map = map,
                       .scratch = {scratch.get(), bytes}});
  ASSERT_TRUE(indices.values() == expected) << keys.size();
  ASSERT_TRUE(input.values() == keys);
  ASSERT_TRUE(indices.guards_hold() && scratch.guards_hold());
}

TYPED_TEST(DeviceArgsort, IsStable) {
  using Key = typename TypeParam::Key;
  constexpr bool kNarrow = sizeof(Key) == 4;
  for (const std::uint64_t count : {0U, 1U, 2U, 33U, 5000U, 25000U, 300007U}) {
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct, Shape::kEqual}) {
      argsort_and_compare<TypeParam>(make_keys<Key>(shape, count, 3), {});
      argsort_and_compare<TypeParam>(
          make_keys<Key>(shape, count, 4),
          KeyMap<Key>::of({kNarrow ? KeyType::kF32 : KeyType::kI64, false, true}));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceArgsort, IsStableWhereKeysAreManyMore) {
  using Key = typename TypeParam::Key;
  for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct, Shape::kEqual}) {
    const std::uint64_t count = sizeof(Key) == 4 ? kLeastPairsByDigits : kLeastDistributedPairs;
    argsort_and_compare<TypeParam>(make_keys<Key>(shape, count + 1, 5), {});
    if (this->HasFatalFailure()) return;
  }
}

TEST(DeviceArgsortLimits, CountsWithoutNumbersAreRefused) {
  const auto expect_refusal = [](const auto& call) {
    const Error error = test::error_of(call);
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  };
  constexpr std::uint64_t kMany = std::uint64_t{1} << 32;
  expect_refusal([] { (void)argsort_scratch_bytes<std::uint32_t, std::uint32_t>(kMany); });
  expect_refusal([] { argsort<std::uint32_t, std::uint32_t>({.count = kMany}); });
  expect_refusal([] { (void)argsort_scratch_bytes<std::uint32_t, std::uint64_t>(kMany << 4); });
  EXPECT_GT((argsort_scratch_bytes<std::uint32_t, std::uint64_t>(kMany)), 16 * kMany);
}

}  // namespace
}  // namespace gsort::gpu
