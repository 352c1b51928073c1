// Records of any format: the prefix, the comparison and the normalised key say the same; ties are
// split as a stable merge would.
#include "element/record.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "element/element.hpp"
#include "pipeline/split/record_ties.hpp"

namespace gsort {
namespace {

// One to four keys, one behind the other with gaps, in a record with a tail.
RecordFormat any_format() {
  RecordFormat format;
  const auto keys = *rc::gen::inRange(1, 5);
  for (int i = 0; i < keys; ++i) {
    KeyField key;
    key.offset = format.bytes + *rc::gen::inRange(0U, 4U);
    if (*rc::gen::arbitrary<bool>()) {
      key.bytes = *rc::gen::inRange(1U, 33U);
    } else {
      key.type = kAllKeyTypes[*rc::gen::inRange<std::size_t>(0, std::size(kAllKeyTypes))];
      key.bytes = static_cast<std::uint32_t>(bytes_of(*key.type));
      key.big_endian = *rc::gen::arbitrary<bool>();
    }
    key.descending = *rc::gen::arbitrary<bool>();
    format.bytes = key.offset + key.bytes;
    format.keys.push_back(key);
  }
  format.bytes += *rc::gen::inRange(0U, 4U);
  return format;
}

// Bytes of few values, so that keys often share their beginnings, or are equal.
std::vector<std::byte> any_records(const RecordFormat& format, std::size_t count) {
  const auto values = *rc::gen::element(1, 2, 256);
  std::vector<std::byte> records(count * format.bytes);
  for (std::byte& byte : records) {
    byte = static_cast<std::byte>(*rc::gen::inRange(0, values) * (values == 2 ? 255 : 1));
  }
  return records;
}

int sign(int value) {
  return (value > 0) - (value < 0);
}

TEST(AnyRecords, CompareAsTheirNormalisedKeys) {
  EXPECT_TRUE(rc::check([] {
    const RecordFormat format = any_format();
    const RecordOrder order(format);
    const auto records = any_records(format, 2);
    const std::byte* const a = records.data();
    const std::byte* const b = a + format.bytes;
    const std::string left = order.normalised_key(a);
    const std::string right = order.normalised_key(b);
    RC_ASSERT(left.size() == order.key_bytes());
    RC_ASSERT(sign(order.compare(a, b)) == sign(left.compare(right)));
    std::string of_words;
    for (const RecordWord& word : order.words()) {
      const std::uint64_t value = word.of(a);
      for (int bits = 56; bits >= 0; bits -= 8) of_words += static_cast<char>(value >> bits & 0xff);
    }
    RC_ASSERT(of_words.size() < left.size() + 8);
    of_words.resize(left.size());
    RC_ASSERT(of_words == left);
    RC_ASSERT(order.prefix_of(a) == order.words().front().of(a));
  }));
}

TEST(AnyRecords, OfOneNumberCompareAsTheKeysOfASort) {
  EXPECT_TRUE(rc::check([] {
    const auto raw =
        *rc::gen::container<std::vector<std::uint32_t>>(2, rc::gen::arbitrary<std::uint32_t>());
    const KeyFormat key{*rc::gen::element(KeyType::kU32, KeyType::kI32, KeyType::kF32),
                        *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
    const RecordOrder order({4, {{0, 4, key.type, key.big_endian, key.descending}}});
    const auto map = KeyMap<std::uint32_t>::classes_of(key);
    const auto* const at = reinterpret_cast<const std::byte*>(raw.data());
    RC_ASSERT(order.prefix_of(at) == std::uint64_t{map.to_ordered(raw[0])} << 32);
    const bool before = map.to_ordered(raw[0]) < map.to_ordered(raw[1]);
    RC_ASSERT((order.compare(at, at + 4) < 0) == before);
  }));
}

// Keys that lie side by side in any order and fill a record.
RecordFormat any_tuple(std::uint32_t bytes) {
  std::vector<KeyField> fields;
  for (std::uint32_t at = 0; at < bytes;) {
    KeyField key;
    key.offset = at;
    key.type = kAllKeyTypes[*rc::gen::inRange<std::size_t>(0, std::size(kAllKeyTypes))];
    key.bytes = static_cast<std::uint32_t>(bytes_of(*key.type));
    key.big_endian = *rc::gen::arbitrary<bool>();
    key.descending = *rc::gen::arbitrary<bool>();
    if (at + key.bytes > bytes || *rc::gen::inRange(0, 5) == 0) {
      key.type = std::nullopt;
      key.bytes = *rc::gen::inRange(1U, bytes - at + 1);
    }
    const bool is_total = key.type && is_float(*key.type) && *rc::gen::arbitrary<bool>();
    if (is_total) key.float_order = FloatOrder::kTotal;
    at += key.bytes;
    fields.push_back(key);
  }
  for (std::size_t i = fields.size(); i > 1; --i) {
    std::swap(fields[i - 1], fields[*rc::gen::inRange<std::size_t>(0, i)]);
  }
  return {bytes, fields};
}

// Keys that are not one number: floats in numeric order, and times beside others.
bool must_be_records(const RecordFormat& format) {
  return std::ranges::any_of(format.keys, [&](const KeyField& key) {
    if (key.type == KeyType::kTime64) return format.keys.size() > 1;
    return key.type && is_float(*key.type) && key.float_order == FloatOrder::kNumeric;
  });
}

// The map makes a number of any record whose bytes, most significant first, are the normalised key.
template <class Key>
void expect_normalised_key(const KeyMap<Key>& map, const RecordFormat& format) {
  Key raw = 0;
  for (unsigned i = 0; i < sizeof(Key); ++i) {
    raw = static_cast<Key>(raw | static_cast<Key>(*rc::gen::arbitrary<std::uint8_t>()) << (8 * i));
  }
  const Key ordered = map.to_ordered(raw);
  std::string as_bytes;
  for (unsigned i = sizeof(Key); i > 0; --i) as_bytes += static_cast<char>(ordered >> (8 * i - 8));
  const RecordOrder order(format);
  RC_ASSERT(as_bytes == order.normalised_key(reinterpret_cast<const std::byte*>(&raw)));
  RC_ASSERT(map.to_raw(ordered) == raw);
}

template <class Key>
void expect_one_key() {
  const RecordFormat format = any_tuple(sizeof(Key));
  const ElementFormat element = ElementFormat{{}, format}.as_keys(sizeof(Key));
  RC_ASSERT(element.records.has_value() == must_be_records(format));
  if (element.records) return;
  RC_ASSERT(element.bytes() == sizeof(Key));
  RC_ASSERT(element.shown_records() == format);
  expect_normalised_key(KeyMap<Key>::of(element.key), format);
}

TEST(AnyRecords, ThatAreNothingButKeysAreOneKeyWithTheSameOrder) {
  EXPECT_TRUE(rc::check([] { expect_one_key<std::uint8_t>(); }));
  EXPECT_TRUE(rc::check([] { expect_one_key<std::uint16_t>(); }));
  EXPECT_TRUE(rc::check([] { expect_one_key<std::uint32_t>(); }));
  EXPECT_TRUE(rc::check([] { expect_one_key<std::uint64_t>(); }));
  EXPECT_TRUE(rc::check([] { expect_one_key<UInt128>(); }));
  EXPECT_TRUE(rc::check([] {
    const RecordFormat format = any_tuple(sizeof(UInt128));
    RC_ASSERT(is_wide_key(format) == !must_be_records(format));
    RC_ASSERT((ElementFormat{{}, format}.as_keys().records == format));
    if (is_wide_key(format)) expect_normalised_key(wide_map_of(format), format);
  }));
}

TEST(AnyRecords, AreSplitAsAStableMergeWould) {
  EXPECT_TRUE(rc::check([] {
    const RecordOrder order({2, {{0, 1, std::nullopt, false, false}}});
    const auto run_count = *rc::gen::inRange<std::size_t>(1, 6);
    std::vector<std::string> runs(run_count);
    std::vector<std::uint64_t> low(run_count);
    std::vector<std::uint64_t> high(run_count);
    struct Place {
      char key;
      std::size_t run;
    };
    std::vector<Place> merged;
    for (std::size_t run = 0; run < run_count; ++run) {
      std::string keys = *rc::gen::container<std::string>(rc::gen::inRange('a', 'e'));
      std::sort(keys.begin(), keys.end());
      for (const char key : keys) {
        runs[run] += {key, '.'};
        merged.push_back({key, run});
      }
      high[run] = keys.size();
    }
    std::stable_sort(merged.begin(), merged.end(),
                     [](const Place& a, const Place& b) { return a.key < b.key; });
    const auto wanted = *rc::gen::inRange<std::size_t>(0, merged.size() + 1);
    std::vector<std::uint64_t> cuts(run_count);
    for (std::size_t i = 0; i < wanted; ++i) ++cuts[merged[i].run];
    take_ties(order, wanted, low, high, [&](std::uint32_t run, std::uint64_t position) {
      return reinterpret_cast<const std::byte*>(runs[run].data()) + 2 * position;
    });
    RC_ASSERT(low == cuts);
  }));
}

}  // namespace
}  // namespace gsort
