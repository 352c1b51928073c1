#include "element/numbered_elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "element/record.hpp"

namespace gsort {
namespace {

using Bytes = std::vector<std::byte>;

// Elements of `size` bytes, no two of them alike.
Bytes elements_of(std::size_t size, std::size_t count) {
  Bytes bytes(size * count);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

// The number in the `bytes` bytes at `at`.
std::uint64_t number_at(const std::byte* at, std::size_t bytes, bool big_endian) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t byte = big_endian ? i : bytes - 1 - i;
    number = number << 8 | std::to_integer<std::uint64_t>(at[byte]);
  }
  return number;
}

Bytes numbered_records(const Bytes& elements, const Numbering& numbering, std::uint64_t first) {
  const std::size_t count = elements.size() / numbering.element_bytes;
  Bytes room(count * numbering.record_bytes());
  std::ranges::copy(elements, room.begin());
  number_elements(room, numbering, first, count);
  return room;
}

class Numbered : public testing::TestWithParam<std::size_t> {};

TEST_P(Numbered, ElementsAreFollowedByTheirPositions) {
  const std::size_t size = GetParam();
  constexpr std::size_t kCount = 300;
  constexpr std::uint64_t kFirst = 0xfffffe00;
  const Bytes elements = elements_of(size, kCount);
  for (const std::size_t index_bytes : {std::size_t{4}, std::size_t{8}}) {
    for (const bool big_endian : {false, true}) {
      const Numbering numbering{size, index_bytes, big_endian};
      const Bytes records = numbered_records(elements, numbering, kFirst);
      for (std::size_t i = 0; i < kCount; ++i) {
        const std::byte* const record = records.data() + i * (size + index_bytes);
        ASSERT_EQ(std::memcmp(record, elements.data() + i * size, size), 0) << i;
        ASSERT_EQ(number_at(record + size, index_bytes, big_endian), kFirst + i);
      }
    }
  }
}

TEST_P(Numbered, PositionsComeOutInEitherWidth) {
  constexpr std::size_t kCount = 300;
  for (const std::size_t index_bytes : {std::size_t{4}, std::size_t{8}}) {
    for (const std::size_t to_bytes : {std::size_t{4}, std::size_t{8}}) {
      const Numbering numbering{GetParam(), index_bytes, to_bytes == 4};
      const Bytes records = numbered_records(elements_of(GetParam(), kCount), numbering, 77);
      Bytes taken(kCount * to_bytes);
      take_indexes(records, numbering, to_bytes, taken.data());
      for (std::size_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(number_at(taken.data() + i * to_bytes, to_bytes, numbering.big_endian), 77 + i);
      }
      EXPECT_EQ(first_other_index(records, numbering, to_bytes, taken.data()), kCount);
      std::swap_ranges(taken.begin() + 10 * static_cast<std::ptrdiff_t>(to_bytes),
                       taken.begin() + 11 * static_cast<std::ptrdiff_t>(to_bytes),
                       taken.begin() + 200 * static_cast<std::ptrdiff_t>(to_bytes));
      EXPECT_EQ(first_other_index(records, numbering, to_bytes, taken.data()), 10U);
    }
  }
}

TEST_P(Numbered, PositionsComeBehindPadding) {
  const std::size_t size = GetParam();
  constexpr std::size_t kCount = 300;
  const Numbering numbering{size, 4, true, 3};
  const Bytes elements = elements_of(size, kCount);
  const Bytes records = numbered_records(elements, numbering, 77);
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::byte* const record = records.data() + i * (size + 7);
    ASSERT_EQ(std::memcmp(record, elements.data() + i * size, size), 0) << i;
    ASSERT_EQ(number_at(record + size, 3, true), 0U);
    ASSERT_EQ(number_at(record + size + 3, 4, true), 77 + i);
  }
  Bytes taken(kCount * 8);
  take_indexes(records, numbering, 8, taken.data());
  EXPECT_EQ(number_at(taken.data() + 8, 8, true), 78U);
  EXPECT_EQ(first_other_index(records, numbering, 8, taken.data()), kCount);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Numbered, testing::Values(1, 2, 3, 4, 8, 12, 100));

TEST(NumberedElements, HaveFourBytesForThePositionUpTo2To32) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  EXPECT_EQ(index_bytes_for(0), 4U);
  EXPECT_EQ(index_bytes_for(kMost), 4U);  // the last one is kMost - 1
  EXPECT_EQ(index_bytes_for(kMost + 1), 8U);
}

