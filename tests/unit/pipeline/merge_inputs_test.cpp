// Merges of sorted inputs on engines that tell the truth: windows that are much shorter than the
// inputs, groups that become runs, keys that all windows share.
#include "pipeline/merge_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/output/output.hpp"
#include "support/invented.hpp"
#include "support/sort_run.hpp"
#include "support/stably_sorted.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using test::Bytes;

struct MergeRequest {
  KeyFormat format;
  std::vector<Bytes> inputs;                 // each in order
  std::optional<RecordFormat> records = {};  // what elements are instead of keys
  std::string budget = "16M";
  std::optional<unsigned> batch_size = {};
  std::string engine = "cpu";
};

struct MergeResult {
  Plan plan;
  Outcome outcome;
  Bytes output;
};

MergeResult merge_in_folder(const MergeRequest& request) {
  const io::test::TempFolder folder;
  std::filesystem::create_directory(folder / "temporary");
  Options options = test::options_for(request.format.type, request.budget);
  options.key = request.format;
  options.records = request.records;
  options.merge = true;
  options.batch_size = request.batch_size;
  options.inputs.clear();
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    options.inputs.push_back(folder / ("in" + std::to_string(i)));
    io::test::write_file(options.inputs.back(), request.inputs[i]);
  }
  // Raw elements, whatever the first ones look like.
  io::Reader reader(options.inputs, {test::element_bytes(options), DirectIo::kAuto,
                                     InputForm{FileFormat::kBinary, Codec::kNone}});
  MergeResult result;
  result.plan = test::plan_of(options, test::invented_machine(reader.known_size(), 2, kTiB));
  {
    io::Output output(folder / "out");
    result.outcome = run_sort({.plan = result.plan,
                               .reader = &reader,
                               .temporary_folders = {folder / "temporary"},
                               .make_engine = test::engine_maker(request.engine)},
                              {&output, 1});
  }
  result.output = io::test::read_file(folder / "out");
  return result;
}

Bytes joined(const std::vector<Bytes>& inputs) {
  Bytes all;
  for (const Bytes& input : inputs) all.insert(all.end(), input.begin(), input.end());
  return all;
}

std::vector<Bytes> sorted_inputs(const KeyFormat& format, Distribution distribution,
                                 const std::vector<std::uint64_t>& sizes) {
  std::vector<Bytes> inputs;
  for (const std::uint64_t size : sizes) {
    inputs.push_back(
        test::sorted_copy(test::generated(format, distribution, size, size + 1), format));
  }
  return inputs;
}

void expect_merged(const MergeRequest& request) {
  const MergeResult result = merge_in_folder(request);
  const Bytes all = joined(request.inputs);
  EXPECT_TRUE(result.output == test::sorted_copy(all, request.format));
  EXPECT_EQ(result.outcome.elements, all.size() / bytes_of(request.format.type));
  EXPECT_TRUE(result.outcome.verified);
}

TEST(MergeInputs, IsRightForEveryTypeOnEveryEngine) {
  std::size_t turn = 0;
  for (const KeyType type : kAllKeyTypes) {
    for (const char* const engine : {"cpu", "std"}) {
      const KeyFormat format = test::formats_of(type)[turn % 4];
      const Distribution distribution = kAllDistributions[turn++ % std::size(kAllDistributions)];
      SCOPED_TRACE(testing::Message() << test::words_of(format) << ' ' << name_of(distribution));
      MergeRequest request{format, sorted_inputs(format, distribution, {0, 1, 300'000, 70'001})};
      request.engine = engine;
      expect_merged(request);
    }
  }
}

