#include "report/busiest.hpp"

#include <gtest/gtest.h>

#include "support/measured.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kGigabyte = 1'000'000'000;

// 8 GB at 4 GB/s in, 2 GB/s out, in 3 + 5 + 1 seconds.
Outcome outcome_of_a_sort() {
  Outcome outcome;
  outcome.seconds = 9;
  outcome.phases = {test::phase_of(Phase::kRead, 0, 3), test::phase_of(Phase::kWrite, 3, 8),
                    test::phase_of(Phase::kSync, 8, 9)};
  test::moved(outcome.phases[0], Stage::kRead, 8 * kGigabyte, 4e9);
  test::moved(outcome.phases[1], Stage::kWrite, 8 * kGigabyte, 2e9);
  return outcome;
}

TEST(BusiestStages, AddUpTheSlowestStageOfEachPhase) {
  Outcome outcome = outcome_of_a_sort();
  test::moved(outcome.phases[0], Stage::kSpill, kGigabyte, 1e9);  // 1 s, while reading takes 2 s
  const auto busiest = busiest_of(outcome, 2);
  ASSERT_TRUE(busiest);
  EXPECT_DOUBLE_EQ(busiest->seconds, 2 + 4 + 1);
  EXPECT_EQ(busiest->stage, Resource::kOutput);
}

TEST(BusiestStages, AreTheCoresWhereTheyNeedLonger) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[0].cpu_seconds = 5;
  outcome.phases[1].cpu_seconds = 9.5;
  const auto busiest = busiest_of(outcome, 2);
  ASSERT_TRUE(busiest);
  EXPECT_DOUBLE_EQ(busiest->seconds, 2.5 + 4.75 + 1);
  EXPECT_EQ(busiest->stage, Resource::kCores);
}

TEST(BusiestStages, NeverNeedMoreThanWasTaken) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[0].cpu_seconds = 100;
  EXPECT_DOUBLE_EQ(busiest_of(outcome, 1)->seconds, 3 + 4 + 1);
}

TEST(BusiestStages, TakeTheBestRateOfAllPhases) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[0].best_rates[Stage::kRead] = 3e9;
  outcome.phases[1].best_rates[Stage::kRead] = 8e9;
  EXPECT_DOUBLE_EQ(busiest_of(outcome, 2)->seconds, 1 + 4 + 1);
}

TEST(BusiestStages, NameNothingWhereTheSortTookMoreThanTwiceAsLong) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[0].best_rates[Stage::kRead] = 100e9;
  outcome.phases[1].best_rates[Stage::kWrite] = 100e9;
  const auto busiest = busiest_of(outcome, 2);
  ASSERT_TRUE(busiest);
  EXPECT_FALSE(busiest->stage);
}

TEST(BusiestStages, AreLeftOutWhereALongPhaseShowedNoRate) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[1].best_rates[Stage::kWrite] = 0;
  EXPECT_FALSE(busiest_of(outcome, 2));
}

TEST(BusiestStages, DoNotDependOnTheRatesOfShortPhases) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[0] = test::phase_of(Phase::kRead, 2.5, 3);
  test::moved(outcome.phases[0], Stage::kRead, kGigabyte, 0);
  EXPECT_TRUE(busiest_of(outcome, 2));
}

TEST(BusiestStages, AreLeftOutForShortSorts) {
  Outcome outcome = outcome_of_a_sort();
  outcome.seconds = 0.9;
  EXPECT_FALSE(busiest_of(outcome, 2));
  EXPECT_FALSE(busiest_of(Outcome{}, 2));
}

}  // namespace
}  // namespace gsort
