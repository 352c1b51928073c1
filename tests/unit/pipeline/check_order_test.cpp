#include "pipeline/check_order.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/error_of.hpp"
#include "support/sorted_copy.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::raw_of;

constexpr std::uint64_t kBlockKeys = (256 << 10) / 4;  // keys of four bytes read at once

CheckOutcome checked(const Bytes& raw, const KeyFormat& format, unsigned threads = 3,
                     Job job = {}) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", raw);
  io::Reader reader({folder / "in"}, {bytes_of(format.type)});
  job.element.key = format;
  job.resources.parallel = threads;
  return check_order(job, reader);
}

TEST(CheckOrder, FindsSortedKeysOfEveryFormatInOrder) {
  for (const KeyType type : kAllKeyTypes) {
    for (const KeyFormat& format : test::formats_of(type)) {
      const Bytes raw =
          test::sorted_copy(test::generated(format, Distribution::kUniform, 200'000), format);
      const CheckOutcome outcome = checked(raw, format);
      EXPECT_TRUE(outcome.in_order) << test::words_of(format);
      EXPECT_EQ(outcome.elements, 200'000U);
      EXPECT_EQ(outcome.fingerprint, fingerprint_of(raw, bytes_of(type)));
    }
  }
}

TEST(CheckOrder, AcceptsNothingAndOneKey) {
  const KeyFormat format{KeyType::kU16, false, false};
  EXPECT_TRUE(checked({}, format).in_order);
  EXPECT_EQ(checked({}, format).distinct, 0U);
  const CheckOutcome one = checked(raw_of<std::uint16_t>({7}), format);
  EXPECT_TRUE(one.in_order);
  EXPECT_EQ(one.elements, 1U);
  EXPECT_EQ(one.distinct, 1U);
}

TEST(CheckOrder, FindsTheFirstRepeatedKeyWhereOrderIsStrict) {
  std::vector<std::uint32_t> keys(3 * kBlockKeys);
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = i;
  const KeyFormat format{KeyType::kU32, false, false};
  Job distinct;
  distinct.unique = true;
  EXPECT_TRUE(checked(raw_of(keys), format, 3, distinct).in_order);
  for (const std::uint64_t at :
       {std::uint64_t{1}, std::uint64_t{777}, kBlockKeys, 2 * kBlockKeys}) {
    std::vector<std::uint32_t> repeated = keys;
    repeated[at] = repeated[at - 1];
    const CheckOutcome outcome = checked(raw_of(repeated), format, 1, distinct);
    EXPECT_FALSE(outcome.in_order);
    EXPECT_EQ(outcome.disorder_element, at);
    EXPECT_EQ(outcome.value, outcome.value_before);
    EXPECT_TRUE(checked(raw_of(repeated), format).in_order);
  }
}

TEST(CheckOrder, LetsKeysFallFromOneArrayToTheNextOnly) {
  const KeyFormat format{KeyType::kU32, false, false};
  for (const std::uint64_t array : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1'000},
                                    kBlockKeys, kBlockKeys + 1, 3 * kBlockKeys}) {
    SCOPED_TRACE(array);
    std::vector<std::uint32_t> keys(5 * kBlockKeys);
    for (std::uint32_t i = 0; i < keys.size(); ++i) {
      keys[i] = static_cast<std::uint32_t>(i % array + keys.size() - i / array);
    }
    Job arrays;
    arrays.array_elements = array;
    EXPECT_TRUE(checked(raw_of(keys), format, 3, arrays).in_order);
    EXPECT_EQ(checked(raw_of(keys), format, 1).in_order, false);
    if (array == 1) continue;
    const std::uint64_t at = (keys.size() - 1) / array * array - 1;  // the last of an array
    keys[at] = keys[at - 1] - 1;
    const CheckOutcome outcome = checked(raw_of(keys), format, 1, arrays);
    EXPECT_FALSE(outcome.in_order);
    EXPECT_EQ(outcome.disorder_element, at);
  }
}

TEST(CheckOrder, CountsDistinctKeysAcrossTheBordersOfBlocks) {
  for (const std::uint32_t repeat : {1U, 2U, 3U, 1'000U, 100'000U, 1'000'000U}) {
    std::vector<std::uint32_t> keys(5 * kBlockKeys + 17);
    for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = i / repeat;
    const CheckOutcome outcome = checked(raw_of(keys), {KeyType::kU32, false, false});
    EXPECT_TRUE(outcome.in_order);
    EXPECT_EQ(outcome.distinct, keys.back() + 1U);
  }
}

TEST(CheckOrder, FindsTheDisorderWhereverItIs) {
  constexpr std::uint64_t kKeys = 4 * kBlockKeys + 3;
  for (const std::uint64_t at :
       {std::uint64_t{1}, kBlockKeys - 1, kBlockKeys, kBlockKeys + 1, 3 * kBlockKeys, kKeys - 1}) {
    std::vector<std::int32_t> keys(kKeys);
    for (std::size_t i = 0; i < kKeys; ++i) keys[i] = 10 * static_cast<std::int32_t>(i) - 1'000'000;
    keys[at] = keys[at - 1] - 1;
    for (const unsigned threads : {1U, 2U, 5U}) {
      const CheckOutcome outcome = checked(raw_of(keys), {KeyType::kI32, false, false}, threads);
      EXPECT_FALSE(outcome.in_order);
      EXPECT_EQ(outcome.disorder_element, at);
      EXPECT_EQ(outcome.value, std::to_string(keys[at]));
      EXPECT_EQ(outcome.value_before, std::to_string(keys[at - 1]));
    }
  }
}

TEST(CheckOrder, FindsTheFirstOfManyDisorders) {
  for (const std::uint64_t first : {std::uint64_t{5}, kBlockKeys, 2 * kBlockKeys + 1}) {
    std::vector<std::uint32_t> keys(6 * kBlockKeys);
    for (std::uint32_t i = 0; i < keys.size(); ++i) {
      keys[i] = i < first ? i : static_cast<std::uint32_t>(keys.size()) - i;
    }
    keys[first] = 0;
    const CheckOutcome outcome = checked(raw_of(keys), {KeyType::kU32, false, false}, 4);
    EXPECT_FALSE(outcome.in_order);
    EXPECT_EQ(outcome.disorder_element, first);
  }
}

TEST(CheckOrder, PrintsValuesAsPeopleWriteThem) {
  const auto value_of = [](const Bytes& raw, const KeyFormat& format) {
    const CheckOutcome outcome = checked(raw, format);
    EXPECT_FALSE(outcome.in_order);
    return outcome.value + " after " + outcome.value_before;
  };
  EXPECT_EQ(value_of(raw_of<std::uint8_t>({200, 7}), {KeyType::kU8, false, false}), "7 after 200");
  EXPECT_EQ(value_of(raw_of<std::int8_t>({7, -3}), {KeyType::kI8, false, false}), "-3 after 7");
  // Big endian: 0x0100 in memory is 1 in the file.
  EXPECT_EQ(value_of(raw_of<std::uint16_t>({0x0100, 0x0001}), {KeyType::kU16, true, true}),
            "256 after 1");
  EXPECT_EQ(value_of(raw_of<float>({1.5F, -0.25F}), {KeyType::kF32, false, false}),
            "-0.25 after 1.5");
  EXPECT_EQ(value_of(raw_of<double>({1.0, -std::numeric_limits<double>::infinity()}),
                     {KeyType::kF64, false, false}),
            "-inf after 1");
  EXPECT_EQ(value_of(raw_of<std::uint64_t>({~std::uint64_t{0}, 0}), {KeyType::kU64, false, false}),
            "0 after 18446744073709551615");
}

TEST(CheckOrder, TakesEqualFloatsInAnyOrder) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> keys = {-1, 0.0, -0.0, 0.0, 7, nan, -nan, nan};
  for (const bool descending : {false, true}) {
    const KeyFormat format{KeyType::kF64, false, descending};
    std::vector<double> ordered = keys;
    if (descending) std::reverse(ordered.begin(), ordered.end());
    const CheckOutcome outcome = checked(raw_of<double>(ordered), format);
    EXPECT_TRUE(outcome.in_order);
    EXPECT_EQ(outcome.distinct, 4U);
  }
}

TEST(CheckOrder, KnowsThatMinusZeroComesBeforeZeroInTotalOrder) {
  const KeyFormat format{KeyType::kF64, false, false, {}, FloatOrder::kTotal};
  EXPECT_TRUE(checked(raw_of<double>({-0.0, 0.0}), format).in_order);
  EXPECT_FALSE(checked(raw_of<double>({0.0, -0.0}), format).in_order);
}

TEST(CheckOrder, ReadsSeveralFilesAsOne) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "a", raw_of<std::uint32_t>({1, 2, 9}));
  io::test::write_file(folder / "b", raw_of<std::uint32_t>({3}));
  io::Reader reader({folder / "a", folder / "b"}, {4});
  Job job;
  job.element.key.type = KeyType::kU32;
  const CheckOutcome outcome = check_order(job, reader);
  EXPECT_FALSE(outcome.in_order);
  EXPECT_EQ(outcome.disorder_element, 3U);
}

