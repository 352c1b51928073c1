#include "options/job.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "options/options.hpp"
#include "support/error_of.hpp"

namespace gsort {
namespace {

Options options_of_one_input() {
  Options options;
  options.inputs = {"in"};
  return options;
}

StoredArray rows_of(std::uint64_t elements) {
  StoredArray stored;
  stored.key = KeyFormat{KeyType::kF32, true, false};
  stored.row_elements = elements;
  return stored;
}

std::string complaint(const Options& options, const StoredArray& stored) {
  const Error error = test::error_of([&] { (void)make_job(options, stored); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  return error.what();
}

TEST(MakeJob, KnowsNoArrayLongerThanAnyFile) {
  Options options = options_of_one_input();
  EXPECT_EQ(make_job(options).array_elements, 0U);
  for (const std::uint64_t elements : {std::uint64_t{1} << 63, UINT64_MAX}) {
    options.batch_elements = elements;
    options.key.type = KeyType::kU8;
    EXPECT_EQ(make_job(options).array_elements, kMostFileBytes);
    options.key.type = KeyType::kF64;
    EXPECT_EQ(make_job(options).array_elements, kMostFileBytes / 8);
    options.records = RecordFormat{3, {{0, 1, KeyType::kU8, false, false}}};
    EXPECT_EQ(make_job(options).array_elements, kMostFileBytes / 3);
    options.records.reset();
  }
  options.batch_elements = 1'000;
  EXPECT_EQ(make_job(options).array_elements, 1'000U);
}

TEST(MakeJob, TakesTheRowsOfAnArray) {
  Options options = options_of_one_input();
  EXPECT_EQ(make_job(options, rows_of(7)).array_elements, 7U);
  options.batch_elements = 7;
  EXPECT_EQ(make_job(options, rows_of(7)).array_elements, 7U);
  EXPECT_NE(complaint(options, rows_of(8)).find("rows of 8"), std::string::npos);
  Options top = options_of_one_input();
  top.top = 1;
  EXPECT_NE(complaint(top, rows_of(7)).find("rows"), std::string::npos);
  Options resume = options_of_one_input();
  resume.resume = "folder";
  EXPECT_NE(complaint(resume, rows_of(7)).find("rows"), std::string::npos);
}

TEST(MakeJob, SortsElementsWithTheirPositions) {
  Options options = options_of_one_input();
  options.argsort = true;
  options.key.type = KeyType::kU16;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  EXPECT_EQ(make_job(options, {}, 2 * kMost + 2).element.bytes(), 10U);
  const Job job = make_job(options);  // of a pipe
  EXPECT_EQ(job.element.bytes(), 10U);
  EXPECT_EQ(job.result_key().type, KeyType::kU64);
  EXPECT_EQ(job.input_element().key.type, KeyType::kU16);
  EXPECT_EQ(job.proven_element().records->keys.size(), 2U);
  options.unique = true;  // which positions are left out, no order of theirs tells
  EXPECT_EQ(make_job(options).proven_element().records->keys.size(), 1U);
}

TEST(MakeJob, SortsShortKeysWithTheirPositionsAsNumbers) {
  Options options = options_of_one_input();
  options.argsort = true;
  for (const KeyType type : {KeyType::kU8, KeyType::kF16, KeyType::kI32}) {
    options.key.type = type;
    const Job job = make_job(options, {}, 1'000);
    EXPECT_FALSE(job.element.records);
    EXPECT_EQ(job.element.key.type, KeyType::kU64);
    EXPECT_EQ(job.proven_element().key, job.element.key);
    EXPECT_EQ(job.numbering().record_bytes(), 8U);
  }
  options.unique = true;  // the first position of a key is wanted, so it is no key itself
  EXPECT_EQ(make_job(options, {}, 1'000).element.records->bytes, 8U);
}

TEST(MakeJob, SortsOtherElementsWithTheirPositionsAsRecords) {
  Options options = options_of_one_input();
  options.argsort = true;
  options.key.type = KeyType::kU64;
  EXPECT_EQ(make_job(options, {}, 1'000).element.records->bytes, 12U);
  options.records = RecordFormat{3, {{0, 2, KeyType::kU16, false, false}}};  // not only keys
  const Job job = make_job(options, {}, 1'000);
  EXPECT_EQ(job.element.records->bytes, 7U);
  EXPECT_EQ(job.padding_bytes, 0U);
}

TEST(MakeJob, TellsTheByteOrderOfPositionsInRuns) {
  Options options = options_of_one_input();
  options.records = RecordFormat{3, {{0, 2, {}, false, false}}};
  Options big_endian = options;
  big_endian.key.big_endian = true;
  options.argsort = big_endian.argsort = true;
  EXPECT_NE(resumable_job(make_job(options), {}), resumable_job(make_job(big_endian), {}));
  options.argsort = big_endian.argsort = false;
  options.shuffle = big_endian.shuffle = 3;  // its numbers are little endian in all runs
  options.records->keys.clear();
  big_endian.records->keys.clear();
  EXPECT_EQ(resumable_job(make_job(options), {}), resumable_job(make_job(big_endian), {}));
  EXPECT_FALSE(make_job(big_endian).numbering().big_endian);
}

TEST(MakeJob, RefusesPositionsThatHaveNoRoom) {
  Options options = options_of_one_input();
  options.argsort = true;
  options.records =
      RecordFormat{RecordFormat::kMostBytes - 8, {{0, 1, KeyType::kU8, false, false}}};
  EXPECT_EQ(make_job(options).element.bytes(), RecordFormat::kMostBytes);
  options.records->bytes += 1;
  EXPECT_NE(complaint(options, {}).find("too long"), std::string::npos);
  options.records.reset();
  options.key.type = KeyType::kU8;
  const Error error = test::error_of([&] { (void)make_job(options, {}, kMostFileBytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
}

TEST(MakeJob, TakesTypeAndByteOrderOfAHeader) {
  const Job job = make_job(options_of_one_input(), rows_of(0));
  EXPECT_EQ(job.element.key, (KeyFormat{KeyType::kF32, true, false}));
  EXPECT_EQ(job.type_source, TypeSource::kHeader);
  EXPECT_EQ(make_job(options_of_one_input()).type_source, TypeSource::kCaller);
}

TEST(MakeJob, TakesRecordsOfAHeader) {
  StoredArray stored;
  stored.records = StoredRecords{12, {{"a", 0, 4, {{0, 4, KeyType::kU32, false, false}}, false}}};
  Options options = options_of_one_input();
  const Job job = make_job(options, stored);
  ASSERT_TRUE(job.element.records);
  EXPECT_EQ(job.element.bytes(), 12U);
  options.batch_elements = 2;
  options.engine = EngineChoice::kCuda;
  EXPECT_NE(complaint(options, stored).find("--engine=cuda"), std::string::npos);
}

}  // namespace
}  // namespace gsort
