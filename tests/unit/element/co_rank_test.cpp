#include "element/co_rank.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "unit/element/merge_one_by_one.hpp"

namespace gsort {
namespace {

using Array = std::vector<int>;

TEST(CoRank, AgreesWithMergingOneByOneOnAllSmallArrays) {
  const std::vector<Array> arrays = test::all_runs<int>(5, {0, 1, 2});
  for (const Array& a : arrays) {
    for (const Array& b : arrays) {
      for (std::size_t k = 0; k <= a.size() + b.size(); ++k) {
        ASSERT_EQ(co_rank<std::size_t>(k, a, a.size(), b, b.size()),
                  test::merge_one_by_one<int>({a, b}, k)[0])
            << testing::PrintToString(a) << testing::PrintToString(b) << " k = " << k;
      }
    }
  }
}

TEST(CoRank, SendsTiesToTheFirstArray) {
  const int a[] = {1, 3, 3, 7};
  const int b[] = {3, 4, 9};
  EXPECT_EQ(co_rank(3, a, 4, b, 3), 3);
  EXPECT_EQ(co_rank(4, a, 4, b, 3), 3);
  EXPECT_EQ(co_rank(6, a, 4, b, 3), 4);
}

TEST(CoRank, WorksAtCompileTimeAndWithNarrowIndexes) {
  constexpr int kA[] = {1, 2, 2};
  constexpr int kB[] = {2, 5};
  static_assert(co_rank<std::uint32_t>(2, kA, 3, kB, 2) == 2);
  static_assert(co_rank<std::uint32_t>(4, kA, 3, kB, 2) == 3);
  SUCCEED();
}

// An array too long to exist: element i is i times a step, plus a start.
struct Ramp {
  std::uint64_t start;
  std::uint64_t step;
  constexpr std::uint64_t operator[](std::uint64_t i) const { return start + i * step; }
};

TEST(CoRank, FindsPositionsBeyondThirtyTwoBits) {
  constexpr std::uint64_t kCount = std::uint64_t{1} << 40;
  // Even and odd numbers: the first k of the merge hold (k + 1) / 2 even ones.
  for (const std::uint64_t k : {std::uint64_t{1} << 33, (std::uint64_t{1} << 40) + 7, 2 * kCount}) {
    EXPECT_EQ(co_rank(k, Ramp{0, 2}, kCount, Ramp{1, 2}, kCount), (k + 1) / 2);
  }
}

}  // namespace
}  // namespace gsort
