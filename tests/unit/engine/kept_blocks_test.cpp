#include "engine/cpu/kept_blocks.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/parallel.hpp"

namespace gsort::cpu {
namespace {

constexpr std::size_t kBlock = 4;

template <class Key>
class KeptBlocksOf : public testing::Test {
 protected:
  using Block = std::vector<Key>;

  bool keep(const Block& block) {
    memory_.push_back(block);
    return kept_.keep(memory_.back());
  }

  // All kept keys, as the stretches give them.
  std::vector<Key> keys() {
    kept_.finish();
    std::vector<Key> all;
    while (all.size() < kept_.count()) {
      const std::span<const Key> stretch = kept_.stretch(all.size(), kept_.count());
      all.insert(all.end(), stretch.begin(), stretch.end());
    }
    return all;
  }

  KeptBlocks<Key> kept_{kBlock};
  std::deque<Block> memory_;
};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(KeptBlocksOf, Widths);

TYPED_TEST(KeptBlocksOf, PutBlocksThatAscendInOrderWhereverTheyWere) {
  EXPECT_TRUE(this->keep({20, 21, 22, 23}));
  EXPECT_TRUE(this->keep({0, 1, 2, 3}));
  EXPECT_TRUE(this->keep({10, 10, 10, 19}));
  EXPECT_EQ(this->keys(), (std::vector<TypeParam>{0, 1, 2, 3, 10, 10, 10, 19, 20, 21, 22, 23}));
}

TYPED_TEST(KeptBlocksOf, TurnBlocksThatDescendRound) {
  EXPECT_TRUE(this->keep({9, 8, 8, 6}));
  EXPECT_TRUE(this->keep({5, 4, 3, 2}));
  EXPECT_EQ(this->keys(), (std::vector<TypeParam>{2, 3, 4, 5, 6, 8, 8, 9}));
}

TYPED_TEST(KeptBlocksOf, MapTheRawKeysThatTheyKeepAndNoOthers) {
  KeyMap<TypeParam> map;
  map.flip = KeyMap<TypeParam>::kSignBit;
  KeptBlocks<TypeParam> kept(kBlock, map);
  const auto negative = [](int key) { return static_cast<TypeParam>(key); };
  std::vector<TypeParam> across = {negative(-2), negative(-1), 0, 7};
  std::vector<TypeParam> below = {negative(-3), negative(-5), negative(-5), negative(-9)};
  std::vector<TypeParam> inside = {negative(-1), 0, 1, 2};
  std::vector<TypeParam> mixed = {0, negative(-1), 1, 2};
  const std::vector<TypeParam> raw_inside = inside;
  const std::vector<TypeParam> raw_mixed = mixed;
  EXPECT_TRUE(kept.keep(across));
  EXPECT_TRUE(kept.keep(below));
  EXPECT_FALSE(kept.keep(inside));
  EXPECT_FALSE(kept.keep(mixed));
  EXPECT_EQ(inside, raw_inside);
  EXPECT_EQ(mixed, raw_mixed);
  kept.finish();
  ASSERT_EQ(kept.count(), 2 * kBlock);
  EXPECT_EQ(kept.stretch(0, 1).front(), map.to_ordered(negative(-9)));
  EXPECT_EQ(kept.stretch(3, 4).front(), map.to_ordered(negative(-3)));
  EXPECT_EQ(kept.stretch(4, 5).front(), map.to_ordered(negative(-2)));
  EXPECT_EQ(kept.stretch(7, 8).front(), map.to_ordered(7));
}

TYPED_TEST(KeptBlocksOf, RefuseABlockThatIsNotInOrder) {
  EXPECT_FALSE(this->keep({1, 2, 4, 3}));
  EXPECT_FALSE(this->keep({4, 3, 2, 5}));
  EXPECT_FALSE(this->keep({1, 0, 0, 1}));
  EXPECT_EQ(this->keys(), std::vector<TypeParam>());
}

TYPED_TEST(KeptBlocksOf, RefuseABlockThatOverlapsAnother) {
  EXPECT_TRUE(this->keep({10, 11, 12, 20}));
  for (const auto& overlapping :
       {std::vector<TypeParam>{9, 9, 9, 11}, std::vector<TypeParam>{19, 30, 30, 30},
        std::vector<TypeParam>{13, 13, 13, 13}, std::vector<TypeParam>{0, 1, 2, 100},
        std::vector<TypeParam>{10, 10, 10, 20}}) {
    EXPECT_FALSE(this->keep(overlapping)) << testing::PrintToString(overlapping);
  }
}

TYPED_TEST(KeptBlocksOf, MayMeetInOneKeyInAnyOrderOfArrival) {
  std::vector<std::vector<TypeParam>> blocks = {{1, 1, 1, 5}, {5, 5, 5, 5}, {5, 5, 5, 5},
                                                {5, 6, 7, 8}, {8, 8, 8, 8}, {8, 8, 8, 8}};
  std::vector<TypeParam> wanted;
  for (const auto& block : blocks) wanted.insert(wanted.end(), block.begin(), block.end());
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    std::ranges::shuffle(blocks, random);
    for (const auto& block : blocks) EXPECT_TRUE(this->keep(block));
    EXPECT_EQ(this->keys(), wanted);
    this->kept_.clear();
  }
}

TYPED_TEST(KeptBlocksOf, CountTheKeysBelowAndUpToAKey) {
  constexpr TypeParam kMost = std::numeric_limits<TypeParam>::max();
  EXPECT_TRUE(this->keep({3, 3, 5, 8}));
  EXPECT_TRUE(this->keep({8, 8, 8, 8}));
  EXPECT_TRUE(this->keep({9, 20, kMost, kMost}));
  const std::vector<TypeParam> keys = this->keys();
  for (const TypeParam key : std::vector<TypeParam>{0, 2, 3, 4, 5, 7, 8, 9, 10, 20, 21, kMost}) {
    EXPECT_EQ(this->kept_.below(key),
              static_cast<std::uint64_t>(std::ranges::lower_bound(keys, key) - keys.begin()))
        << key;
    EXPECT_EQ(this->kept_.up_to(key),
              static_cast<std::uint64_t>(std::ranges::upper_bound(keys, key) - keys.begin()))
        << key;
  }
}

TYPED_TEST(KeptBlocksOf, GiveStretchesThatEndWithTheirBlock) {
  EXPECT_TRUE(this->keep({0, 1, 2, 3}));
  EXPECT_TRUE(this->keep({4, 5, 6, 7}));
  this->kept_.finish();
  EXPECT_EQ(this->kept_.stretch(1, 3).size(), 2U);
  EXPECT_EQ(this->kept_.stretch(1, 3).front(), TypeParam{1});
  EXPECT_EQ(this->kept_.stretch(3, 8).size(), 1U);
  EXPECT_EQ(this->kept_.stretch(4, 8).size(), 4U);
}

TYPED_TEST(KeptBlocksOf, AreEmptyAfterTheyWereCleared) {
  EXPECT_TRUE(this->keep({0, 1, 2, 3}));
  this->kept_.finish();
  this->kept_.clear();
  EXPECT_TRUE(this->keep({1, 2, 3, 4}));
  EXPECT_EQ(this->keys(), (std::vector<TypeParam>{1, 2, 3, 4}));
}

// If blocks overlap each other, the threads decide which one is kept, but never two.
TYPED_TEST(KeptBlocksOf, NeverOverlapWhenManyThreadsKeep) {
  constexpr std::size_t kThreads = 4;
  std::vector<std::vector<TypeParam>> blocks;
  std::mt19937_64 random(11);
  for (std::size_t i = 0; i < kThreads * 500; ++i) {
    const auto first = static_cast<TypeParam>(random() % 10'000);
    blocks.push_back({first, first, first, static_cast<TypeParam>(first + random() % 8)});
  }
  run_workers(kThreads, [&](unsigned thread) {
    for (std::size_t i = thread; i < blocks.size(); i += kThreads) {
      (void)this->kept_.keep(blocks[i]);
    }
  });
  const std::vector<TypeParam> keys = this->keys();
  EXPECT_GE(keys.size(), kBlock * 500);
  EXPECT_TRUE(std::ranges::is_sorted(keys));
}

}  // namespace
}  // namespace gsort::cpu