TEST(NumberedElements, AreRecordsOfTheSameKeys) {
  const KeyFormat key{KeyType::kI16, true, true};
  const ElementFormat of_keys = numbered({key, {}}, {2, 4, true}, false);
  const std::vector<KeyField> fields = {{0, 2, KeyType::kI16, true, true}};
  EXPECT_EQ(of_keys.records, (RecordFormat{6, fields}));

  const RecordFormat records{12, {{4, 4, KeyType::kF32, false, true}, {0, 3, {}, false, false}}};
  const ElementFormat of_records = numbered({{}, records}, {12, 8, false}, false);
  std::vector<KeyField> alike = records.keys;  // when numbered, equal floats have the same bits
  alike.front().float_order = FloatOrder::kTotal;
  EXPECT_EQ(of_records.records, (RecordFormat{20, alike}));
}

// With the position as the last key, records of equal keys have one order, also a descending one.
TEST(NumberedElements, AreInOneOrderWithThePositionAsAKey) {
  const Numbering numbering{1, 8, true};
  const ElementFormat format = numbered({{KeyType::kU8, false, true}, {}}, numbering, true);
  const RecordOrder order(*format.records);
  Bytes records(3 * numbering.record_bytes(), std::byte{5});
  number_elements(records, numbering, 41, 3);
  EXPECT_EQ(order.first_disorder(records, true), 3U);
  std::swap_ranges(records.begin(), records.begin() + 9, records.begin() + 9);
  EXPECT_EQ(order.first_disorder(records), 0U);
}

// Raw values of u16 keys, as numbers of 64 bits with their positions.
std::vector<std::uint64_t> ordered_numbers(const std::vector<std::uint16_t>& keys,
                                           const KeyFormat& key) {
  Numbering numbering{2, 4, key.big_endian};
  numbering.padding_bytes = padding_to_number({key, {}}, numbering);
  EXPECT_EQ(numbering.record_bytes(), 8U);
  const ElementFormat format = numbered({key, {}}, numbering, true).as_keys();
  EXPECT_FALSE(format.records);
  std::vector<std::uint64_t> numbers(keys.size());
  std::memcpy(numbers.data(), keys.data(), keys.size() * sizeof(keys[0]));
  number_elements(std::as_writable_bytes(std::span(numbers)), numbering, 0, keys.size());
  const auto map = KeyMap<std::uint64_t>::of(format.key);
  for (std::uint64_t& number : numbers) number = map.to_ordered(number);
  return numbers;
}

TEST(NumberedElements, AreNumbersOfTheKeyAndBelowItThePosition) {
  const std::vector<std::uint16_t> keys = {0x1234, 0xfffe};
  EXPECT_EQ(ordered_numbers(keys, {KeyType::kU16}),
            (std::vector<std::uint64_t>{0x123400000000, 0xfffe00000001}));
  EXPECT_EQ(ordered_numbers(keys, {KeyType::kI16}),
            (std::vector<std::uint64_t>{0x923400000000, 0x7ffe00000001}));
  EXPECT_EQ(ordered_numbers(keys, {KeyType::kU16, true, true}),
            (std::vector<std::uint64_t>{0xcbed00000000, 0x010000000001}));
}

TEST(NumberedElements, ThatCannotBeNumbersGetNoPadding) {
  const ElementFormat shorts = {{KeyType::kU16}, {}};
  EXPECT_EQ(padding_to_number(shorts, {2, 4, false}), 2U);
  EXPECT_EQ(padding_to_number(shorts, {2, 8, false}), 0U);
  EXPECT_EQ(padding_to_number({{KeyType::kU32}, {}}, {4, 4, false}), 0U);
  const RecordFormat not_only_keys{2, {{0, 1, KeyType::kU8, false, false}}};
  EXPECT_EQ(padding_to_number({{}, not_only_keys}, {2, 4, false}), 0U);
}

// The order in which a shuffle puts positions from `first` on.
std::vector<std::uint32_t> shuffled(std::uint64_t seed, std::uint32_t count,
                                    std::uint64_t first = 0) {
  const Numbering numbering{1, 8, false, 0, seed};
  const Bytes records = numbered_records(Bytes(count), numbering, first);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> numbers;
  for (std::uint32_t i = 0; i < count; ++i) {
    numbers.emplace_back(number_at(records.data() + i * 9 + 1, 8, false), i);
  }
  std::ranges::sort(numbers);
  std::vector<std::uint32_t> order;
  for (const auto& [number, position] : numbers) order.push_back(position);
  return order;
}

// The standard deviations by which the sum of squares exceeds that of uniform counts.
double excess(const std::vector<std::uint64_t>& counts, double expected, double freedom) {
  double sum = 0;
  for (const std::uint64_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return (sum - freedom) / std::sqrt(2 * freedom);
}

constexpr double kMostDeviations = 4;  // seeds are fixed, so the result is, too

TEST(Shuffle, GivesEveryOrderOfFiveElementsEquallyOften) {
  constexpr std::uint64_t kSeeds = 120'000;
  std::map<std::vector<std::uint32_t>, std::uint64_t> orders;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) ++orders[shuffled(seed, 5)];
  ASSERT_EQ(orders.size(), 120U);
  std::vector<std::uint64_t> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  EXPECT_LT(std::abs(excess(counts, kSeeds / 120.0, 119)), kMostDeviations);
}