TEST(MergeInputs, RefillsWindowsThatAreShorterThanTheInputs) {
  for (const Distribution distribution :
       {Distribution::kUniform, Distribution::kEqual, Distribution::kZipf}) {
    SCOPED_TRACE(name_of(distribution));
    const KeyFormat format{KeyType::kU32, false, false};
    MergeRequest request{format, sorted_inputs(format, distribution, {900'000, 3'000'000, 5})};
    const MergeResult result = merge_in_folder(request);
    EXPECT_LT(result.plan.as<InputMergePlan>().window_elements, 3'000'000U);
    EXPECT_EQ(result.outcome.runs, 0U);
    expect_merged(request);
  }
}

TEST(MergeInputs, MakesRunsOfMoreInputsThanItMergesAtOnce) {
  const KeyFormat format{KeyType::kI64, true, true};
  MergeRequest request{format, sorted_inputs(format, Distribution::kUniform,
                                             {10'000, 0, 0, 0, 20'000, 1, 30'000, 7})};
  for (const unsigned batch_size : {2U, 3U, 7U}) {
    request.batch_size = batch_size;
    EXPECT_GT(merge_in_folder(request).outcome.runs, 1U);
    expect_merged(request);
  }
  request.batch_size = 8;
  EXPECT_EQ(merge_in_folder(request).outcome.runs, 0U);
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

MergeRequest record_request(const RecordFormat& format, unsigned values,
                            const std::vector<std::uint64_t>& sizes) {
  MergeRequest request;
  request.records = format;
  for (const std::uint64_t size : sizes) {
    request.inputs.push_back(sorted_records(format, size, values, size + 1));
  }
  return request;
}

// Equal records stay in the order of the inputs, and then in their own.
MergeResult expect_stably_merged(const MergeRequest& request) {
  MergeResult result = merge_in_folder(request);
  EXPECT_TRUE(result.output == test::stably_sorted(joined(request.inputs), *request.records));
  return result;
}

TEST(MergeInputs, OfRecordsAreStableHoweverManyKeysAreEqual) {
  for (const RecordFormat& format : {kShortRecords, kLongRecords}) {
    for (const unsigned values : {1U, 2U, 200U}) {
      SCOPED_TRACE(testing::Message() << format.bytes << ' ' << values);
      expect_stably_merged(record_request(format, values, {0, 1, 30'000, 7'001, 0, 12'000}));
    }
  }
}

TEST(MergeInputs, OfRecordsAreStableWhereWindowsAreShorterThanEqualKeys) {
  for (const unsigned values : {1U, 2U, 200U}) {
    SCOPED_TRACE(values);
    MergeRequest request = record_request(kShortRecords, values, {1'000'000, 10, 1'250'000});
    request.budget = "8M";
    const MergeResult result = expect_stably_merged(request);
    EXPECT_LT(result.plan.as<InputMergePlan>().window_elements, 1'000'000U);
    EXPECT_EQ(result.outcome.runs, 0U);
  }
}

TEST(MergeInputs, OfMoreRecordsThanAreMergedAtOnceAreStable) {
  MergeRequest request = record_request(kLongRecords, 2, {9'000, 0, 0, 1, 8'000, 7'000, 3});
  for (const unsigned batch_size : {2U, 3U, 6U}) {
    request.batch_size = batch_size;
    EXPECT_GT(expect_stably_merged(request).outcome.runs, 1U);
  }
}

TEST(MergeInputs, OfRecordsAsLongAsAnyHaveWindowsThatHoldThem) {
  const RecordFormat longest{RecordFormat::kMostBytes, {{16'383, 1, std::nullopt, false, false}}};
  expect_stably_merged(record_request(longest, 2, {300, 1, 0, 400}));
}

TEST(MergeInputs, NamesTheRecordThatIsOutOfOrder) {
  MergeRequest request = record_request(kLongRecords, 200, {100, 300'000});
  for (const std::uint64_t at : {1U, 70'000U, 299'999U}) {
    MergeRequest damaged = request;
    std::fill_n(damaged.inputs[1].begin() + static_cast<std::ptrdiff_t>(40 * at), 40, std::byte{0});
    const Error error = test::error_of([&] { static_cast<void>(merge_in_folder(damaged)); });
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    const std::string wanted = "in1: element " + format_count(at) + " is out of order";
    EXPECT_NE(std::string(error.what()).find(wanted), std::string::npos) << error.what();
  }
}

TEST(MergeInputs, NamesTheInputAndTheElementThatIsOutOfOrder) {
  const KeyFormat format{KeyType::kU64, false, false};
  for (const std::uint64_t at : {1U, 70'000U, 299'999U}) {
    MergeRequest request{format, sorted_inputs(format, Distribution::kUniform, {1'000, 300'000})};
    std::fill_n(request.inputs[1].begin() + static_cast<std::ptrdiff_t>(8 * at), 8, std::byte{0});
    const Error error = test::error_of([&] { static_cast<void>(merge_in_folder(request)); });
    const std::string text = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(text.find(" is out of order: 0 after "), std::string::npos) << text;
    EXPECT_NE(text.find(" (wanted: ascending)\n"), std::string::npos) << text;
    EXPECT_NE(text.find("in1: element "), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace gsort
