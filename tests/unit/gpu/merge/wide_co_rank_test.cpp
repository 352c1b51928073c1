// The co-rank by 32 lanes, against merging one by one and against plain bisection.
#include "gpu/merge/wide_co_rank.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "element/co_rank.hpp"
#include "unit/element/merge_one_by_one.hpp"

namespace gsort::gpu {
namespace {

using Keys = std::vector<std::uint32_t>;

Keys sorted_keys(std::mt19937_64& random, std::size_t count, std::uint32_t distinct) {
  Keys keys(count);
  for (auto& key : keys) key = static_cast<std::uint32_t>(random() % distinct);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::uint64_t co_rank_of(std::uint64_t d, const Keys& a, const Keys& b) {
  const auto by_8 = wide_co_rank(SerialLanes<8>{}, d, a.data(), a.size(), b.data(), b.size());
  const auto by_32 = wide_co_rank(SerialLanes<32>{}, d, a.data(), a.size(), b.data(), b.size());
  EXPECT_EQ(by_8, by_32) << "d = " << d;
  return by_32;
}

TEST(WideCoRank, AgreesWithMergingOneByOne) {
  std::mt19937_64 random(1);
  for (const std::size_t a_count : {0U, 1U, 2U, 31U, 32U, 33U, 64U, 100U}) {
    for (const std::size_t b_count : {0U, 1U, 5U, 32U, 63U, 65U}) {
      for (const std::uint32_t distinct : {1U, 3U, 50U, 1000000U}) {
        const Keys a = sorted_keys(random, a_count, distinct);
        const Keys b = sorted_keys(random, b_count, distinct);
        test::Cuts cuts{0, 0};
        for (std::uint64_t d = 0; d <= a_count + b_count; ++d) {
          ASSERT_EQ(co_rank_of(d, a, b), cuts[0]) << a_count << " + " << b_count << ", d = " << d;
          if (d < a_count + b_count) test::take_the_next<std::uint32_t>({a, b}, cuts);
        }
      }
    }
  }
}

TEST(WideCoRank, AgreesWithBisectionOnLongRuns) {
  std::mt19937_64 random(2);
  for (const std::uint32_t distinct : {2U, 1000U, 4000000000U}) {
    const Keys a = sorted_keys(random, 70001, distinct);
    const Keys b = sorted_keys(random, 150000, distinct);
    for (std::uint64_t d = 0; d <= a.size() + b.size(); d += 97) {
      ASSERT_EQ(co_rank_of(d, a, b),
                co_rank<std::uint64_t>(d, a.data(), a.size(), b.data(), b.size()))
          << "d = " << d;
    }
  }
}

// Reads past the ends of either run would be found by the address sanitizer.
TEST(WideCoRank, FindsOneSidedMerges) {
  const Keys low(1000, 1);
  const Keys high(1000, 2);
  for (std::uint64_t d = 0; d <= 2000; ++d) {
    ASSERT_EQ(co_rank_of(d, low, high), std::min<std::uint64_t>(d, 1000));
    ASSERT_EQ(co_rank_of(d, high, low), d < 1000 ? 0 : d - 1000);
    ASSERT_EQ(co_rank_of(d, low, low), std::min<std::uint64_t>(d, 1000));
  }
}

}  // namespace
}  // namespace gsort::gpu
