#include "base/checked.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};
constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;

TEST(CheckedNumbers, AreWhatTheyAreUpToTheLastBit) {
  EXPECT_EQ(checked_sum(kMost - 1, 1), kMost);
  EXPECT_EQ(checked_product(kMost / 3, 3), kMost);
  EXPECT_EQ(checked_product(kMost, 0), 0U);
  EXPECT_EQ(capped_sum(kMost - 1, 1), kMost);
  EXPECT_EQ(capped_product(kMost / 5, 5), kMost);
}

TEST(CheckedNumbers, ThrowWhereTheyWouldWrap) {
  EXPECT_THROW(static_cast<void>(checked_sum(kMost, 1)), Error);
  EXPECT_THROW(static_cast<void>(checked_sum(kHalf, kHalf)), Error);
  EXPECT_THROW(static_cast<void>(checked_product(kHalf, 2)), Error);
  EXPECT_THROW(static_cast<void>(checked_product(std::uint64_t{1} << 62, 4)), Error);
}

TEST(CappedNumbers, AreTheMostWhereTheyWouldWrap) {
  EXPECT_EQ(capped_sum(kHalf, kHalf), kMost);
  EXPECT_EQ(capped_product(kHalf + 1, 2), kMost);
}

TEST(MostFileBytes, LeaveRoomForTwoFilesInASum) {
  EXPECT_EQ(checked_sum(kMostFileBytes, kMostFileBytes), kMost - 1);
}

}  // namespace
}  // namespace gsort
