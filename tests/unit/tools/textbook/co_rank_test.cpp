// Both forms of the co-rank, and the sequential merge, on every pair of short sorted arrays over
// three values, against std::merge with each key's origin kept.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "bench/textbook/co_rank_bisection.hpp"
#include "bench/textbook/co_rank_moving.hpp"
#include "bench/textbook/path_step.hpp"
#include "bench/textbook/sequential_merge.hpp"
#include "unit/element/merge_one_by_one.hpp"

namespace gsort::textbook {
namespace {

using Keys = std::vector<int>;

// A key that remembers whether it came from A; compared by value alone.
struct Tagged {
  int key;
  bool from_a;
  friend bool operator<(const Tagged& x, const Tagged& y) { return x.key < y.key; }
};

std::vector<Tagged> tagged(const Keys& keys, bool from_a) {
  std::vector<Tagged> all;
  for (const int key : keys) all.push_back({key, from_a});
  return all;
}

std::vector<Tagged> reference(const Keys& a, const Keys& b) {
  const auto tagged_a = tagged(a, true);
  const auto tagged_b = tagged(b, false);
  std::vector<Tagged> merged(a.size() + b.size());
  std::merge(tagged_a.begin(), tagged_a.end(), tagged_b.begin(), tagged_b.end(), merged.begin());
  return merged;
}

template <class Index>
void expect_right(const Keys& a, const Keys& b) {
  const auto merged = reference(a, b);
  const auto a_count = static_cast<Index>(a.size());
  const auto b_count = static_cast<Index>(b.size());
  Index from_a = 0;
  for (Index k = 0; k <= a_count + b_count; ++k) {
    ASSERT_EQ(co_rank_moving(k, a, a_count, b, b_count), from_a) << "moving, k = " << k;
    ASSERT_EQ(co_rank_bisection(k, a, a_count, b, b_count), from_a) << "bisection, k = " << k;
    if (k < a_count + b_count) {
      ASSERT_EQ(path_step(k, a.data(), a_count, b.data(), b_count), merged[k].key);
      if (merged[k].from_a) ++from_a;
    }
  }
  std::vector<Tagged> out(merged.size());
  sequential_merge(tagged(a, true), a_count, tagged(b, false), b_count, out.data());
  for (std::size_t k = 0; k < merged.size(); ++k) {
    ASSERT_EQ(out[k].key, merged[k].key);
    ASSERT_EQ(out[k].from_a, merged[k].from_a);
  }
}

TEST(TextbookCoRank, HasTwoFormsWithTheSameAnswersOnEveryPairOfShortArrays) {
  const auto arrays = test::all_runs<int>(6, {0, 1, 2});
  for (const Keys& a : arrays) {
    for (const Keys& b : arrays) {
      expect_right<unsigned>(a, b);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(TextbookCoRank, IsRightOnLongArraysOfAnySkew) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int values = 1 << (random() % 12);
    Keys a(random() % 300);
    Keys b(random() % 300);
    for (int& key : a) key = static_cast<int>(random()) % values;
    for (int& key : b) key = static_cast<int>(random()) % values + (round % 3 - 1) * values / 2;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    expect_right<std::uint64_t>(a, b);
    if (HasFatalFailure()) return;
  }
}

// An array that is not there: element i of it is computed. Counts past 2^32 cost nothing.
struct Ramp {
  std::uint64_t step;
  std::uint64_t first;
  std::uint64_t operator[](std::uint64_t i) const { return first + i * step; }
};

TEST(TextbookCoRank, CountsPositionsPastThirtyTwoBits) {
  const Ramp even{2, 0};
  const Ramp odd{2, 1};
  const std::uint64_t count = (std::uint64_t{1} << 32) + 3;
  for (const std::uint64_t k : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x7fffffff},
                                std::uint64_t{0x80000001}, count, 2 * count - 1, 2 * count}) {
    EXPECT_EQ(co_rank_moving(k, even, count, odd, count), (k + 1) / 2);
    EXPECT_EQ(co_rank_bisection(k, even, count, odd, count), (k + 1) / 2);
  }
}

}  // namespace
}  // namespace gsort::textbook