TEST(Shuffle, BringsEveryElementToEveryPlaceEquallyOften) {
  constexpr std::uint32_t kCount = 32;
  constexpr std::uint64_t kSeeds = 20'000;
  std::vector<std::uint64_t> places(std::size_t{kCount} * kCount);
  std::vector<std::uint64_t> neighbours(std::size_t{kCount} * kCount);
  std::uint64_t fixed = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto order = shuffled(seed << 40, kCount, std::uint64_t{1} << 33);
    for (std::uint32_t i = 0; i < kCount; ++i) {
      ++places[std::size_t{i} * kCount + order[i]];
      fixed += order[i] == i ? 1U : 0U;
      if (i > 0) ++neighbours[std::size_t{order[i - 1]} * kCount + order[i]];
    }
  }
  const double each = static_cast<double>(kSeeds) / kCount;
  EXPECT_LT(std::abs(excess(places, each, (kCount - 1.0) * (kCount - 1.0))), kMostDeviations);
  std::erase(neighbours, 0U);  // an element and itself
  ASSERT_EQ(neighbours.size(), kCount * (kCount - 1));
  EXPECT_LT(std::abs(excess(neighbours, each, kCount * (kCount - 1.0))), kMostDeviations);
  EXPECT_NEAR(static_cast<double>(fixed) / kSeeds, 1, kMostDeviations / std::sqrt(kSeeds));
}

TEST(Shuffle, SpreadsEveryStretchOfALargeInputEvenly) {
  constexpr std::uint32_t kCount = 1 << 20;
  constexpr std::uint32_t kStretches = 64;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    std::vector<std::uint64_t> counts(std::size_t{kStretches} * kStretches);
    const auto order = shuffled(seed, kCount);
    std::uint64_t ascending = 0;
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const std::size_t from = std::size_t{order[i]} * kStretches / kCount;
      ++counts[from * kStretches + std::size_t{i} * kStretches / kCount];
      if (i > 0 && order[i - 1] < order[i]) ++ascending;
    }
    const double each = static_cast<double>(kCount) / (kStretches * kStretches);
    const double freedom = (kStretches - 1.0) * (kStretches - 1.0);
    EXPECT_LT(std::abs(excess(counts, each, freedom)), kMostDeviations) << seed;
    EXPECT_NEAR(static_cast<double>(ascending), kCount / 2.0, 4 * std::sqrt(kCount / 12.0));
  }
}

// Elements of 8 bytes, which are keys too, do not change the order.
TEST(Shuffle, TakesElementsWithoutTheirNumbers) {
  for (const std::size_t size : {1U, 3U, 4U, 8U, 16U, 100U}) {
    const Numbering numbering{size, 8, false, 0, 5};
    const Bytes elements = elements_of(size, 300);
    Bytes records = numbered_records(elements, numbering, 77);
    Bytes taken(elements.size());
    take_indexes(records, numbering, size, taken.data());
    EXPECT_EQ(taken, elements);
    EXPECT_EQ(first_other_index(records, numbering, size, taken.data()), 300U);
    taken[size * 200] ^= std::byte{1};
    EXPECT_EQ(first_other_index(records, numbering, size, taken.data()), 200U);
    const auto format =
        numbered({{}, RecordFormat{static_cast<std::uint32_t>(size), {}}}, numbering, true);
    EXPECT_EQ(format.records->keys.front().offset, size);
    EXPECT_EQ(is_wide_key(*format.records), size == 8);
  }
}

TEST(Shuffle, IsKnownByTheDescriptionOfItsRuns) {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{5}, ~std::uint64_t{0}}) {
    const std::string text = "u32 little endian ascending" + shuffle_words(seed) + "; input";
    EXPECT_EQ(seed_in(text), seed);
    EXPECT_EQ(bytes_without_number(text, 12), 4U);
    EXPECT_EQ(bytes_without_number(text, 7), 0U);  // of a forged manifest
  }
  for (const char* const text :
       {"u32 ascending; input", "u32 ascending; shuffled by 5", "u32 shuffled by 5x; input",
        "u32 shuffled by ; input", "u32 shuffled by 18446744073709551616; input", ""}) {
    EXPECT_EQ(seed_in(text), std::nullopt) << text;
    EXPECT_EQ(bytes_without_number(text, 12), 12U);
  }
}

}  // namespace
}  // namespace gsort
