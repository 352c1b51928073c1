// The co-rank of K runs, exhaustively where the inputs are small enough for that. Random runs and
// tight brackets are in property/kway_split_test.cpp.
#include "element/kway_split.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "unit/element/merge_one_by_one.hpp"

namespace gsort {
namespace {

using test::Cuts;
using test::merge_one_by_one;

template <class Key>
Cuts split(const std::vector<std::vector<Key>>& runs, std::uint64_t d) {
  Cuts low(runs.size(), 0);
  Cuts high;
  for (const auto& run : runs) high.push_back(run.size());
  Cuts probe(runs.size(), 0);
  kway_split<Key, std::uint64_t>(
      d, static_cast<std::uint32_t>(runs.size()), 0, std::numeric_limits<Key>::max(), low.data(),
      high.data(), probe.data(),
      [&](Key value, const std::uint64_t* from, const std::uint64_t* to, std::uint64_t* counts) {
        for (std::size_t run = 0; run < runs.size(); ++run) {
          counts[run] = upper_bound_in(runs[run], from[run], to[run], value);
        }
      });
  return low;
}

using SmallRun = std::vector<std::uint8_t>;

// Runs of few keys, among them the least and the greatest one.
std::vector<SmallRun> runs_of(std::size_t most) {
  return test::all_runs<std::uint8_t>(most, {0, 1, 255});
}

void expect_all_splits(const std::vector<SmallRun>& runs) {
  std::uint64_t total = 0;
  for (const SmallRun& run : runs) total += run.size();
  for (std::uint64_t d = 0; d <= total; ++d) {
    ASSERT_EQ(split(runs, d), merge_one_by_one(runs, d))
        << testing::PrintToString(runs) << " d = " << d;
  }
}

TEST(KwaySplit, AgreesWithMergingOneByOneOnOneAndTwoRuns) {
  for (const SmallRun& a : runs_of(4)) {
    expect_all_splits({a});
    for (const SmallRun& b : runs_of(4)) expect_all_splits({a, b});
  }
}

TEST(KwaySplit, AgreesWithMergingOneByOneOnThreeRuns) {
  const std::vector<SmallRun> choices = runs_of(2);
  for (const SmallRun& a : choices) {
    for (const SmallRun& b : choices) {
      for (const SmallRun& c : choices) expect_all_splits({a, b, c});
    }
  }
}

TEST(KwaySplit, AgreesWithMergingOneByOneOnFourRuns) {
  const std::vector<SmallRun> choices = {{}, {0}, {1, 1}, {0, 255}, {0, 1, 1, 255}, {255, 255}};
  for (const SmallRun& a : choices) {
    for (const SmallRun& b : choices) {
      for (const SmallRun& c : choices) {
        for (const SmallRun& d : choices) expect_all_splits({a, b, c, d});
      }
    }
  }
}

TEST(KwaySplit, DealsTiesOutToLowerRunsFirst) {
  const std::vector<SmallRun> runs = {{1, 4, 4, 9}, {2, 4, 8}, {4, 4, 5}};
  EXPECT_EQ(split(runs, 6), (Cuts{3, 2, 1}));
}

TEST(KwaySplit, SplitsKeysThatAreAllTheGreatest) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::vector<std::uint64_t>> runs = {{most, most}, {}, {most, most, most}};
  for (std::uint64_t d = 0; d <= 5; ++d) EXPECT_EQ(split(runs, d), merge_one_by_one(runs, d));
}

TEST(KwaySplit, AsksAllRunsAtOnceAndSeldom) {
  std::vector<std::vector<std::uint32_t>> runs(20, std::vector<std::uint32_t>(100));
  for (std::uint32_t i = 0; i < 2'000; ++i) runs[i % 20][i / 20] = i * 2'000'003;
  Cuts low(20, 0);
  Cuts high(20, 100);
  Cuts probe(20, 0);
  unsigned probes = 0;
  kway_split<std::uint32_t, std::uint64_t>(
      777, 20, 0, ~std::uint32_t{0}, low.data(), high.data(), probe.data(),
      [&](std::uint32_t value, const std::uint64_t* from, const std::uint64_t* to,
          std::uint64_t* counts) {
        ++probes;
        for (std::size_t run = 0; run < 20; ++run) {
          counts[run] = upper_bound_in(runs[run], from[run], to[run], value);
        }
      });
  EXPECT_EQ(low, merge_one_by_one(runs, 777));
  EXPECT_LE(probes, 32U + 2U);
}

TEST(KwaySplit, SplitsNoRunsAtAll) {
  EXPECT_EQ(split(std::vector<SmallRun>{}, 0), Cuts{});
}

TEST(UpperBoundIn, StaysWithinItsWindow) {
  const SmallRun keys = {1, 1, 2, 2, 3};
  EXPECT_EQ(upper_bound_in<std::size_t>(keys, 0, 5, std::uint8_t{2}), 4U);
  EXPECT_EQ(upper_bound_in<std::size_t>(keys, 0, 3, std::uint8_t{2}), 3U);
  EXPECT_EQ(upper_bound_in<std::size_t>(keys, 4, 5, std::uint8_t{0}), 4U);
  EXPECT_EQ(upper_bound_in<std::size_t>(keys, 2, 2, std::uint8_t{9}), 2U);
}

}  // namespace
}  // namespace gsort
