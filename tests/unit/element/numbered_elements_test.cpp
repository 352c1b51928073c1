#include "element/numbered_elements.hpp"

#include <algorithm>
#include <cstring>
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

// The number of so many bytes at `at`.
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

}  // namespace
}  // namespace gsort
