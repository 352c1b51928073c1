#include "element/member_keys.hpp"

#include <algorithm>
#include <iterator>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gsort {
namespace {

template <class Key>
class MemberKeys : public testing::Test {
 protected:
  using Keys = std::vector<Key>;

  // Ascending keys below `bound`, the greatest ones among them if so wanted.
  Keys ascending(std::size_t count, std::uint64_t bound, bool to_the_end) {
    const auto most = static_cast<Key>(~Key{0});
    Keys keys(count);
    for (Key& key : keys) {
      key = static_cast<Key>(random_() % bound);
      if (to_the_end) key = static_cast<Key>(most - key);
    }
    std::ranges::sort(keys);
    return keys;
  }
  static Keys distinct(Keys keys) {
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
  }

  static void expect_split(const Keys& keys, const Keys& others) {
    Keys members;
    Keys rest;
    const Keys once = distinct(others);
    std::ranges::set_intersection(keys, once, std::back_inserter(members));
    std::ranges::set_difference(keys, once, std::back_inserter(rest));
    EXPECT_EQ(sum_members<Key>(keys, others).count, members.size());
    EXPECT_EQ(sum_members<Key>(keys, others), sum_keys<Key>(members));
    expect_split(keys, others, Stay::kMembers, members, rest);
    expect_split(keys, others, Stay::kRest, rest, members);
  }

 private:
  static void expect_split(const Keys& keys, const Keys& others, Stay stay, const Keys& kept,
                           const Keys& dropped) {
    for (const bool in_place : {false, true}) {
      Keys from = keys;
      Keys to(keys.size());
      Keys beside(keys.size());
      Key* const where = in_place ? from.data() : to.data();
      const std::size_t stayed = split_members<Key>(from, others, stay, where, beside.data());
      EXPECT_EQ(stayed, kept.size());
      EXPECT_TRUE(std::equal(kept.begin(), kept.end(), where)) << in_place;
      EXPECT_TRUE(std::equal(dropped.begin(), dropped.end(), beside.begin())) << in_place;
    }
  }

  std::mt19937_64 random_{7};
};

using Widths = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(MemberKeys, Widths);

TYPED_TEST(MemberKeys, AreThoseThatTheStandardLibraryFinds) {
  for (const std::size_t count : {0U, 1U, 2U, 5U, 40U, 300U}) {
    for (const std::size_t others : {0U, 1U, 3U, 41U, 400U, 5'000U}) {
      for (const std::uint64_t bound : {3U, 50U, 250U}) {
        for (const bool to_the_end : {false, true}) {
          SCOPED_TRACE(testing::Message() << count << ' ' << others << ' ' << bound);
          this->expect_split(this->distinct(this->ascending(count, bound, to_the_end)),
                             this->ascending(others, bound, to_the_end));
        }
      }
    }
  }
}

TYPED_TEST(MemberKeys, AreFoundWhereTheRangesOnlyTouchOrLieApart) {
  const std::vector<TypeParam> low{1, 2, 3, 9};
  const std::vector<TypeParam> high{9, 10, 200};
  const std::vector<TypeParam> far(100, 100);
  for (const auto& keys : {low, high}) {
    for (const auto& others : {low, high, far}) this->expect_split(keys, others);
  }
}

}  // namespace
}  // namespace gsort
