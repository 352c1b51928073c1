#include "element/repeated_keys.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace gsort {
namespace {

template <class Key>
class RepeatedKeys : public testing::Test {
 protected:
  // `count` sorted keys of which every `each` neighbours are equal.
  static std::vector<Key> keys_of(std::size_t count, std::size_t each) {
    std::vector<Key> keys(count);
    for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<Key>(i / each);
    return keys;
  }
  static std::size_t slow_changes(const std::vector<Key>& keys) {
    std::size_t changes = 0;
    for (std::size_t i = 1; i < keys.size(); ++i) changes += keys[i] != keys[i - 1] ? 1U : 0U;
    return changes;
  }
};

using Widths = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(RepeatedKeys, Widths);

constexpr std::size_t kSizes[] = {0,   1,   2,   3,     15,    16,    17,     254,
                                  255, 256, 257, 1'024, 1'025, 4'097, 100'003};

TYPED_TEST(RepeatedKeys, AreCountedAroundTheBordersOfVectorsAndStretches) {
  for (const std::size_t count : kSizes) {
    for (const std::size_t each : {1U, 2U, 3U, 255U, 256U, 1'000U}) {
      const auto keys = this->keys_of(count, each);
      EXPECT_EQ(count_changes<TypeParam>(keys), this->slow_changes(keys)) << count << ' ' << each;
    }
  }
}

TYPED_TEST(RepeatedKeys, AreFoundWhereTheFirstOneStands) {
  for (const std::size_t at : {0U, 1U, 30U, 100U, 253U}) {
    auto keys = this->keys_of(255, 1);
    keys[at + 1] = keys[at];
    EXPECT_EQ(first_repeat<TypeParam>(keys), at);
  }
  EXPECT_EQ(first_repeat<TypeParam>(this->keys_of(255, 1)), 255U);
  EXPECT_EQ(first_repeat<TypeParam>(this->keys_of(1, 1)), 1U);
  EXPECT_EQ(first_repeat<TypeParam>(std::span<const TypeParam>()), 0U);
}

TYPED_TEST(RepeatedKeys, AreSplitFromOneOfEach) {
  for (const std::size_t count : kSizes) {
    const auto keys = this->keys_of(count, 3);
    std::vector<TypeParam> kept(count);
    std::vector<TypeParam> repeats(count);
    const TypeParam before = 255;
    const std::size_t stay = split_repeats<TypeParam>(before, keys, kept.data(), repeats.data());
    EXPECT_EQ(stay, count == 0 ? 0 : this->slow_changes(keys) + 1);
    kept.resize(stay);
    repeats.resize(count - stay);
    EXPECT_EQ(std::ranges::adjacent_find(kept), kept.end());
    std::vector<TypeParam> all = kept;
    all.insert(all.end(), repeats.begin(), repeats.end());
    std::ranges::sort(all);
    auto want = keys;
    std::ranges::sort(want);
    EXPECT_EQ(all, want) << "keys were lost";
  }
}

TYPED_TEST(RepeatedKeys, AreAlsoThoseThatRepeatTheKeyInFront) {
  const std::vector<TypeParam> keys = {7, 7, 8};
  std::vector<TypeParam> kept(3);
  std::vector<TypeParam> repeats(3);
  EXPECT_EQ(split_repeats<TypeParam>(7, keys, kept.data(), repeats.data()), 1U);
  EXPECT_EQ(kept.front(), 8);
}

}  // namespace
}  // namespace gsort
