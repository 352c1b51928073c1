// argsort on the card, against std::stable_sort of the numbers.
#include "gpu/widths/device_argsort.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "distributions.hpp"
#include "gpu/distribute/device_pair_distribute.hpp"
#include "pairs_on_both.hpp"
#include "support/error_of.hpp"

namespace gsort::gpu {
namespace {

template <class T>
class DeviceArgsort : public GpuTest {};
using IndexTypes =
    ::testing::Types<Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, std::uint64_t>,
                     Types<std::uint64_t, std::uint32_t>, Types<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(DeviceArgsort, IndexTypes);

template <class T>
void argsort_and_compare(const std::vector<typename T::Key>& keys, KeyMap<typename T::Key> map) {
  using Key = typename T::Key;
  using Index = typename T::Value;
  if (is_left_out(keys.size())) return;
  std::vector<Index> expected(keys.size());
  std::iota(expected.begin(), expected.end(), Index{0});
  std::ranges::stable_sort(expected, {}, [&](Index i) { return map.to_ordered(keys[i]); });
  const DeviceArray<Key> input(keys);
  const DeviceArray<Index> indices(keys.size());
  const std::size_t bytes = argsort_scratch_bytes<Key, Index>(keys.size());
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  argsort<Key, Index>({.keys = input.get(),
                       .indices = indices.get(),
                       .count = keys.size(),
                       .load_map = map,
                       .scratch = {scratch.get(), bytes}});
  ASSERT_TRUE(indices.values() == expected) << keys.size();
  ASSERT_TRUE(input.values() == keys);
  ASSERT_TRUE(indices.guards_hold() && scratch.guards_hold());
}

TYPED_TEST(DeviceArgsort, IsStable) {
  using Key = typename TypeParam::Key;
  constexpr bool kNarrow = sizeof(Key) == 4;
  for (const std::uint64_t count : {0U, 1U, 2U, 33U, 5000U, 25000U, 300007U}) {
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct, Shape::kEqual}) {
      argsort_and_compare<TypeParam>(make_keys<Key>(shape, count, 3), {});
      argsort_and_compare<TypeParam>(
          make_keys<Key>(shape, count, 4),
          KeyMap<Key>::of({kNarrow ? KeyType::kF32 : KeyType::kI64, false, true}));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceArgsort, IsStableWhereKeysAreDistributedTwice) {
  using Key = typename TypeParam::Key;
  constexpr std::uint64_t kOnce =
      sizeof(Key) == 4 ? kMostDistributedOnce<Key, typename TypeParam::Value> : 0;
  for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
    const std::uint64_t count = std::max(kOnce, kLeastDistributedPairs<Key>) + 1;
    argsort_and_compare<TypeParam>(make_keys<Key>(shape, count, 5), {});
    if (this->HasFatalFailure()) return;
  }
}

TEST(DeviceArgsortLimits, CountsWithoutNumbersAreRefused) {
  const auto expect_refusal = [](const auto& call) {
    const Error error = test::error_of(call);
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  };
  constexpr std::uint64_t kMany = std::uint64_t{1} << 32;
  expect_refusal([] { (void)argsort_scratch_bytes<std::uint32_t, std::uint32_t>(kMany); });
  expect_refusal([] { argsort<std::uint32_t, std::uint32_t>({.count = kMany}); });
  expect_refusal([] { (void)argsort_scratch_bytes<std::uint32_t, std::uint64_t>(kMany << 4); });
  EXPECT_GT((argsort_scratch_bytes<std::uint32_t, std::uint64_t>(kMany)), 16 * kMany);
}

}  // namespace
}  // namespace gsort::gpu
