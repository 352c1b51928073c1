#include "base/tiling.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace gsort {
namespace {

using Stretch = std::pair<std::uint64_t, std::uint64_t>;
using Gaps = std::vector<Stretch>;

constexpr std::uint64_t kSize = 16;

// Adds them all; false if one of them was refused.
bool add_all(Tiling& tiling, const std::vector<Stretch>& stretches) {
  return std::ranges::all_of(stretches,
                             [&](const Stretch& s) { return tiling.add(s.first, s.second); });
}

TEST(Tiling, CoversWhatStretchesCoverInAnyOrder) {
  std::vector<Stretch> stretches{{0, 1}, {1, 5}, {5, 6}, {6, 12}, {12, 16}};
  std::ranges::sort(stretches);
  do {
    Tiling tiling;
    ASSERT_TRUE(add_all(tiling, stretches));
    ASSERT_TRUE(tiling.covers(kSize));
    ASSERT_FALSE(tiling.covers(kSize - 1));
    ASSERT_FALSE(tiling.covers(kSize + 1));
  } while (std::ranges::next_permutation(stretches).found);
}

TEST(Tiling, IsEmptyWithoutStretches) {
  Tiling tiling;
  EXPECT_TRUE(tiling.covers(0));
  EXPECT_FALSE(tiling.covers(1));
  EXPECT_TRUE(tiling.add(7, 7));
  EXPECT_TRUE(tiling.covers(0));
}

// Every set of two stretches over 16 numbers, against a set of marks.
TEST(Tiling, AgreesWithMarksOnEveryPairOfStretches) {
  for (std::uint64_t a = 0; a < kSize; ++a) {
    for (std::uint64_t b = a + 1; b <= kSize; ++b) {
      for (std::uint64_t c = 0; c < kSize; ++c) {
        for (std::uint64_t d = c + 1; d <= kSize; ++d) {
          Tiling tiling;
          ASSERT_TRUE(tiling.add(a, b));
          const bool overlap = c < b && a < d;
          ASSERT_EQ(tiling.add(c, d), !overlap);
          if (overlap) continue;
          const bool whole = std::min(a, c) == 0 && (b == c || d == a);
          ASSERT_EQ(tiling.covers(std::max(b, d)), whole);
        }
      }
    }
  }
}

TEST(Tiling, NamesTheFirstGap) {
  Tiling tiling;
  EXPECT_EQ(tiling.first_gap(), 0U);
  ASSERT_TRUE(add_all(tiling, {{4, 8}}));
  EXPECT_EQ(tiling.first_gap(), 0U);
  ASSERT_TRUE(add_all(tiling, {{0, 3}}));
  EXPECT_EQ(tiling.first_gap(), 3U);
  ASSERT_TRUE(add_all(tiling, {{3, 4}}));
  EXPECT_EQ(tiling.first_gap(), 8U);
}

TEST(Tiling, RefusesAStretchAddedTwiceAndKeepsWhatItHas) {
  Tiling tiling;
  ASSERT_TRUE(add_all(tiling, {{0, 8}, {8, 16}}));
  EXPECT_FALSE(tiling.add(0, 8));
  EXPECT_FALSE(tiling.add(8, 16));
  EXPECT_FALSE(tiling.add(3, 4));
  EXPECT_TRUE(tiling.covers(16));
}

TEST(Tiling, TellsItsGaps) {
  Tiling tiling;
  EXPECT_EQ(tiling.gaps(3, 9), (Gaps{{3, 9}}));
  EXPECT_TRUE(tiling.gaps(3, 3).empty());
  ASSERT_TRUE(tiling.add(10, 20) && tiling.add(30, 40));
  EXPECT_EQ(tiling.gaps(0, 50), (Gaps{{0, 10}, {20, 30}, {40, 50}}));
  EXPECT_EQ(tiling.gaps(15, 35), (Gaps{{20, 30}}));
  EXPECT_EQ(tiling.gaps(5, 10), (Gaps{{5, 10}}));
  EXPECT_TRUE(tiling.gaps(10, 20).empty());
  EXPECT_TRUE(tiling.gaps(12, 13).empty());
  EXPECT_EQ(tiling.gaps(20, 31), (Gaps{{20, 30}}));
}

}  // namespace
}  // namespace gsort
