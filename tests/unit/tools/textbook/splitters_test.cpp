// The splitters of a merge: a table of cuts that ascends, in sections of bounded size whose
// merges are the whole merge; on every pair of short arrays.
#include "bench/textbook/splitters.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "bench/textbook/sequential_merge.hpp"

namespace gsort::textbook {
namespace {

using Keys = std::vector<int>;

constexpr Cut kNowhere{UINT64_MAX, UINT64_MAX};

std::vector<Cut> table_of(const TwoArrays<int>& in, std::uint64_t step) {
  const std::uint64_t count = splitter_count(in.a_count, step) + splitter_count(in.b_count, step);
  std::vector<Cut> cuts(count + 1, kNowhere);
  for (std::uint64_t s = 0; s < count; ++s) {
    const PlacedCut placed = place_splitter(in, s, step);
    EXPECT_LT(placed.place, count);
    EXPECT_EQ(cuts[placed.place], kNowhere) << "two splitters claim one place";
    cuts[placed.place] = placed.cut;
  }
  cuts[count] = {in.a_count, in.b_count};
  return cuts;
}

void expect_right(const Keys& a, const Keys& b, std::uint64_t step) {
  Keys expected(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin());
  const TwoArrays<int> in{a.data(), a.size(), b.data(), b.size()};
  const std::vector<Cut> cuts = table_of(in, step);
  ASSERT_EQ(cuts.front(), Cut{}) << "the first section begins at the beginning";
  Keys out(expected.size(), -1);
  for (std::size_t s = 0; s + 1 < cuts.size(); ++s) {
    ASSERT_LE(cuts[s].a, cuts[s + 1].a);
    ASSERT_LE(cuts[s].b, cuts[s + 1].b);
    const std::uint64_t a_count = cuts[s + 1].a - cuts[s].a;
    const std::uint64_t b_count = cuts[s + 1].b - cuts[s].b;
    ASSERT_LE(a_count, step);
    ASSERT_LE(b_count, step);
    sequential_merge(in.a + cuts[s].a, a_count, in.b + cuts[s].b, b_count,
                     out.data() + cuts[s].a + cuts[s].b);
  }
  ASSERT_EQ(out, expected);
}

Keys sorted_keys(std::mt19937& random, std::size_t most, int values) {
  Keys keys(random() % (most + 1));
  for (int& key : keys) key = static_cast<int>(random()) % values;
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST(TextbookSplitters, DivideEveryMergeOfShortArrays) {
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    const Keys a = sorted_keys(random, 9, 1 + round % 5);
    const Keys b = sorted_keys(random, 9, 1 + round % 7);
    for (const std::uint64_t step : {1U, 2U, 3U, 8U}) {
      expect_right(a, b, step);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(TextbookSplitters, DivideWhatLiesBetweenTwoSplittersOfTheOther) {
  const Keys narrow(1000, 5);
  Keys wide(100);
  for (int i = 0; i < 100; ++i) wide[static_cast<std::size_t>(i)] = i;
  expect_right(narrow, wide, 16);
  expect_right(wide, narrow, 16);
  expect_right(narrow, narrow, 16);
  expect_right({}, wide, 16);
  expect_right(wide, {}, 16);
}

TEST(TextbookSplitters, CountWhatPrecedesAKey) {
  const Keys keys = {1, 3, 3, 7};
  EXPECT_EQ(count_before<false>(keys, keys.size(), 3), 1U);
  EXPECT_EQ(count_before<true>(keys, keys.size(), 3), 3U);
  EXPECT_EQ(count_before<false>(keys, keys.size(), 0), 0U);
  EXPECT_EQ(count_before<true>(keys, keys.size(), 9), 4U);
}

}  // namespace
}  // namespace gsort::textbook
