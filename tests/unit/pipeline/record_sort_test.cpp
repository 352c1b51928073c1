// Whole sorts of records, in memory and through runs: what comes out is std::stable_sort of what
// went in.
#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/engine_wrap.hpp"
#include "support/expected_output.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::expect_right;
using test::SortRequest;
using test::SortResult;

// Records of bytes below `values`; the more alike they are, the longer keys must be compared.
Bytes random_records(std::uint64_t bytes, unsigned values) {
  std::mt19937 random(values);
  Bytes records(bytes);
  for (std::byte& byte : records) byte = static_cast<std::byte>(random() % values);
  return records;
}

KeyField text(std::uint32_t offset, std::uint32_t bytes) {
  return {offset, bytes, std::nullopt, false, false};
}

SortRequest request_for(const RecordFormat& format, std::uint64_t records, unsigned values) {
  SortRequest request;
  request.records = format;
  request.input = random_records(records * format.bytes, values);
  request.make_engine = test::engine_maker("cpu");
  return request;
}

const RecordFormat kBenchmark{100, {text(0, 10)}};
const RecordFormat kTwoKeys{21, {{12, 4, KeyType::kI32, true, true}, text(1, 7)}};

// Ties go to the earlier run, so the order of runs must be that of chunks, whichever is put first.
TEST(RecordSort, IsStableWhereSeveralChunksArePutIntoRunsAtOnce) {
  for (unsigned turn = 0; turn < 4; ++turn) {
    SortRequest request = request_for(kTwoKeys, 400'000 + turn, 2);
    request.budget = "10M";
    request.change_plan = [](Plan& plan) {
      plan.chunk.chunk_elements /= 8;
      plan.chunk.spillers = 3;
    };
    EXPECT_GT(expect_right(request).outcome.runs, 8U);
  }
}

TEST(RecordSort, InMemoryIsStableForAnyNumberOfRecords) {
  for (const RecordFormat& format : {kBenchmark, kTwoKeys, RecordFormat{1, {text(0, 1)}},
                                     RecordFormat{16'384, {text(16'352, 32)}}}) {
    for (const std::uint64_t records : {0U, 1U, 2U, 3U, 999U, 2'621U, 2'622U}) {
      for (const unsigned values : {1U, 2U, 256U}) {
        SCOPED_TRACE(testing::Message() << format.bytes << ' ' << records << ' ' << values);
        EXPECT_EQ(expect_right(request_for(format, records, values)).outcome.runs, 0U);
      }
    }
  }
}

TEST(RecordSort, DealtOutToManyBucketsIsStableHoweverKeysAreSpread) {
  for (const unsigned values : {1U, 2U, 3U, 256U}) {
    SCOPED_TRACE(values);
    expect_right(request_for(kTwoKeys, 200'000, values));
  }
}

TEST(RecordSort, ThroughRunsIsStableForEveryWayInAndWayOut) {
  for (const unsigned values : {1U, 2U, 256U}) {
    for (const int ways : {0, 1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << values << ' ' << ways);
      SortRequest request = request_for(kBenchmark, 160'000, values);
      request.from_pipe = (ways & 1) != 0;
      request.to_pipe = (ways & 2) != 0;
      request.threads = request.from_pipe ? 1 : 2;
      request.budget = request.from_pipe ? "14M" : "10M";
      EXPECT_GT(expect_right(request).outcome.runs, 1U);
    }
  }
}

TEST(RecordSort, InSeveralRoundsOfMergingIsStable) {
  SortRequest request = request_for(kTwoKeys, 700'000, 2);
  request.budget = "10M";
  request.batch_size = 2;
  EXPECT_FALSE(expect_right(request).plan.run.rounds.empty());
}

TEST(RecordSort, OfLongRecordsSpillsInBlocksThatHoldThem) {
  SortRequest request = request_for({16'381, {text(3, 9)}}, 1'500, 2);
  request.budget = "16M";
  request.threads = 1;
  EXPECT_GT(expect_right(request).outcome.runs, 1U);
}

TEST(RecordSort, OfArraysIsStableForEveryLengthWayInAndWayOut) {
  unsigned turn = 0;
  for (const RecordFormat& format : {kBenchmark, kTwoKeys, RecordFormat{2, {text(0, 1)}}}) {
    for (const std::uint64_t elements : {1U, 2U, 999U, 20'000U, 60'000U, 100'000U}) {
      for (const unsigned values : {1U, 2U, 256U}) {
        SCOPED_TRACE(testing::Message() << format.bytes << ' ' << elements << ' ' << values);
        SortRequest request = request_for(format, 60'001, values);
        request.batch_elements = elements;
        request.from_pipe = ++turn % 3 == 0;
        request.to_pipe = turn % 2 == 0;
        EXPECT_TRUE(expect_right(request).plan.is<BatchPlan>());
      }
    }
  }
}

TEST(RecordSort, OfArraysLargerThanMemoryIsStable) {
  for (const unsigned values : {2U, 256U}) {
    SortRequest request = request_for(kBenchmark, 330'000, values);
    request.batch_elements = 160'000;
    request.budget = "10M";
    EXPECT_GT(expect_right(request).outcome.runs, 2U);
  }
}

// The last byte of a record is no key: only the fingerprint can see it change.
TEST(RecordSort, FindsAChangedByteThatIsNoKeyInEitherPhase) {
  for (const bool in_merge : {false, true}) {
    SortRequest request = request_for(kBenchmark, in_merge ? 160'000 : 1'000, 256);
    request.budget = "10M";
    request.make_engine = [&](const Plan& plan, const EngineShape& shape, ByteSpan memory) {
      test::EngineHooks hooks;
      hooks.on_piece = [&](bool merging, std::uint64_t position, Bytes& piece) {
        if (merging == in_merge && position == 0) piece[99] ^= std::byte{1};
      };
      return test::wrap_engine(test::engine_maker("cpu")(plan, shape, memory), hooks);
    };
    const SortResult result = sort_in_folder(request);
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->kind(), ErrorKind::kCorrupt);
    EXPECT_FALSE(result.output.has_value());
    EXPECT_TRUE(result.left_in_folder.empty());
  }
}

TEST(RecordSort, FindsRecordsThatChangePlaces) {
  SortRequest request = request_for(kBenchmark, 1'000, 256);
  request.make_engine = [&](const Plan& plan, const EngineShape& shape, ByteSpan memory) {
    test::EngineHooks hooks;
    hooks.on_piece = [](bool, std::uint64_t, Bytes& piece) {
      std::swap_ranges(piece.begin(), piece.begin() + 100, piece.begin() + 100);
    };
    return test::wrap_engine(test::engine_maker("cpu")(plan, shape, memory), hooks);
  };
  const SortResult result = sort_in_folder(request);
  ASSERT_TRUE(result.error);
  EXPECT_NE(std::string(result.error->what()).find("out of order"), std::string::npos);
}

}  // namespace
}  // namespace gsort
