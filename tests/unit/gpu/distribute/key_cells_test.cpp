// The cells of a range of keys: in the keys' order, never too many, and single where they say so.
#include "gpu/distribute/key_cells.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "unit/gpu/distribute/expect_ascending_cells.hpp"

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

template <class Key>
class CellsOfNests : public ::testing::Test {};

using NestedKeys = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(CellsOfNests, NestedKeys);

constexpr unsigned kNestedCells = 4096;

// As block_nest_cells makes them.
template <class Key>
NestedCells<Key, kNestedCells> nested_cells_of(const std::vector<Key>& sorted) {
  using Nested = NestedCells<Key, kNestedCells>;
  Nested nested{};
  nested.equal = KeyCells<Key, kNestedCells>::of(sorted.front(), sorted.back());
  std::vector<unsigned> keys_of_nest(Nested::kNests);
  for (const Key key : sorted) ++keys_of_nest[nested.equal.of_key(key) >> Nested::kNestBits];
  const auto count = static_cast<unsigned>(sorted.size());
  const unsigned values = Nested::values_of_nest(nested.equal);
  unsigned first = 0;
  for (unsigned nest = 0; nest < Nested::kNests; ++nest) {
    const unsigned cells = Nested::cells_of(keys_of_nest[nest], count, values);
    nested.nests[nest] = cells << 16 | first;
    if (cells == values) {
      for (unsigned i = first; i < first + cells; ++i) nested.singles[i / 32] |= 1U << i % 32;
    }
    first += cells;
  }
  return nested;
}

TYPED_TEST(CellsOfNests, AscendWithTheKeysOfAnyShape) {
  using Key = TypeParam;
  std::mt19937_64 random(5);
  const std::function<Key()> shapes[] = {
      [&] { return static_cast<Key>(random()); },
      [&] { return static_cast<Key>(static_cast<Key>(random()) >> random() % (8 * sizeof(Key))); },
      [&] { return static_cast<Key>(random() % 5); },
      [&] { return static_cast<Key>(~Key{0} - random() % 40); },
      [&] { return static_cast<Key>(random() % 3 * 0x12345678 + random() % 600); },
      [&] {
        return static_cast<Key>(random() % 50 == 0 ? random() % 99999 : 5000 + random() % 99);
      },
      [&] { return random() % 2 == 0 ? static_cast<Key>(~Key{0}) : static_cast<Key>(random()); }};
  for (const auto& shape : shapes) {
    test::expect_ascending_cells<Key>(shape, {1, 2, 63, 64, 65, 3000, 8192}, kNestedCells,
                                      [](const auto& keys) { return nested_cells_of(keys); });
  }
}

TYPED_TEST(CellsOfNests, DivideClusters) {
  using Key = TypeParam;
  std::vector<Key> keys;
  for (const unsigned cluster : {1U, 2U, 17U}) {
    for (unsigned i = 0; i < 2400; ++i) keys.push_back(static_cast<Key>((cluster << 16) + i % 100));
  }
  std::sort(keys.begin(), keys.end());
  const auto cells = nested_cells_of(keys);
  unsigned singles = 0;
  for (const Key key : keys) singles += cells.is_single(cells.of_key(key)) ? 1U : 0U;
  // Equal cells have 256 values each.
  EXPECT_GE(singles, keys.size() / 10 * 9);
}

}  // namespace
}  // namespace gsort::gpu