TEST(CheckOrder, EndsWithAnErrorWhenTheFileHasGrownSinceItWasOpened) {
  Job job;
  job.element.key.type = KeyType::kU8;
  const io::test::TempFolder folder;
  const std::string path = folder / "in";
  Bytes keys(1, std::byte{1});
  io::test::write_file(path, keys);
  io::Reader checked({path}, {1});
  io::Reader added_up({path}, {1});
  keys.push_back(std::byte{2});
  io::test::write_file(path, keys);
  const Error of_check = io::test::error_of([&] { (void)check_order(job, checked); });
  EXPECT_EQ(of_check.reason(), "the file grew while it was read");
  const Error of_sum = io::test::error_of([&] { (void)fingerprint_of_input(job, added_up); });
  EXPECT_EQ(of_sum.reason(), "the file grew while it was read");
}

// Records of two bytes: a key, and a byte that is not compared.
TEST(CheckOrder, ComparesRecordsByTheirKeysAndCountsThemByTheirBytes) {
  Job job;
  job.element.records = RecordFormat{2, {{0, 1, KeyType::kU8, false, false}}};
  job.resources.parallel = 3;
  constexpr std::uint64_t kRecords = 3 * (256 << 10) / 2;  // three blocks
  const auto checked_of = [&](const std::vector<std::uint8_t>& records, bool unique = false) {
    const io::test::TempFolder folder;
    io::test::write_file(folder / "in", raw_of(records));
    io::Reader reader({folder / "in"}, {2});
    job.unique = unique;
    return check_order(job, reader);
  };
  std::vector<std::uint8_t> records(2 * kRecords, 7);
  const CheckOutcome same = checked_of(records);
  EXPECT_TRUE(same.in_order);
  EXPECT_EQ(same.distinct, 1U);
  EXPECT_EQ(same.fingerprint, fingerprint_of_records(raw_of(records), 2));
  EXPECT_EQ(checked_of(records, true).disorder_element, 1U);
  const std::uint64_t border = kRecords / 3;  // the first of the second block
  records[2 * border + 1] = 6;
  const CheckOutcome other_bytes = checked_of(records);
  EXPECT_TRUE(other_bytes.in_order);
  EXPECT_EQ(other_bytes.distinct, 3U);
  records[2 * border] = 6;
  const CheckOutcome other_key = checked_of(records);
  EXPECT_FALSE(other_key.in_order);
  EXPECT_EQ(other_key.disorder_element, border);
  EXPECT_EQ(other_key.value, "6");
  EXPECT_EQ(other_key.value_before, "7");
}

