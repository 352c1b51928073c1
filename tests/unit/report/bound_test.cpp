#include "report/bound.hpp"

#include <gtest/gtest.h>

#include "support/measured.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kGigabyte = 1'000'000'000;

// 8 GB at 4 GB/s in, 2 GB/s out, in 3 + 5 + 1 seconds.
Outcome outcome_of_a_sort() {
  Outcome outcome;
  outcome.total_seconds = 9;
  outcome.phases = {test::phase_of(Phase::kRead, 0, 3), test::phase_of(Phase::kWrite, 3, 8),
                    test::phase_of(Phase::kSync, 8, 9)};
  test::moved(outcome.phases[0], Stage::kRead, 8 * kGigabyte, 4e9);
  test::moved(outcome.phases[1], Stage::kWrite, 8 * kGigabyte, 2e9);
  return outcome;
}

TEST(Bound, AddsUpPhasesEachBoundByItsSlowestStage) {
  Outcome outcome = outcome_of_a_sort();
  test::moved(outcome.phases[0], Stage::kSpill, kGigabyte, 1e9);  // 1 s, while reading takes 2 s
  const auto bound = bound_of(outcome, 2);
  ASSERT_TRUE(bound);
  EXPECT_DOUBLE_EQ(bound->seconds, 2 + 4 + 1);
  EXPECT_EQ(bound->waited_for, Resource::kOutput);
}

TEST(Bound, IsTheCoresTimeWhereThatIsMore) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[0].cpu_seconds = 5;
  outcome.phases[1].cpu_seconds = 9.5;
  const auto bound = bound_of(outcome, 2);
  ASSERT_TRUE(bound);
  EXPECT_DOUBLE_EQ(bound->seconds, 2.5 + 4.75 + 1);
  EXPECT_EQ(bound->waited_for, Resource::kCores);
}

TEST(Bound, IsNeverMoreThanWhatWasTaken) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[0].cpu_seconds = 100;
  EXPECT_DOUBLE_EQ(bound_of(outcome, 1)->seconds, 3 + 4 + 1);
}

TEST(Bound, TakesTheBestRateOfAllPhases) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[0].best_rates[Stage::kRead] = 3e9;
  outcome.phases[1].best_rates[Stage::kRead] = 8e9;
  EXPECT_DOUBLE_EQ(bound_of(outcome, 2)->seconds, 1 + 4 + 1);
}

TEST(Bound, NamesNothingWhereTheSortTookMoreThanTwiceAsLong) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[0].best_rates[Stage::kRead] = 100e9;
  outcome.phases[1].best_rates[Stage::kWrite] = 100e9;
  const auto bound = bound_of(outcome, 2);
  ASSERT_TRUE(bound);
  EXPECT_FALSE(bound->waited_for);
}

TEST(Bound, IsLeftOutWhereALongPhaseShowedNoRate) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[1].best_rates[Stage::kWrite] = 0;
  EXPECT_FALSE(bound_of(outcome, 2));
}

TEST(Bound, DoesNotCareForTheRatesOfShortPhases) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[0] = test::phase_of(Phase::kRead, 2.5, 3);
  test::moved(outcome.phases[0], Stage::kRead, kGigabyte, 0);
  EXPECT_TRUE(bound_of(outcome, 2));
}

TEST(Bound, IsLeftOutForShortSorts) {
  Outcome outcome = outcome_of_a_sort();
  outcome.total_seconds = 0.9;
  EXPECT_FALSE(bound_of(outcome, 2));
  EXPECT_FALSE(bound_of(Outcome{}, 2));
}

}  // namespace
}  // namespace gsort
