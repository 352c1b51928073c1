// The bookkeeping of a merge sort from the bottom up: run as the batch sorts run it, one output
// at a time, it sorts arrays of every length.
#include "bench/textbook/run_pair.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "bench/textbook/path_step.hpp"

namespace gsort::textbook {
namespace {

TEST(TextbookRunPair, CountsWhatTheLastRunsHold) {
  EXPECT_EQ((run_pair_at(5U, 2U, 7U)), (RunPair<unsigned>{4, 2, 1}));
  EXPECT_EQ((run_pair_at(5U, 4U, 7U)), (RunPair<unsigned>{0, 4, 3}));
  EXPECT_EQ((run_pair_at(6U, 1U, 7U)), (RunPair<unsigned>{6, 1, 0}));
  EXPECT_EQ((run_pair_at(8U, 4U, 9U)), (RunPair<unsigned>{8, 1, 0}));
}

TEST(TextbookRunPair, HasAsManyLevelsAsRunsNeed) {
  EXPECT_EQ(levels_from(1U, 1U), 0U);
  EXPECT_EQ(levels_from(1U, 2U), 1U);
  EXPECT_EQ(levels_from(1U, 3U), 2U);
  EXPECT_EQ(levels_from(32U, 32U), 0U);
  EXPECT_EQ(levels_from(32U, 33U), 1U);
  EXPECT_EQ(levels_from(std::uint64_t{1024}, std::uint64_t{1} << 33), 23U);
}

TEST(TextbookRunPair, SortsArraysOfEveryLength) {
  std::mt19937 random(5);
  for (unsigned count = 1; count <= 130; ++count) {
    std::vector<int> from(count);
    for (int& key : from) key = static_cast<int>(random() % count);
    std::vector<int> expected = from;
    std::sort(expected.begin(), expected.end());
    for (unsigned width = 1; width < count; width *= 2) {
      std::vector<int> to(count);
      for (unsigned k = 0; k < count; ++k) {
        const RunPair<unsigned> pair = run_pair_at(k, width, count);
        const int* const a = from.data() + pair.begin;
        to[k] = path_step(k - pair.begin, a, pair.a_count, a + pair.a_count, pair.b_count);
      }
      from = to;
    }
    ASSERT_EQ(from, expected);
  }
}

}  // namespace
}  // namespace gsort::textbook
