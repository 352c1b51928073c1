#include "report/summary.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "element/fingerprint.hpp"
#include "support/invented.hpp"
#include "support/measured.hpp"

namespace gsort {
namespace {

Outcome outcome_of_a_sort() {
  Outcome outcome;
  outcome.elements = 268'435'456;
  outcome.bytes = 1'073'741'824;
  outcome.seconds = 1.4;
  outcome.phases = {test::phase_of(Phase::kRead, 0, 0.5), test::phase_of(Phase::kWrite, 0.5, 1.2),
                    test::phase_of(Phase::kSync, 1.2, 1.4)};
  outcome.verified = true;
  outcome.fingerprint = {255, 1, 2};
  return outcome;
}

TEST(StatisticLines, SayWhatIsNotZeroAndHasALine) {
  Statistics statistics;
  EXPECT_EQ(statistic_lines("gsort", statistics), "");
  test::set_each(statistics, 7'000);
  const std::string text = statistic_lines("gsort-mpi", statistics);
  std::ptrdiff_t lines = 0;
  for_each_statistic([&](const StatisticRow& row, auto) { lines += row.line.empty() ? 0 : 1; });
  EXPECT_EQ(std::ranges::count(text, '\n'), lines);
  statistics = {.lost_nan_payloads = 1'234};
  EXPECT_EQ(statistic_lines("gsort-mpi", statistics),
            "gsort-mpi: 1,234 NaN written without their payloads, which text cannot hold\n");
}

TEST(SummaryLine, SaysHowMuchHowLongHowFastAndWhetherProved) {
  Outcome outcome = outcome_of_a_sort();
  EXPECT_EQ(summary_line(outcome, Plan{}),
            "sorted 1 GiB of i32 in 1.40 s (731 MiB/s; busiest stages 0.2 s at best), verified\n");
  outcome.verified = false;
  EXPECT_EQ(
      summary_line(outcome, Plan{}),
      "sorted 1 GiB of i32 in 1.40 s (731 MiB/s; busiest stages 0.2 s at best), not verified\n");
}

TEST(SummaryLine, SaysWhatWasSpilled) {
  Outcome outcome = outcome_of_a_sort();
  outcome.runs = 12;
  outcome.spilled_bytes = 1'090'000'000;
  EXPECT_EQ(summary_line(outcome, Plan{}),
            "sorted 1 GiB of i32 in 1.40 s (731 MiB/s; busiest stages 0.2 s at best), 12 runs, "
            "1.02 GiB in temporary files, verified\n");
  outcome.run_key_bytes = 1'091'000'000;
  EXPECT_NE(summary_line(outcome, Plan{}).find("12 packed runs, 1.02 GiB in temporary files"),
            std::string::npos);
}

TEST(SummaryLine, NamesTheBusiestStage) {
  Outcome outcome = outcome_of_a_sort();
  test::moved(outcome.phases[0], Stage::kRead, 1'000'000'000, 2.5e9);
  test::moved(outcome.phases[1], Stage::kWrite, 1'000'000'000, 2e9);
  EXPECT_EQ(summary_line(outcome, Plan{}),
            "sorted 1 GiB of i32 in 1.40 s (731 MiB/s; bottleneck: writing (1.1 s at best)), "
            "verified\n");
}

TEST(SummaryLine, NamesTheTypeOrTheRecords) {
  Plan plan;
  plan.job.element.key.type = KeyType::kF64;
  EXPECT_EQ(summary_line(Outcome{}, plan), "sorted 0 B of f64 in 0.00 s, not verified\n");
  plan.job.element.records.emplace().bytes = 100;
  EXPECT_EQ(summary_line(Outcome{}, plan),
            "sorted 0 B of records of 100 bytes in 0.00 s, not verified\n");
}

class PhaseLines : public testing::Test {
 protected:
  Plan plan_ =
      test::plan_of(test::options_for(KeyType::kF32), test::invented_machine(kGiB, 4, 64 * kGiB));
  Outcome outcome_ = outcome_of_a_sort();
};
using SortLines = PhaseLines;

TEST_F(PhaseLines, SayKeysEnginePhasesAndFingerprint) {
  outcome_.notes = {"in.f32: cached"};
  const std::string lines = phase_lines(outcome_, plan_, false);
  for (const char* const part :
       {"f32, little endian, ascending", "cpu, 4 threads",
        "268,435,456 elements; read in 0.50 s, written in 0.70 s, synced in 0.20 s",
        "ff:0000000000000001:0000000000000002"}) {
    EXPECT_NE(lines.find(part), std::string::npos) << part << " in\n" << lines;
  }
  EXPECT_EQ(lines.find("cached"), std::string::npos);
  EXPECT_NE(phase_lines(outcome_, plan_, true).find("cached"), std::string::npos);
}

TEST_F(PhaseLines, SayHowManyNansTextHasWithoutTheirPayloads) {
  const auto lines = [&] { return phase_lines(outcome_, plan_, false); };
  EXPECT_EQ(lines().find("payloads"), std::string::npos);
  outcome_.lost_nan_payloads = 1'234;
  EXPECT_NE(
      lines().find("gsort: 1,234 NaN written without their payloads, which text cannot hold\n"),
      std::string::npos)
      << lines();
}

TEST_F(PhaseLines, ShowNothingThatATerminalWouldObey) {
  outcome_.notes = {"a\x1b[31m: cached"};
  const std::string lines = phase_lines(outcome_, plan_, true);
  EXPECT_NE(lines.find("a\\x1b[31m: cached"), std::string::npos) << lines;
}

TEST_F(PhaseLines, SayWhereRunsWereKept) {
  outcome_.runs = 3;
  outcome_.run_key_bytes = 4 * kMiB;
  outcome_.kept_bytes = kMiB;
  outcome_.spilled_bytes = 2 * kMiB;
  const auto lines = [&] { return phase_lines(outcome_, plan_, false); };
  const auto expect = [&](const char* part) {
    EXPECT_NE(lines().find(part), std::string::npos) << lines();
  };
  expect("3 runs, 4 MiB in all, packed to 3 MiB: 1 MiB in memory, 2 MiB in temporary files");
  outcome_.device_bytes = kMiB;
  expect("3 runs, 4 MiB in all: 1 MiB on the device, 1 MiB in memory, ");
  outcome_.spilled_bytes += 16 * kKiB;
  expect("3 runs, 4 MiB in all, with headers 4.02 MiB: ");
  outcome_.resumed_runs = 1;
  expect("3 runs (1 resumed; the others: 4 MiB in all, with headers 4.02 MiB): ");
}

TEST_F(PhaseLines, SayWhatEachOfSeveralDevicesDid) {
  outcome_.phases = {PhaseRecord{}, PhaseRecord{}};
  outcome_.phases[0].devices = {{4, {}}, {6, {}}};
  outcome_.phases[0].devices[1].stages[Stage::kRead].bytes = 3 * kMiB;
  outcome_.phases[1].devices = {{6, {}}};
  outcome_.phases[1].devices[0].stages[Stage::kMerge].bytes = 2 * kMiB;
  plan_.devices = {{4, "one GPU", kGiB}};
  EXPECT_EQ(phase_lines(outcome_, plan_, false).find("device"), std::string::npos);
  plan_.devices.push_back({6, "another", kGiB});
  const std::string lines = phase_lines(outcome_, plan_, false);
  EXPECT_NE(lines.find("gsort: device 4 (one GPU): 0 B read, 0 B merged\n"
                       "gsort: device 6 (another): 3 MiB read, 2 MiB merged\n"),
            std::string::npos)
      << lines;
  plan_.chunk.is_shared = true;
  outcome_.phases[0].devices[0].stages[Stage::kCopyIn].bytes = 5 * kMiB;
  const std::string shared = phase_lines(outcome_, plan_, false);
  EXPECT_NE(shared.find("gsort: device 4 (one GPU): 5 MiB copied in\n"
                        "gsort: device 6 (another): 0 B copied in\n"),
            std::string::npos)
      << shared;
}

TEST_F(SortLines, SayWhichDevicesWereLostUnlessQuiet) {
  outcome_.lost_devices = {{1, "sorting on device 1 (a\x1b): lost"},
                           {std::nullopt, "pinning: refused"},
                           {2, "copying: lost", DoneAgain::kChunks},
                           {2, "merging: lost", DoneAgain::kParts}};
  const std::string lines =
      "gsort: sorted again without device 1: sorting on device 1 (a\\x1b): lost\n"
      "gsort: sorted again without a GPU: pinning: refused\n"
      "gsort: sorted chunks again without device 2: copying: lost\n"
      "gsort: merged parts again without device 2: merging: lost\n";
  EXPECT_EQ(sort_lines(outcome_, plan_, 0, false), lines);
  EXPECT_TRUE(sort_lines(outcome_, plan_, 1, false).starts_with(lines));
  EXPECT_EQ(sort_lines(outcome_, plan_, -1, true), "");
}

TEST(LinesAbout, NameTheFileInEach) {
  EXPECT_EQ(lines_about("a\x1b", "gsort: keys: i32\nsorted 1 B\n"),
            "gsort: a\\x1b: keys: i32\na\\x1b: sorted 1 B\n");
  EXPECT_EQ(lines_about("a", ""), "");
}

TEST(CheckLines, NameTheFirstElementOutOfOrder) {
  CheckOutcome outcome;
  outcome.in_order = false;
  outcome.disorder_element = 1'234'567;
  outcome.value = std::string("-3");
  outcome.value_before = std::string("7");
  EXPECT_EQ(check_lines(outcome, {}, "in.i32"),
            "gsort: in.i32: element 1,234,567 is out of order: -3 after 7 (wanted: ascending)\n");
}

TEST(CheckLines, ShowNothingThatATerminalWouldObey) {
  CheckOutcome outcome;
  EXPECT_TRUE(check_lines(outcome, {}, "a\x1b[31m\n").starts_with("a\\x1b[31m\\x0a: 0 elements"));
  outcome.in_order = false;
  EXPECT_TRUE(check_lines(outcome, {}, "a\x1b[31m").starts_with("gsort: a\\x1b[31m: element"));
}

TEST(CheckLines, SayCountOrderDistinctAndFingerprint) {
  CheckOutcome outcome;
  outcome.elements = 1'000;
  outcome.distinct = 17;
  outcome.fingerprint = {1'000, 1, 2};
  Job job;
  job.element.key = {KeyType::kU16, false, true};
  EXPECT_EQ(check_lines(outcome, job, "in.u16"),
            "in.u16: 1,000 elements, u16, sorted descending\n"
            "distinct 17\n"
            "fingerprint 3e8:0000000000000001:0000000000000002\n");
  job.element.records = RecordFormat{12, {{8, 4, KeyType::kU32, false, true}}};
  EXPECT_TRUE(
      check_lines(outcome, job, "in")
          .starts_with("in: 1,000 elements, records of 12 bytes, sorted by 8:u32 descending\n"));
}

TEST(DifferenceLine, HasBothCountsAndFingerprints) {
  const Fingerprint found{999, 1, 2};
  const std::string expected = "3e8:0000000000000003:0000000000000004";
  const std::string difference =
      ": 999 elements with fingerprint 3e7:0000000000000001:0000000000000002, "
      "expected 1,000 with " +
      expected + '\n';
  EXPECT_EQ(difference_line(found, expected, {"a\x1b"}), "gsort: a\\x1b" + difference);
  EXPECT_EQ(difference_line(found, expected, {"a", "b"}), "gsort: 2 inputs" + difference);
}

}  // namespace
}  // namespace gsort
