// The meter's record of a sort: it has every byte once at every stage that the byte passes, and the
// phases in their order.
#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include "base/meter.hpp"
#include "support/sort_run.hpp"

namespace gsort {
namespace {

class MeteredSort : public testing::Test {
 protected:
  test::SortResult sort(KeyType type, std::uint64_t bytes, const char* budget) {
    request_.format = {type, false, false};
    request_.input =
        test::generated(request_.format, Distribution::kUniform, bytes / bytes_of(type));
    request_.budget = budget;
    request_.make_engine = test::engine_maker("cpu");
    request_.meter = &meter_;
    test::SortResult result = sort_in_folder(request_);
    EXPECT_FALSE(result.error.has_value());
    return result;
  }

  [[nodiscard]] std::uint64_t bytes(Stage stage) const { return meter_.totals()[stage].bytes; }

  [[nodiscard]] std::vector<Phase> phases() const {
    std::vector<Phase> names;
    for (const PhaseRecord& record : meter_.phases()) names.push_back(record.phase);
    return names;
  }

  test::SortRequest request_;
  Meter meter_{Meter::Keep::kSpans};
};

TEST_F(MeteredSort, OfOneChunkReadsAndWritesEveryByteOnce) {
  constexpr std::uint64_t kBytes = 4'000'000;
  sort(KeyType::kU32, kBytes, "64M");
  for (const Stage stage : {Stage::kRead, Stage::kPartition, Stage::kSort, Stage::kWrite}) {
    EXPECT_EQ(bytes(stage), kBytes) << name_of(stage);
  }
  EXPECT_EQ(bytes(Stage::kProve), 2 * kBytes);
  for (const Stage stage : {Stage::kSpill, Stage::kLoad, Stage::kMerge, Stage::kCopyIn}) {
    EXPECT_EQ(meter_.totals()[stage].spans, 0U) << name_of(stage);
  }
  EXPECT_EQ(phases(), (std::vector{Phase::kRead, Phase::kWrite, Phase::kSync}));
  EXPECT_EQ(meter_.phases()[0].total_bytes, kBytes);
  EXPECT_EQ(meter_.phases()[0].later_bytes, kBytes);
  EXPECT_EQ(meter_.phases()[1].total_bytes, kBytes);
  EXPECT_EQ(meter_.phases()[1].later_bytes, 0U);
  EXPECT_EQ(meter_.phases()[0].stages[Stage::kWrite].bytes, 0U);
}

TEST_F(MeteredSort, OnSeveralDevicesCountsAllForOneOfThem) {
  constexpr std::uint64_t kKeys = 6'000'000;
  request_.format = {KeyType::kU32, false, false};
  request_.input = test::generated(request_.format, Distribution::kUniform, kKeys);
  request_.meter = &meter_;
  test::use_engine(request_, "std_x3");
  const test::SortResult result = sort_in_folder(request_);
  ASSERT_FALSE(result.error.has_value()) << result.error->what();
  ASSERT_EQ(result.plan.devices.size(), 3U);
  ByStage<std::uint64_t> sums{};
  for (const PhaseRecord& phase : meter_.phases()) {
    for (const DeviceTotals& totals : phase.devices) {
      ASSERT_LT(totals.device, 3);
      for (std::size_t i = 0; i < kStages; ++i) sums[i] += totals.stages[i].bytes;
    }
  }
  for (const Stage stage :
       {Stage::kRead, Stage::kPartition, Stage::kSpill, Stage::kLoad, Stage::kMerge}) {
    EXPECT_EQ(sums[stage], bytes(stage)) << name_of(stage);
    EXPECT_GT(sums[stage], 0U) << name_of(stage);
  }
}

TEST_F(MeteredSort, ThatSpillsWritesAndLoadsEveryRunOnce) {
  constexpr std::uint64_t kBytes = 16'000'000;
  const test::SortResult result = sort(KeyType::kU64, kBytes, "10M");
  ASSERT_GT(result.outcome.runs, 1U);
  for (const Stage stage :
       {Stage::kRead, Stage::kSpill, Stage::kLoad, Stage::kMerge, Stage::kWrite}) {
    EXPECT_EQ(bytes(stage), kBytes) << name_of(stage);
    EXPECT_GT(meter_.totals()[stage].busy_ns, 0U) << name_of(stage);
  }
  EXPECT_EQ(phases(), (std::vector{Phase::kRead, Phase::kMerge, Phase::kSync}));
  EXPECT_EQ(meter_.phases()[0].later_bytes, kBytes);
  EXPECT_EQ(meter_.phases()[1].total_bytes, kBytes);
  EXPECT_EQ(meter_.phases()[1].rounds, 0U);
  EXPECT_GT(meter_.totals()[Stage::kSpill].waiting_ns, 0U) << "nothing waited for the first chunk";
}

TEST_F(MeteredSort, CountsTheBytesOfAllRoundsOfMerging) {
  request_.batch_size = 2;
  const std::uint64_t runs = sort(KeyType::kU64, 16'000'000, "10M").outcome.runs;
  const PhaseRecord merging = meter_.phases().at(1);
  ASSERT_GT(runs, 2U);
  EXPECT_EQ(merging.rounds, static_cast<unsigned>(std::bit_width(runs - 1)));
  EXPECT_EQ(merging.round, merging.rounds);
  EXPECT_EQ(meter_.phases()[0].rounds, 0U);
  EXPECT_GT(merging.total_bytes, 2 * request_.input.size());
  EXPECT_GE(meter_.phases()[0].later_bytes, merging.total_bytes)
      << "some runs may need fewer rounds";
  EXPECT_EQ(merging.stages[Stage::kSpill].bytes + merging.stages[Stage::kWrite].bytes,
            merging.total_bytes);
}

TEST_F(MeteredSort, OfArraysCountsThoseStillToCome) {
  constexpr std::uint64_t kBytes = 24'000'000;
  request_.batch_elements = 1'000'000;
  sort(KeyType::kU64, kBytes, "10M");
  const auto& records = meter_.phases();
  ASSERT_EQ(phases(), (std::vector{Phase::kRead, Phase::kMerge, Phase::kRead, Phase::kMerge,
                                   Phase::kRead, Phase::kMerge, Phase::kSync}));
  for (std::size_t phase = 0; phase < 6; ++phase) {
    EXPECT_EQ(records[phase].total_bytes, kBytes / 3);
  }
  EXPECT_EQ(records[0].later_bytes, kBytes / 3 * 5);
  EXPECT_EQ(records[1].later_bytes, kBytes / 3 * 4);
  EXPECT_EQ(records[4].later_bytes, kBytes / 3);
  EXPECT_EQ(records[5].later_bytes, 0U);
}

TEST_F(MeteredSort, OfManySortedInputsCountsTheirSecondMerge) {
  request_.batch_size = 2;
  const test::Bytes keys =
      test::generated({KeyType::kU64, false, false}, Distribution::kSorted, 100'000);
  request_.merged.assign(4, keys);
  sort(KeyType::kU64, keys.size(), "10M");
  ASSERT_EQ(phases(), (std::vector{Phase::kInputMerge, Phase::kMerge, Phase::kSync}));
  EXPECT_EQ(meter_.phases()[0].later_bytes, 4 * keys.size());
  EXPECT_EQ(meter_.phases()[1].total_bytes, 4 * keys.size());
  EXPECT_EQ(meter_.phases()[0].round, 1U);
  EXPECT_EQ(meter_.phases()[0].rounds, 2U);
  EXPECT_EQ(meter_.phases()[1].round, 2U);
  EXPECT_EQ(meter_.phases()[1].rounds, 2U);
}

TEST_F(MeteredSort, CountsKeysOfOneByteToo) {
  constexpr std::uint64_t kBytes = 3'000'000;
  sort(KeyType::kU8, kBytes, "64M");
  for (const Stage stage : {Stage::kRead, Stage::kSort, Stage::kWrite}) {
    EXPECT_EQ(bytes(stage), kBytes) << name_of(stage);
  }
  EXPECT_EQ(phases(), (std::vector{Phase::kRead, Phase::kWrite, Phase::kSync}));
}

TEST_F(MeteredSort, KeepsEverySpanWithinItsPhase) {
  sort(KeyType::kU32, 4'000'000, "64M");
  std::uint64_t spans = 0;
  for (const TrackRecord& track : meter_.tracks()) {
    for (const SpanRecord& span : track) {
      EXPECT_LE(span.begin_ns, span.end_ns);
      EXPECT_LE(span.end_ns, meter_.phases().back().end_ns);
      spans += span.is_wait ? 0 : 1;
    }
  }
  std::uint64_t counted = 0;
  for (const StageTotals& stage : meter_.totals()) counted += stage.spans;
  EXPECT_EQ(spans, counted);
}

}  // namespace
}  // namespace gsort
