#include "engine/cpu/in_place/halve.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "support/sorted_copy.hpp"

namespace gsort::cpu {
namespace {

template <class Key>
class Halve : public testing::Test {
 protected:
  static std::vector<Key> keys_of(Distribution distribution, std::size_t count) {
    const KeyFormat format{sizeof(Key) == 4 ? KeyType::kU32 : KeyType::kU64, false, false};
    const test::Bytes raw = test::generated(format, distribution, count, count);
    const auto keys = test::keys_in<Key>(raw);
    return {keys.begin(), keys.end()};
  }

  // Returns how many keys are below the pivot.
  static std::size_t expect_halved(const std::vector<Key>& keys, std::size_t skip) {
    const auto of_raw = [](std::span<Key> copy) {
      const KeyMap<Key> map = KeyMap<Key>::of({sizeof(Key) == 4 ? KeyType::kF32 : KeyType::kF64});
      for (Key& key : copy) key = map.to_raw(key);
      return halve(copy, map);
    };
    const std::size_t below =
        expect_halved(keys, skip, [](std::span<Key> copy) { return halve(copy); });
    EXPECT_EQ(expect_halved(keys, skip, of_raw), below);
    return below;
  }

  // Halves a copy that lies between poisoned neighbours.
  template <class F>
  static std::size_t expect_halved(std::vector<Key> keys, std::size_t skip, const F& halve_copy) {
    constexpr std::size_t kGuard = 64;
    constexpr auto kPoison = static_cast<Key>(0x5aa5a55a5aa5a55aULL);
    std::vector<Key> memory(keys.size() + skip + 2 * kGuard, kPoison);
    const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(kGuard + skip);
    const auto end = std::copy(keys.begin(), keys.end(), begin);
    const std::size_t below = halve_copy(std::span<Key>(begin, end));
    EXPECT_LT(below, std::max<std::size_t>(keys.size(), 1));
    const auto pivot = begin + static_cast<std::ptrdiff_t>(below);
    if (below > 0) {
      EXPECT_LT(*std::max_element(begin, pivot), *std::min_element(pivot, end));
    }
    const auto is_poison = [](Key key) { return key == kPoison; };
    EXPECT_TRUE(std::all_of(memory.begin(), begin, is_poison));
    EXPECT_TRUE(std::all_of(end, memory.end(), is_poison));
    std::sort(begin, end);
    std::sort(keys.begin(), keys.end());
    EXPECT_TRUE(std::equal(keys.begin(), keys.end(), begin));
    return below;
  }
};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Halve, Widths);

TYPED_TEST(Halve, MovesKeysBelowThePivotToTheFront) {
  for (const Distribution distribution : kAllDistributions) {
    for (const std::size_t count : {0U, 1U, 500U, 1'023U, 1'024U, 1'100U, 4'999U, 40'000U}) {
      SCOPED_TRACE(testing::Message() << count << ' ' << name_of(distribution));
      this->expect_halved(this->keys_of(distribution, count), count % 5);
    }
  }
}

TYPED_TEST(Halve, AcceptsEverySize) {
  for (std::size_t count = 900; count < 1'300; ++count) {
    SCOPED_TRACE(count);
    this->expect_halved(this->keys_of(Distribution::kUniform, count), count % 3);
  }
}

TYPED_TEST(Halve, HalvesByWideVectors) {
  for (const std::int64_t target : {HWY_AVX2, HWY_AVX3}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_TRUE(can_halve(sizeof(TypeParam)));
    EXPECT_FALSE(can_halve(sizeof(UInt128)));
    const std::size_t below = this->expect_halved(this->keys_of(Distribution::kUniform, 10'000), 1);
    EXPECT_GT(below, 4'000U);
    EXPECT_LT(below, 6'000U);
    hwy::SetSupportedTargetsForTest(0);
  }
}

TYPED_TEST(Halve, LeavesEqualKeysAlone) {
  const std::vector<TypeParam> keys(10'000, TypeParam{7});
  EXPECT_EQ(this->expect_halved(keys, 0), 0U);
}

}  // namespace
}  // namespace gsort::cpu
