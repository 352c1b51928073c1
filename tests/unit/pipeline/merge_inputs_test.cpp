// Merges of sorted inputs on engines that tell the truth: windows that are much shorter than the
// inputs, groups that become runs, keys that all windows share.
#include "pipeline/merge_inputs.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "support/expected_output.hpp"
#include "support/stably_sorted.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::expect_right;
using test::SortRequest;
using test::SortResult;

SortRequest request_of(const KeyFormat& format, Distribution distribution,
                       const std::vector<std::uint64_t>& sizes) {
  SortRequest request;
  request.format = format;
  for (const std::uint64_t size : sizes) {
    request.merged.push_back(
        test::sorted_copy(test::generated(format, distribution, size, size + 1), format));
  }
  request.budget = "16M";
  request.make_engine = test::engine_maker("cpu");
  return request;
}

TEST(MergeInputs, IsRightForEveryTypeOnEveryEngine) {
  std::size_t turn = 0;
  for (const KeyType type : kAllKeyTypes) {
    for (const char* const engine : {"cpu", "std"}) {
      const KeyFormat format = test::formats_of(type)[turn % 4];
      const Distribution distribution = kAllDistributions[turn++ % std::size(kAllDistributions)];
      SCOPED_TRACE(testing::Message() << test::words_of(format) << ' ' << name_of(distribution));
      SortRequest request = request_of(format, distribution, {0, 1, 300'000, 70'001});
      request.make_engine = test::engine_maker(engine);
      expect_right(request);
    }
  }
}

TEST(MergeInputs, RefillsWindowsThatAreShorterThanTheInputs) {
  for (const Distribution distribution :
       {Distribution::kUniform, Distribution::kEqual, Distribution::kZipf}) {
    SCOPED_TRACE(name_of(distribution));
    const SortResult result =
        expect_right(request_of({KeyType::kU32}, distribution, {900'000, 3'000'000, 5}));
    EXPECT_LT(result.plan.as<InputMergePlan>().window_elements, 3'000'000U);
    EXPECT_EQ(result.outcome.runs, 0U);
  }
}

TEST(MergeInputs, MakesRunsOfMoreInputsThanItMergesAtOnce) {
  SortRequest request = request_of({KeyType::kI64, true, true}, Distribution::kUniform,
                                   {10'000, 0, 0, 0, 20'000, 1, 30'000, 7});
  for (const unsigned batch_size : {2U, 3U, 7U}) {
    request.batch_size = batch_size;
    EXPECT_GT(expect_right(request).outcome.runs, 1U);
  }
  request.batch_size = 8;
  EXPECT_EQ(expect_right(request).outcome.runs, 0U);
}

// Records of three bytes: a key of one byte, and what tells equal ones apart.
const RecordFormat kShortRecords{3, {{0, 1, std::nullopt, false, false}}};
// Keys of two stretches whose first eight bytes are all alike.
const RecordFormat kLongRecords{
    40, {{4, 20, std::nullopt, false, false}, {0, 4, KeyType::kI32, false, true}}};

// Bytes below `values`: the fewer, the more keys are equal. The first twelve bytes of a long record
// differ in their last byte at most.
Bytes sorted_records(const RecordFormat& format, std::uint64_t records, unsigned values,
                     std::uint64_t seed) {
  Bytes bytes = test::generated({KeyType::kU8, false, false}, Distribution::kUniform,
                                records * format.bytes, seed);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(static_cast<unsigned>(byte) % values);
  for (std::size_t at = 0; format.bytes == kLongRecords.bytes && at < bytes.size();
       at += format.bytes) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at) + 4, 8, std::byte{7});
  }
  return test::stably_sorted(bytes, format);
}

SortRequest record_request(const RecordFormat& format, unsigned values,
                           const std::vector<std::uint64_t>& sizes) {
  SortRequest request = request_of({}, Distribution::kUniform, {});
  request.records = format;
  for (const std::uint64_t size : sizes) {
    request.merged.push_back(sorted_records(format, size, values, size + 1));
  }
  return request;
}

TEST(MergeInputs, OfRecordsAreStableHoweverManyKeysAreEqual) {
  for (const RecordFormat& format : {kShortRecords, kLongRecords}) {
    for (const unsigned values : {1U, 2U, 200U}) {
      SCOPED_TRACE(testing::Message() << format.bytes << ' ' << values);
      expect_right(record_request(format, values, {0, 1, 30'000, 7'001, 0, 12'000}));
    }
  }
}

TEST(MergeInputs, OfRecordsAreStableWhereWindowsAreShorterThanEqualKeys) {
  for (const unsigned values : {1U, 2U, 200U}) {
    SCOPED_TRACE(values);
    SortRequest request = record_request(kShortRecords, values, {1'000'000, 10, 1'250'000});
    request.budget = "8M";
    const SortResult result = expect_right(request);
    EXPECT_LT(result.plan.as<InputMergePlan>().window_elements, 1'000'000U);
    EXPECT_EQ(result.outcome.runs, 0U);
  }
}

TEST(MergeInputs, OfMoreRecordsThanAreMergedAtOnceAreStable) {
  SortRequest request = record_request(kLongRecords, 2, {9'000, 0, 0, 1, 8'000, 7'000, 3});
  for (const unsigned batch_size : {2U, 3U, 6U}) {
    request.batch_size = batch_size;
    EXPECT_GT(expect_right(request).outcome.runs, 1U);
  }
}

TEST(MergeInputs, OfRecordsAsLongAsAnyHaveWindowsThatHoldThem) {
  const RecordFormat longest{RecordFormat::kMostBytes, {{16'383, 1, std::nullopt, false, false}}};
  expect_right(record_request(longest, 2, {300, 1, 0, 400}));
}

TEST(MergeInputs, NamesTheInputAndTheElementThatIsOutOfOrder) {
  const SortRequest keys = request_of({KeyType::kU64}, Distribution::kUniform, {1'000, 300'000});
  const SortRequest records = record_request(kLongRecords, 200, {100, 300'000});
  for (const SortRequest& request : {keys, records}) {
    const std::size_t bytes = request.records ? request.records->bytes : 8;
    for (const std::uint64_t at : {1U, 70'000U, 299'999U}) {
      SortRequest damaged = request;
      std::fill_n(damaged.merged[1].begin() + static_cast<std::ptrdiff_t>(bytes * at), bytes,
                  std::byte{0});
      const SortResult result = sort_in_folder(damaged);
      ASSERT_TRUE(result.error);
      const std::string text = result.error->what();
      EXPECT_EQ(result.error->kind(), ErrorKind::kInput);
      EXPECT_NE(text.find("in1: element " + format_count(at) + " is out of order"),
                std::string::npos)
          << text;
      if (request.records) continue;
      EXPECT_NE(text.find(" is out of order: 0 after "), std::string::npos) << text;
      EXPECT_NE(text.find(" (wanted: ascending)\n"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace gsort
