#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "library/sort_keys.hpp"
#include "support/error_of.hpp"
#include "support/key_values.hpp"
#include "support/some_of.hpp"
#include "support/typed_keys.hpp"

namespace gsort {
namespace {

using test::Bytes;

template <class Key>
class MergeKeys : public ::testing::Test {};
TYPED_TEST_SUITE(MergeKeys, test::KeyTypes);

TYPED_TEST(MergeKeys, EqualsStdMergeOfBoth) {
  test::SomeOf cases(2);
  for (const Order order : {Order::kAscending, Order::kDescending}) {
    const KeyFormat format = library::format_of<TypeParam>(order);
    for (const std::size_t b_count : {std::size_t{0}, std::size_t{1}, std::size_t{200'003}}) {
      const Bytes b = test::generated(format, Distribution::kZipf, b_count, 2);
      const auto sorted_b = test::keys_of<TypeParam>(test::sorted_copy(b, format));
      for (const std::size_t a_count : test::kCounts) {
        if (!cases.takes()) continue;
        const Bytes a = test::generated(format, Distribution::kUniform, a_count, 1);
        const auto sorted_a = test::keys_of<TypeParam>(test::sorted_copy(a, format));
        std::vector<TypeParam> merged(a_count + b_count);
        merge_keys<TypeParam>(sorted_a, sorted_b, merged, order, 3);
        std::vector<TypeParam> wanted;
        std::ranges::merge(sorted_a, sorted_b, std::back_inserter(wanted), [&](auto x, auto y) {
          return test::compare_numbers(format.descending ? y : x, format.descending ? x : y) < 0;
        });
        EXPECT_EQ(test::bytes_of_keys<TypeParam>(merged), test::bytes_of_keys<TypeParam>(wanted))
            << a_count << " and " << b_count << " keys";
      }
    }
  }
}

// Keys of one input follow those of the other, or equal them, in stretches of any length.
TYPED_TEST(MergeKeys, EqualsStdMergeWhereOneInputIsUsedUpFirst) {
  for (const std::size_t length : {1'000U, 12'000U, 70'000U, 300'000U}) {
    std::vector<TypeParam> a;
    std::vector<TypeParam> b;
    for (std::size_t i = 0; i < 300'000; ++i) {
      const auto key = static_cast<TypeParam>(i * 100 / 300'000);
      const std::size_t stretch = i / length % 4;
      if (stretch < 3) a.push_back(key);
      if (stretch > 1 || (stretch == 1 && i % 50 == 0)) b.push_back(key);
    }
    std::vector<TypeParam> merged(a.size() + b.size());
    merge_keys<TypeParam>(a, b, merged, Order::kAscending, 2);
    std::vector<TypeParam> wanted;
    std::ranges::merge(a, b, std::back_inserter(wanted));
    EXPECT_TRUE(merged == wanted) << "stretches of " << length;
  }
}

TYPED_TEST(MergeKeys, KeepsAllKeysOfInputsInNoOrder) {
  const KeyFormat format = library::format_of<TypeParam>(Order::kAscending);
  const auto keys =
      test::keys_of<TypeParam>(test::generated(format, Distribution::kUniform, 300'007, 3));
  const std::span<const TypeParam> all(keys);
  std::vector<TypeParam> merged(keys.size());
  merge_keys<TypeParam>(all.first(100'000), all.subspan(100'000), merged, Order::kAscending, 3);
  EXPECT_EQ(test::sorted_copy(test::bytes_of_keys<TypeParam>(merged), format),
            test::sorted_copy(test::bytes_of_keys<TypeParam>(keys), format));
}

std::string complaint(std::span<const int> a, std::span<const int> b, std::span<int> merged) {
  const Error error = test::error_of([&] { merge_keys<int>(a, b, merged); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_FALSE(error.hint().empty());
  return error.reason();
}

TEST(MergeKeysErrors, RefuseAResultOfAnotherLength) {
  const std::vector<int> a = {1, 2};
  const std::vector<int> b = {3};
  std::vector<int> merged(4);
  EXPECT_EQ(complaint(a, b, merged), "the result is not as long as both inputs");
}

TEST(MergeKeysErrors, RefuseMoreThreadsThanTheCommandLine) {
  const std::vector<int> keys = {1};
  std::vector<int> merged(2);
  const Error error =
      test::error_of([&] { merge_keys<int>(keys, keys, merged, Order::kAscending, 1'000'000); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
}

TEST(MergeKeysOfFloats, TakesEqualOnesInAnyOrder) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a = {-1, 0, -0.0F, 0, nan, -nan, nan};
  const std::vector<float> b = {-0.0F, 0, 1, -nan};
  std::vector<float> merged(a.size() + b.size());
  merge_keys<float>(a, b, merged);
  const std::vector<float> wanted = {-1, 0, -0.0F, 0, -0.0F, 0, 1, nan, -nan, nan, -nan};
  EXPECT_EQ(test::bytes_of_keys<float>(merged), test::bytes_of_keys<float>(wanted));
}

TEST(MergeKeysInOnePlace, TakesInputsThatTouchTheResult) {
  std::vector<int> memory = {1, 5, 0, 0, 0, 3};
  const std::span<int> all(memory);
  merge_keys<int>(all.first(2), all.last(1), all.subspan(2, 3));
  EXPECT_EQ(memory, (std::vector<int>{1, 5, 1, 3, 5, 3}));
}

TEST(MergeKeysErrors, RefuseAResultThatOverlapsAnInput) {
  std::vector<int> memory = {1, 2, 3, 4, 5};
  const std::vector<int> other = {7};
  const std::span<int> all(memory);
  EXPECT_EQ(complaint(all.first(2), other, all.subspan(1, 3)), "the result overlaps an input");
  EXPECT_EQ(complaint(other, all.last(3), all.first(4)), "the result overlaps an input");
}

}  // namespace
}  // namespace gsort
