#include "pipeline/split/run_counter.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/runs_on_disk.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kRunBlock = 6;
constexpr std::uint64_t kGreatest = 99;

// Three sorted runs, one of them empty, and a counter of them.
class RunCounterTest : public testing::Test {
 protected:
  RunCounterTest() {
    std::mt19937_64 random(5);
    for (const std::size_t elements : {50U, 0U, 73U}) {
      auto& run = keys_.emplace_back(elements);
      for (auto& key : run) key = static_cast<std::uint32_t>(random() % (kGreatest + 1));
      std::ranges::sort(run);
      runs_.add(std::as_bytes(std::span(run)));
    }
  }

  // How many keys of a run are <= value.
  [[nodiscard]] std::uint64_t count(std::size_t run, std::uint64_t value) const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(keys_[run], [value](std::uint32_t key) { return key <= value; }));
  }

  [[nodiscard]] RunCounter counter() const { return RunCounter(runs_.to_cut()); }

  std::vector<std::vector<std::uint32_t>> keys_;
  test::RunsOnDisk runs_{sizeof(std::uint32_t), kRunBlock};
};

TEST_F(RunCounterTest, CountsWhatComesUpToAValue) {
  RunCounter counter = this->counter();
  ASSERT_EQ(counter.runs(), keys_.size());
  EXPECT_EQ(counter.greatest_value(), ~std::uint32_t{0});
  for (std::size_t run = 0; run < keys_.size(); ++run) {
    ASSERT_EQ(counter.elements(run), keys_[run].size());
    for (std::uint64_t value = 0; value <= kGreatest + 1; ++value) {
      ASSERT_EQ(counter.count_up_to(run, value, 0, keys_[run].size()), count(run, value));
    }
  }
}

TEST_F(RunCounterTest, CountsBetweenTheBracketsItIsGiven) {
  RunCounter counter = this->counter();
  for (std::uint64_t value = 0; value <= kGreatest; ++value) {
    for (const std::uint64_t low : {0U, 13U, 50U}) {
      ASSERT_EQ(counter.count_up_to(0, value, low, 50), std::max(count(0, value), low));
      ASSERT_EQ(counter.count_up_to(0, value, 0, low), std::min(count(0, value), low));
    }
  }
}

TEST_F(RunCounterTest, KnowsBoundsFromFencesAlone) {
  const RunCounter counter = this->counter();
  for (std::size_t run = 0; run < keys_.size(); ++run) {
    for (std::uint64_t value = 0; value <= kGreatest; ++value) {
      const RunCounter::Bounds bounds = counter.bounds_by_fences(run, value);
      ASSERT_LE(bounds.least, count(run, value));
      ASSERT_GE(bounds.most, count(run, value));
      ASSERT_LE(bounds.most - bounds.least, kRunBlock);
    }
  }
}

// Also in a last block that is not full: in keys that are evenly spread it is off by one at most.
TEST_F(RunCounterTest, ExpectsEvenlySpreadKeysWhereTheyAre) {
  for (std::uint32_t elements = kRunBlock + 1; elements <= 4 * kRunBlock; ++elements) {
    std::vector<std::uint32_t> keys(elements);
    for (std::uint32_t i = 0; i < elements; ++i) keys[i] = 1'000 * (i + 1);
    test::RunsOnDisk runs(sizeof(std::uint32_t), kRunBlock);
    runs.add(std::as_bytes(std::span(keys)));
    const RunCounter counter(runs.to_cut());
    for (std::uint64_t i = 0; i <= elements; ++i) {
      EXPECT_NEAR(counter.expected_in(0, 1'000 * i + 500), static_cast<double>(i), 1)
          << elements << " elements";
    }
  }
}

TEST_F(RunCounterTest, ReturnsElementsByPosition) {
  RunCounter counter = this->counter();
  for (std::size_t at = 0; at < keys_[2].size(); ++at) {
    std::uint32_t key = 0;
    std::memcpy(&key, counter.element_at(2, at), sizeof(key));
    ASSERT_EQ(key, keys_[2][at]);
    ASSERT_EQ(counter.value_at(2, at), keys_[2][at]);
  }
}

}  // namespace
}  // namespace gsort