TEST(FingerprintOfInput, IsThatOfAllFilesWithAnyNumberOfThreads) {
  const io::test::TempFolder folder;
  const std::vector<std::string> files = {folder / "a", folder / "b", folder / "c"};
  for (const KeyType type : kAllKeyTypes) {
    Bytes all;
    for (const std::string& file : files) {
      const std::uint64_t keys = (all.size() + 1) % 1'000 + 2 * kBlockKeys;
      const Bytes raw = test::generated({type, false, false}, Distribution::kUniform, keys);
      io::test::write_file(file, raw);
      all.insert(all.end(), raw.begin(), raw.end());
    }
    for (const unsigned threads : {1U, 3U}) {
      io::Reader reader(files, {bytes_of(type)});
      Job job;
      job.element.key.type = type;
      job.resources.parallel = threads;
      EXPECT_EQ(fingerprint_of_input(job, reader), fingerprint_of(all, bytes_of(type)))
          << name_of(type) << ", " << threads << " threads";
    }
  }
}

TEST(FingerprintOfInput, TakesRecordsWhole) {
  Job job;
  job.element.records = RecordFormat{2, {{0, 1, KeyType::kU8, false, false}}};
  const io::test::TempFolder folder;
  Bytes records(2 * (256 << 10), std::byte{7});
  io::test::write_file(folder / "in", records);
  io::Reader reader({folder / "in"}, {2});
  const Fingerprint found = fingerprint_of_input(job, reader);
  EXPECT_EQ(found, fingerprint_of_records(records, 2));
  records.back() = std::byte{6};
  EXPECT_NE(found, fingerprint_of_records(records, 2));
}

}  // namespace
}  // namespace gsort
