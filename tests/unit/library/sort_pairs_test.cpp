#include "library/sort_pairs.hpp"

#include <limits>
#include <numeric>

#include "support/error_of.hpp"
#include "support/some_of.hpp"
#include "support/typed_keys.hpp"
#include "unit/library/stable_order.hpp"

namespace gsort {
namespace {

using test::Bytes;

template <class Key>
class SortPairs : public ::testing::Test {};
TYPED_TEST_SUITE(SortPairs, test::KeyTypes);

// `wanted` is test::stable_order of the keys.
template <class Value, class Key>
void expect_stably_sorted(const std::vector<Key>& input, const std::vector<std::uint64_t>& wanted,
                          Order order, unsigned threads) {
  std::vector<Key> keys = input;
  std::vector<Value> values(input.size());
  std::iota(values.begin(), values.end(), Value{0});
  sort_pairs<Key, Value>(keys, values, order, threads);
  for (std::size_t i = 0; i < input.size(); ++i) {
    ASSERT_EQ(values[i], static_cast<Value>(wanted[i])) << i << " of " << input.size();
    ASSERT_EQ(std::memcmp(&keys[i], &input[wanted[i]], sizeof(Key)), 0) << i;
  }
}

template <class Index, class Key>
void expect_indices(const std::vector<Key>& keys, const std::vector<std::uint64_t>& wanted,
                    Order order, unsigned threads) {
  std::vector<Index> indices(keys.size());
  argsort_keys<Key, Index>(keys, indices, order, threads);
  ASSERT_TRUE(std::equal(indices.begin(), indices.end(), wanted.begin(),
                         [](Index a, std::uint64_t b) { return a == static_cast<Index>(b); }));
}

TYPED_TEST(SortPairs, EqualsStdStableSort) {
  test::SomeOf cases(2);
  for (const Order order : {Order::kAscending, Order::kDescending}) {
    const KeyFormat format = library::format_of<TypeParam>(order);
    for (const Distribution shape :
         {Distribution::kUniform, Distribution::kZipf, Distribution::kReversed}) {
      for (const std::size_t count : test::kCounts) {
        if (!cases.takes()) continue;
        const std::vector<TypeParam> keys =
            test::keys_of<TypeParam>(test::generated(format, shape, count));
        const std::vector<std::uint64_t> wanted = test::stable_order<TypeParam>(keys, order);
        for (const unsigned threads : {0U, 1U, 3U}) {
          expect_stably_sorted<std::uint32_t>(keys, wanted, order, threads);
        }
        expect_stably_sorted<double>(keys, wanted, order, 2);
        expect_indices<std::int32_t>(keys, wanted, order, 2);
        expect_indices<std::uint64_t>(keys, wanted, order, 0);
      }
    }
  }
}

TEST(SortPairsOfFloats, LeavesEqualFloatsAsTheyAre) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> keys = {nan, 0, -0.0F, -nan, 1, -0.0F, 0, nan};
  expect_stably_sorted<std::int64_t>(keys, test::stable_order<float>(keys, Order::kAscending),
                                     Order::kAscending, 0);
}

TEST(SortPairsErrors, RefuseSpansOfDifferentLengths) {
  std::vector<std::uint32_t> keys = {2, 1};
  std::vector<std::uint32_t> values = {1};
  EXPECT_EQ(
      test::error_of([&] { sort_pairs<std::uint32_t, std::uint32_t>(keys, values); }).reason(),
      "there are not as many values as keys");
  const Error error =
      test::error_of([&] { argsort_keys<std::uint32_t, std::uint32_t>(keys, values); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.reason(), "there are not as many indices as keys");
}

TEST(SortPairsErrors, RefuseMoreThreadsThanTheCommandLine) {
  std::vector<std::uint32_t> keys = {2, 1};
  std::vector<float> values = {1, 2};
  const Error error = test::error_of(
      [&] { sort_pairs<std::uint32_t, float>(keys, values, Order::kAscending, 1'000'000); });
  EXPECT_EQ(error.reason(), "threads is 1000000");
  EXPECT_EQ(keys.front(), 2U);
}

}  // namespace
}  // namespace gsort
