#include "base/short_float.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace gsort {
namespace {

template <class Number>
class ShortFloatOf : public testing::Test {};

using ShortFloats = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(ShortFloatOf, ShortFloats);

template <class Number>
Number number_of(unsigned bits) {
  return {static_cast<std::uint16_t>(bits)};
}

TYPED_TEST(ShortFloatOf, IsTheNearestToItsOwnValue) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const auto number = number_of<TypeParam>(bits);
    if (std::isnan(number.value())) continue;
    const auto nearest = TypeParam::nearest(number.value());
    ASSERT_TRUE(nearest) << bits;
    ASSERT_EQ(nearest->bits, bits);
  }
}

// Between all neighbours: half way the even one, else the nearer one.
TYPED_TEST(ShortFloatOf, IsRoundedToTheNearestAndOfTwoToTheEvenOne) {
  for (unsigned bits = 1; bits + 1 < TypeParam::kInfinity; ++bits) {
    const double low = number_of<TypeParam>(bits).value();
    const double high = number_of<TypeParam>(bits + 1).value();
    const double half_way = (low + high) / 2;
    ASSERT_EQ(TypeParam::nearest(half_way)->bits, bits + bits % 2);
    ASSERT_EQ(TypeParam::nearest(std::nextafter(half_way, low))->bits, bits);
    ASSERT_EQ(TypeParam::nearest(std::nextafter(half_way, high))->bits, bits + 1);
    ASSERT_EQ(TypeParam::nearest(-half_way)->bits, 0x8000U + bits + bits % 2);
  }
}

TYPED_TEST(ShortFloatOf, HoldsNeitherTooLargeNorTooSmallNumbers) {
  using Limits = std::numeric_limits<TypeParam>;
  const double most = Limits::max().value();
  const double step = most - number_of<TypeParam>(Limits::max().bits - 1U).value();
  EXPECT_FALSE(TypeParam::nearest(most + step / 2));
  EXPECT_EQ(TypeParam::nearest(std::nextafter(most + step / 2, 0))->bits, Limits::max().bits);
  const double half = Limits::denorm_min().value() / 2.0;
  EXPECT_FALSE(TypeParam::nearest(half));
  EXPECT_EQ(TypeParam::nearest(std::nextafter(half, 1))->bits, 1);
  EXPECT_FALSE(TypeParam::nearest(std::numeric_limits<double>::denorm_min()));
  EXPECT_FALSE(TypeParam::nearest(std::numeric_limits<double>::max()));
}

TEST(ShortFloat, HasTheLimitsOfItsFormat) {
  EXPECT_EQ(std::numeric_limits<Float16>::max().value(), 65504.0F);
  EXPECT_EQ(std::numeric_limits<Float16>::denorm_min().value(), 0x1p-24F);
  EXPECT_EQ(std::numeric_limits<BFloat16>::max().value(), 0x1.fep127F);
  EXPECT_EQ(std::numeric_limits<BFloat16>::denorm_min().value(), 0x1p-133F);
  EXPECT_EQ(std::numeric_limits<Float16>::max_digits10, 5);
  EXPECT_EQ(std::numeric_limits<BFloat16>::max_digits10, 4);
}

}  // namespace
}  // namespace gsort
