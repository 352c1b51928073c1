// Sample sort over machines: sorted through all machines on every shape, and evenly divided, also
// when all keys are equal.
#include "bench/textbook/sample_sort.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::textbook {
namespace {

using Machines = std::vector<std::vector<int>>;

std::vector<int> joined(const Machines& machines) {
  std::vector<int> all;
  for (const auto& keys : machines) all.insert(all.end(), keys.begin(), keys.end());
  return all;
}

void expect_sorts(Machines machines) {
  std::vector<int> expected = joined(machines);
  std::sort(expected.begin(), expected.end());
  sample_sort(machines, 32, 1, [](auto begin, auto end) { std::sort(begin, end); });
  ASSERT_EQ(joined(machines), expected);
}

TEST(TextbookSampleSort, SortsThroughAllMachines) {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    Machines machines(1 + random() % 9);
    const int values = 1 << (random() % 16);
    for (auto& keys : machines) {
      keys.resize(random() % 4 == 0 ? 0 : random() % 500);
      for (int& key : keys) key = static_cast<int>(random()) % values;
    }
    expect_sorts(machines);
    if (HasFatalFailure()) return;
  }
}

TEST(TextbookSampleSort, TakesNoMachinesAndNoKeys) {
  expect_sorts({});
  expect_sorts({{}});
  expect_sorts({{}, {}, {}});
  expect_sorts({{}, {1}, {}});
}

TEST(TextbookSampleSort, DividesEqualKeysLikeAnyOther) {
  Machines machines(8, std::vector<int>(10000, 42));
  sample_sort(machines, 128, 1, [](auto begin, auto end) { std::sort(begin, end); });
  for (const auto& keys : machines) {
    EXPECT_GT(keys.size(), 5000U);
    EXPECT_LT(keys.size(), 20000U);
  }
}

TEST(TextbookSampleSort, DividesSortedInputEvenly) {
  Machines machines(8, std::vector<int>(10000));
  int next = 0;
  for (auto& keys : machines) {
    std::iota(keys.begin(), keys.end(), next);
    next += 10000;
  }
  sample_sort(machines, 128, 1, [](auto begin, auto end) { std::sort(begin, end); });
  for (const auto& keys : machines) EXPECT_LT(keys.size(), 20000U);
}

TEST(TextbookSampleSort, ComparesAKeyWithItsPosition) {
  const std::vector<PlacedKey<int>> splitters = {{5, 3}, {7, 8}};
  const std::span<const PlacedKey<int>> two(splitters);
  EXPECT_EQ(machine_of<int>({4, 9}, two), 0U);
  EXPECT_EQ(machine_of<int>({5, 2}, two), 0U);
  EXPECT_EQ(machine_of<int>({5, 3}, two), 1U);
  EXPECT_EQ(machine_of<int>({5, 4}, two), 1U);
  EXPECT_EQ(machine_of<int>({7, 8}, two), 2U);
}

}  // namespace
}  // namespace gsort::textbook
