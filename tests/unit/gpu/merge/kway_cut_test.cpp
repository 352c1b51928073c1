// The exact cuts of a pass's tiles, against a stable merge of everything.
#include "gpu/merge/kway_cut.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

using SortedRun = std::vector<std::uint32_t>;

// How many of the first d keys in the stable order each run gives, for every d.
std::vector<std::vector<std::uint64_t>> expected_cuts(const std::vector<SortedRun>& runs) {
  std::vector<std::pair<std::uint32_t, std::size_t>> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const std::uint32_t key : runs[i]) all.emplace_back(key, i);
  }
  std::stable_sort(all.begin(), all.end());
  std::vector<std::vector<std::uint64_t>> cuts{std::vector<std::uint64_t>(runs.size(), 0)};
  for (const auto& [key, run] : all) {
    cuts.push_back(cuts.back());
    ++cuts.back()[run];
  }
  return cuts;
}

template <std::uint32_t kStep, unsigned kRuns>
void expect_exact_cuts(std::vector<SortedRun> runs, std::uint64_t positions_apart = 1) {
  std::vector<SortedRun> samples(kRuns);
  const SerialTeam<kRuns> team;
  typename SerialTeam<kRuns>::template Each<SampledRun<std::uint32_t>> sampled;
  typename SerialTeam<kRuns>::template Each<std::uint64_t> cuts;
  for (unsigned i = 0; i < kRuns; ++i) {
    std::sort(runs[i].begin(), runs[i].end());
    for (std::size_t j = 0; j < runs[i].size(); j += kStep) samples[i].push_back(runs[i][j]);
    sampled[i] = {runs[i].data(), samples[i].data(), runs[i].size()};
  }
  const auto expected = expected_cuts(runs);
  for (std::uint64_t d = 0; d < expected.size(); d += positions_apart) {
    kway_cut<SerialTeam<kRuns>, std::uint32_t>(
        team, d, static_cast<std::uint32_t>(std::countr_zero(kStep)), sampled, cuts);
    ASSERT_EQ(std::vector<std::uint64_t>(cuts.values, cuts.values + kRuns), expected[d])
        << "d = " << d;
  }
}

template <unsigned kRuns>
std::vector<SortedRun> random_runs(std::mt19937_64& random, std::uint64_t longest,
                                   std::uint64_t largest) {
  std::vector<SortedRun> runs(kRuns);
  for (SortedRun& run : runs) {
    run.resize(random() % (longest + 1));
    for (auto& key : run) key = static_cast<std::uint32_t>(random() % (largest + 1));
  }
  return runs;
}

TEST(KwayCut, CutsTheExampleOfItsEssay) {
  expect_exact_cuts<2, 2>({{1, 3, 5, 7}, {2, 4, 6, 8}});
}

TEST(KwayCut, IsExactForEveryPositionOfSmallRunsWithTies) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t largest = round % 4 == 0 ? 0 : random() % 40;
    expect_exact_cuts<2, 2>(random_runs<2>(random, 20, largest));
    expect_exact_cuts<4, 4>(random_runs<4>(random, 30, largest));
    expect_exact_cuts<4, 8>(random_runs<8>(random, 30, largest));
    expect_exact_cuts<16, 3>(random_runs<3>(random, 50, largest));
    if (HasFatalFailure()) return;
  }
}

TEST(KwayCut, IsExactForLongRunsOfDistinctKeys) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 4; ++round) {
    expect_exact_cuts<128, 8>(random_runs<8>(random, 5000, 0xffffffffU), 37);
    expect_exact_cuts<128, 4>(random_runs<4>(random, 5000, 300), 37);
  }
}

TEST(KwayCut, IsExactForRunsThatDoNotInterleaveAndForMaxima) {
  std::vector<SortedRun> runs(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::uint32_t j = 0; j < 500; ++j) runs[i].push_back(1000 * (3 - i) + j);
  }
  expect_exact_cuts<16, 4>(runs);
  for (SortedRun& run : runs) run.assign(300, 0xffffffffU);
  expect_exact_cuts<16, 4>(runs);
  runs[1].clear();
  runs[2].assign(1, 0);
  expect_exact_cuts<16, 4>(runs);
}

}  // namespace
}  // namespace gsort::gpu
