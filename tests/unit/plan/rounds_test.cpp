#include "plan/rounds.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace gsort {
namespace {

using Groups = std::vector<std::uint32_t>;

// Runs that are read and written once more by a round.
std::uint64_t moved(const MergeRound& round) {
  std::uint64_t runs = 0;
  for (const std::uint32_t group : round.group_sizes) runs += group > 1 ? group : 0;
  return runs;
}

TEST(PlanRounds, AreNoneWhereOneMergeTakesAllRuns) {
  for (std::uint32_t fan_in = 2; fan_in < 20; ++fan_in) {
    for (std::uint64_t runs = 0; runs <= fan_in; ++runs) {
      EXPECT_TRUE(plan_rounds(runs, fan_in).empty());
    }
  }
}

TEST(PlanRounds, KeepAllRunsInOrderAndEndWithWhatOneMergeTakes) {
  for (std::uint32_t fan_in = 2; fan_in <= 20; ++fan_in) {
    for (std::uint64_t runs = 1; runs <= 500; ++runs) {
      std::uint64_t left = runs;
      for (const MergeRound& round : plan_rounds(runs, fan_in)) {
        // Groups are of neighbours, from left to right: sizes that add up keep the order.
        ASSERT_EQ(std::accumulate(round.group_sizes.begin(), round.group_sizes.end(), 0ULL), left);
        for (const std::uint32_t group : round.group_sizes) {
          ASSERT_GE(group, 1U);
          ASSERT_LE(group, fan_in);
        }
        ASSERT_LT(round.group_sizes.size(), left) << "a round that merges nothing";
        left = round.group_sizes.size();
      }
      ASSERT_LE(left, fan_in);
    }
  }
}

TEST(PlanRounds, AreAsFewAsTheFanInAllows) {
  for (std::uint32_t fan_in = 2; fan_in <= 10; ++fan_in) {
    for (std::uint64_t runs = 2; runs <= 2'000; runs += 7) {
      std::size_t least = 0;
      for (std::uint64_t reach = fan_in; reach < runs; reach *= fan_in) ++least;
      EXPECT_EQ(plan_rounds(runs, fan_in).size(), least) << runs << " runs, " << fan_in;
    }
  }
}

// To make `excess` runs disappear by merges of at most F, each of which takes one more than
// disappear, at least excess + ceil(excess / (F - 1)) runs must move.
TEST(PlanRounds, MoveTheFewestRunsWhereOneRoundIsEnough) {
  for (std::uint32_t fan_in = 2; fan_in <= 20; ++fan_in) {
    for (std::uint64_t runs = fan_in + 1; runs <= std::uint64_t{fan_in} * fan_in; ++runs) {
      const auto rounds = plan_rounds(runs, fan_in);
      ASSERT_EQ(rounds.size(), 1U);
      const std::uint64_t excess = runs - fan_in;
      ASSERT_EQ(moved(rounds[0]), excess + (excess + fan_in - 2) / (fan_in - 1));
    }
  }
}

TEST(PlanRounds, MergeThreeOfTenRunsWhenEightCanBeMergedAtOnce) {
  const auto rounds = plan_rounds(10, 8);
  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_EQ(rounds[0].group_sizes, (Groups{3, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(PlanRounds, MergePairsUntilTwoAreLeft) {
  const auto rounds = plan_rounds(5, 2);
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[0].group_sizes, (Groups{2, 2, 1}));
  EXPECT_EQ(rounds[1].group_sizes, (Groups{2, 1}));
}

TEST(TotalsOfRounds, CountWhatIsMergedAndWhatIsThereAtTheSameTime) {
  EXPECT_EQ(totals_of_rounds({5, 6, 7}, 3).merged, 0U);
  EXPECT_EQ(totals_of_rounds({5, 6, 7}, 3).most_at_once, 0U);
  // 1 2 | 3 4 | 5 -> 3 7 | 5: the 3 and the 7 are there until their 10 is.
  EXPECT_EQ(totals_of_rounds({1, 2, 3, 4, 5}, 2).merged, 20U);
  EXPECT_EQ(totals_of_rounds({1, 2, 3, 4, 5}, 2).most_at_once, 20U);
  EXPECT_EQ(totals_of_rounds({9, 1, 1, 1}, 3).merged, 10U);
  EXPECT_EQ(totals_of_rounds({9, 1, 1, 1}, 3).most_at_once, 10U);
}

TEST(TotalsOfRounds, KeepAtMostAllElementsTwice) {
  for (std::uint32_t fan_in = 2; fan_in < 9; ++fan_in) {
    for (std::uint64_t runs = 1; runs < 200; ++runs) {
      const std::vector<std::uint64_t> sizes(runs, 3);
      const RoundTotals totals = totals_of_rounds(sizes, fan_in);
      EXPECT_LE(totals.most_at_once, 2 * 3 * runs);
      EXPECT_EQ(totals.merged > 0, runs > fan_in);
      EXPECT_LE(totals.merged, 3 * runs * plan_rounds(runs, fan_in).size());
    }
  }
}

}  // namespace
}  // namespace gsort
