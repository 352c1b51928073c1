// The cells of a range of keys: in the keys' order, and never too many.
#include "gpu/distribute/key_cells.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

template <class Key>
class CellsOfKeys : public ::testing::Test {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(CellsOfKeys, KeyTypes);

constexpr unsigned kCells = 4096;

TYPED_TEST(CellsOfKeys, AscendWithTheKeysOfAnyRange) {
  using Key = TypeParam;
  constexpr Key kMost = std::numeric_limits<Key>::max();
  std::mt19937_64 random(7);
  for (unsigned bits = 0; bits <= 8 * sizeof(Key); ++bits) {
    for (const Key least : {Key{0}, static_cast<Key>(random()), kMost}) {
      const Key room = kMost - least;
      const Key width = bits == 0 ? Key{0} : static_cast<Key>(kMost >> (8 * sizeof(Key) - bits));
      const Key range = width < room ? width : room;
      const auto cells = KeyCells<Key, kCells>::of(least, least + range);
      EXPECT_EQ(cells.of_key(least), 0U);
      std::vector<Key> steps{0, range};
      for (unsigned i = 0; i < 1000; ++i) {
        steps.push_back(range == kMost ? static_cast<Key>(random())
                                       : static_cast<Key>(random() % (range + Key{1})));
      }
      std::sort(steps.begin(), steps.end());
      unsigned before = 0;
      for (const Key step : steps) {
        const unsigned cell = cells.of_key(least + step);
        ASSERT_LT(cell, kCells) << bits << " bits";
        ASSERT_LE(before, cell) << bits << " bits, " << step;
        before = cell;
      }
    }
  }
}

TYPED_TEST(CellsOfKeys, AreAboutEquallyWide) {
  using Key = TypeParam;
  constexpr Key kRange = 1000003;
  const auto cells = KeyCells<Key, kCells>::of(5, 5 + kRange);
  std::vector<unsigned> counts(kCells);
  for (Key step = 0; step <= kRange; ++step) ++counts[cells.of_key(5 + step)];
  for (unsigned cell = 0; cell + 2 < kCells; ++cell) {
    EXPECT_GE(counts[cell], kRange / kCells - 1) << cell;
    EXPECT_LE(counts[cell], kRange / kCells + 2) << cell;
  }
}

TYPED_TEST(CellsOfKeys, KeepFewKeysApart) {
  const auto cells = KeyCells<TypeParam, kCells>::of(10, 10 + kCells / 2);
  for (TypeParam key = 10; key < 10 + kCells / 2; ++key) {
    EXPECT_LT(cells.of_key(key), cells.of_key(key + 1));
  }
}

TYPED_TEST(CellsOfKeys, AreSingleInNarrowRangesOnly) {
  using Key = TypeParam;
  for (Key range = 1; range < 3 * kCells; ++range) {
    const auto cells = KeyCells<Key, kCells>::of(7, 7 + range);
    if (range < kCells / 2) {
      EXPECT_TRUE(cells.is_single(0)) << range;
    }
    if (!cells.is_single(0)) continue;
    EXPECT_LT(range, kCells);
    for (Key step = 1; step <= range; step += 1 + step % 5) {
      ASSERT_LT(cells.of_key(7 + step - 1), cells.of_key(7 + step)) << range;
    }
  }
}

}  // namespace
}  // namespace gsort::gpu
