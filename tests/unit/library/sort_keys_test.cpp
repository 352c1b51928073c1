#include "library/sort_keys.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/error_of.hpp"
#include "support/typed_keys.hpp"

namespace gsort {
namespace {

using test::Bytes;

template <class Key>
class SortKeys : public ::testing::Test {};
TYPED_TEST_SUITE(SortKeys, test::KeyTypes);

TYPED_TEST(SortKeys, EqualsStdSort) {
  for (const Order order : {Order::kAscending, Order::kDescending}) {
    const KeyFormat format = library::format_of<TypeParam>(order);
    for (const Distribution shape : {Distribution::kUniform, Distribution::kZipf}) {
      for (const std::size_t count : test::kCounts) {
        const Bytes raw = test::generated(format, shape, count);
        const Bytes wanted = test::sorted_copy(raw, format);
        for (const unsigned threads : {0U, 1U, 3U}) {
          std::vector<TypeParam> keys = test::keys_of<TypeParam>(raw);
          sort_keys<TypeParam>(keys, order, threads);
          EXPECT_EQ(test::bytes_of_keys<TypeParam>(keys), wanted)
              << count << " keys, " << threads << " threads";
        }
      }
    }
  }
}

TYPED_TEST(SortKeys, LeavesEqualKeysAsTheyAre) {
  std::vector<TypeParam> keys(100'000, TypeParam{7});
  const std::vector<TypeParam> wanted = keys;
  sort_keys<TypeParam>(keys);
  EXPECT_EQ(keys, wanted);
}

TEST(SortKeysOfFloats, PutsNansLastAndDescendingFirst) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t times : {std::size_t{1}, std::size_t{100'000}}) {
    std::vector<float> keys;
    for (std::size_t i = 0; i < times; ++i) keys.insert(keys.end(), {nan, 2, 1, 3, -nan, -0.0F});
    sort_keys<float>(keys);
    const auto numbers = keys.begin() + static_cast<std::ptrdiff_t>(4 * times);
    const auto is_nan = [](float key) { return std::isnan(key); };
    EXPECT_TRUE(std::is_sorted(keys.begin(), numbers));
    EXPECT_TRUE(std::all_of(numbers, keys.end(), is_nan));
    sort_keys<float>(keys, Order::kDescending);
    EXPECT_TRUE(
        std::all_of(keys.rbegin() + static_cast<std::ptrdiff_t>(4 * times), keys.rend(), is_nan));
    EXPECT_TRUE(
        std::is_sorted(keys.rbegin(), keys.rbegin() + static_cast<std::ptrdiff_t>(4 * times)));
  }
}

TEST(SortKeysOfFloats, PutsNansAndZerosInTotalOrder) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> keys = {nan, 0.0, -0.0, 1.0, -nan, -1.0};
  sort_keys<double>(keys, Order::kAscendingTotal);
  EXPECT_TRUE(std::isnan(keys[0]) && std::signbit(keys[0]));
  EXPECT_EQ(keys[1], -1.0);
  EXPECT_TRUE(keys[2] == 0 && std::signbit(keys[2]));
  EXPECT_TRUE(keys[3] == 0 && !std::signbit(keys[3]));
  EXPECT_EQ(keys[4], 1.0);
  EXPECT_TRUE(std::isnan(keys[5]) && !std::signbit(keys[5]));
}

TEST(SortKeysInPart, TouchesNoNeighbours) {
  std::vector<std::uint32_t> keys(100'002, 5);
  keys.front() = 9;
  keys.back() = 1;
  sort_keys(std::span(keys).subspan(1, 100'000), Order::kAscending, 2);
  EXPECT_EQ(keys.front(), 9U);
  EXPECT_EQ(keys.back(), 1U);
}

TEST(SortKeysErrors, RefuseMoreThreadsThanTheCommandLine) {
  std::vector<std::uint32_t> keys = {2, 1};
  const Error error =
      test::error_of([&] { sort_keys<std::uint32_t>(keys, Order::kAscending, 1'000'000); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.reason(), "threads is 1000000");
  EXPECT_EQ(keys.front(), 2U);
}

}  // namespace
}  // namespace gsort
