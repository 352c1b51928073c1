#include "report/limit.hpp"

#include <gtest/gtest.h>

#include "support/measured.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kGigabyte = 1'000'000'000;
constexpr Limits kLimits{4e9, 2e9, 40e9};

// 8 GB in and 8 GB out, and 2 GB in temporary files.
Outcome outcome_of_a_sort() {
  Outcome outcome;
  outcome.seconds = 9;
  outcome.phases = {test::phase_of(Phase::kRead, 0, 3), test::phase_of(Phase::kWrite, 3, 8),
                    test::phase_of(Phase::kSync, 8, 9)};
  test::moved(outcome.phases[0], Stage::kRead, 8 * kGigabyte, 1);
  outcome.spilled_bytes = 2 * kGigabyte;
  outcome.loaded_bytes = 2 * kGigabyte;
  test::moved(outcome.phases[1], Stage::kWrite, 8 * kGigabyte, 1);
  return outcome;
}

TEST(Limit, IsReadingThenWriting) {
  EXPECT_DOUBLE_EQ(limit_seconds(outcome_of_a_sort(), kLimits).value(), 2 + 4);
}

TEST(Limit, IsReadingOrWritingWhereAPhaseDoesBoth) {
  Outcome merge = outcome_of_a_sort();
  merge.spilled_bytes = merge.loaded_bytes = 0;
  merge.phases.erase(merge.phases.begin());
  test::moved(merge.phases[0], Stage::kRead, 8 * kGigabyte, 1);
  EXPECT_DOUBLE_EQ(limit_seconds(merge, kLimits).value(), 4);
}

TEST(Limit, CountsRunsInTemporaryFiles) {
  Outcome outcome = outcome_of_a_sort();
  outcome.spilled_bytes = 30 * kGigabyte;
  EXPECT_DOUBLE_EQ(limit_seconds(outcome, kLimits).value(), 19);
  outcome.loaded_bytes = 92 * kGigabyte;
  EXPECT_DOUBLE_EQ(limit_seconds(outcome, kLimits).value(), 25);
}

TEST(Limit, IsThatOfMemoryWhereDisksAreFaster) {
  EXPECT_DOUBLE_EQ(limit_seconds(outcome_of_a_sort(), Limits{1e12, 1e12, 5e9}).value(), 4);
}

TEST(Limit, DoesNotDependOnWhatTheSortTook) {
  Outcome slow = outcome_of_a_sort();
  slow.phases[0] = test::phase_of(Phase::kRead, 0, 300);
  test::moved(slow.phases[0], Stage::kRead, 8 * kGigabyte, 1e6);
  slow.seconds = 306;
  EXPECT_DOUBLE_EQ(limit_seconds(slow, kLimits).value(), 2 + 4);
}

TEST(Limit, IsNotKnownWithoutRatesAndWithoutBytes) {
  EXPECT_FALSE(limit_seconds(outcome_of_a_sort(), std::nullopt));
  EXPECT_FALSE(limit_seconds(Outcome{}, kLimits));
}

}  // namespace
}  // namespace gsort
