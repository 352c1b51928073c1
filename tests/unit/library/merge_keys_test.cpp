#include <string>

#include "base/error.hpp"
#include "library/sort_keys.hpp"
#include "support/error_of.hpp"
#include "support/typed_keys.hpp"

namespace gsort {
namespace {

using test::Bytes;

template <class Key>
class MergeKeys : public ::testing::Test {};
TYPED_TEST_SUITE(MergeKeys, test::KeyTypes);

TYPED_TEST(MergeKeys, EqualsStdSortOfBoth) {
  for (const Order order : {Order::kAscending, Order::kDescending}) {
    const KeyFormat format = library::format_of<TypeParam>(order);
    for (const std::size_t a_count : test::kCounts) {
      for (const std::size_t b_count : {std::size_t{0}, std::size_t{1}, std::size_t{200'003}}) {
        const Bytes a = test::generated(format, Distribution::kUniform, a_count, 1);
        const Bytes b = test::generated(format, Distribution::kZipf, b_count, 2);
        Bytes both = a;
        both.insert(both.end(), b.begin(), b.end());
        const auto sorted_a = test::keys_of<TypeParam>(test::sorted_copy(a, format));
        const auto sorted_b = test::keys_of<TypeParam>(test::sorted_copy(b, format));
        std::vector<TypeParam> merged(a_count + b_count);
        merge_keys<TypeParam>(sorted_a, sorted_b, merged, order, 3);
        EXPECT_EQ(test::bytes_of_keys<TypeParam>(merged), test::sorted_copy(both, format))
            << a_count << " and " << b_count << " keys";
      }
    }
  }
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
