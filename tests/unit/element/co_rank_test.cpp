#include "element/co_rank.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace gsort {
namespace {

using Array = std::vector<int>;

// All ascending arrays of the values 0 to 2 with at most `most` elements.
std::vector<Array> all_arrays(std::size_t most) {
  std::vector<Array> arrays;
  for (std::size_t zeros = 0; zeros <= most; ++zeros) {
    for (std::size_t ones = 0; zeros + ones <= most; ++ones) {
      for (std::size_t twos = 0; zeros + ones + twos <= most; ++twos) {
        Array array(zeros, 0);
        array.insert(array.end(), ones, 1);
        array.insert(array.end(), twos, 2);
        arrays.push_back(array);
      }
    }
  }
  return arrays;
}

// How many of the first k elements of the stable merge come from a: merged one by one, ties from a.
std::size_t counted_from_a(const Array& a, const Array& b, std::size_t k) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i + j < k) {
    const bool from_a = i < a.size() && (j == b.size() || !(b[j] < a[i]));
    ++(from_a ? i : j);
  }
  return i;
}

TEST(CoRank, AgreesWithMergingOneByOneOnAllSmallArrays) {
  const std::vector<Array> arrays = all_arrays(5);
  for (const Array& a : arrays) {
    for (const Array& b : arrays) {
      for (std::size_t k = 0; k <= a.size() + b.size(); ++k) {
        ASSERT_EQ(co_rank<std::size_t>(k, a, a.size(), b, b.size()), counted_from_a(a, b, k))
            << testing::PrintToString(a) << testing::PrintToString(b) << " k = " << k;
      }
    }
  }
}

TEST(CoRank, CutsTheMergeInTwoThatMergeToTheWhole) {
  const std::vector<Array> arrays = all_arrays(4);
  for (const Array& a : arrays) {
    for (const Array& b : arrays) {
      Array whole(a.size() + b.size());
      std::merge(a.begin(), a.end(), b.begin(), b.end(), whole.begin());
      for (std::size_t k = 0; k <= whole.size(); ++k) {
        const auto i =
            static_cast<std::ptrdiff_t>(co_rank<std::size_t>(k, a, a.size(), b, b.size()));
        const auto j = static_cast<std::ptrdiff_t>(k) - i;
        Array parts(whole.size());
        const auto middle =
            std::merge(a.begin(), a.begin() + i, b.begin(), b.begin() + j, parts.begin());
        std::merge(a.begin() + i, a.end(), b.begin() + j, b.end(), middle);
        ASSERT_EQ(parts, whole);
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
