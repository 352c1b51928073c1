// Cells by a sample: in the keys' order, never too many, and single where they say so.
#include "gpu/distribute/sampled_cells.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "unit/gpu/distribute/expect_ascending_cells.hpp"

namespace gsort::gpu {
namespace {

template <class Key>
class CellsOfSamples : public ::testing::Test {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(CellsOfSamples, KeyTypes);

constexpr unsigned kCells = 4096;

template <class Key>
SampledCells<Key, kCells> cells_of(const std::vector<Key>& sorted, Key beyond = 0) {
  constexpr unsigned kSegments = SampledCells<Key, kCells>::kSegments;
  SampledCells<Key, kCells> cells;
  for (unsigned i = 0; i < kSegments; ++i) cells.sample[i] = sorted[i * sorted.size() / kSegments];
  for (unsigned i = 0; i < kSegments; ++i) {
    cells.make_segment(i, sorted.front() - beyond, sorted.back() + beyond);
  }
  return cells;
}

TYPED_TEST(CellsOfSamples, AscendWithTheKeysOfAnyShape) {
  using Key = TypeParam;
  std::mt19937_64 random(5);
  const std::function<Key()> shapes[] = {
      [&] { return static_cast<Key>(random()); },
      [&] { return static_cast<Key>(static_cast<Key>(random()) >> random() % (8 * sizeof(Key))); },
      [&] { return static_cast<Key>(random() % 5); },
      [&] { return static_cast<Key>(~Key{0} - random() % 40); },
      [&] { return static_cast<Key>(random() % 3 * 0x12345678 + random() % 600); },
      [&] { return random() % 2 == 0 ? static_cast<Key>(~Key{0}) : static_cast<Key>(random()); }};
  for (const auto& shape : shapes) {
    test::expect_ascending_cells<Key>(shape, {1, 2, 63, 64, 65, 3000}, kCells,
                                      [](const auto& keys) { return cells_of(keys); });
  }
}

TYPED_TEST(CellsOfSamples, DivideClusters) {
  using Key = TypeParam;
  std::vector<Key> keys;
  for (const unsigned cluster : {1U, 7U, 200U}) {
    for (unsigned i = 0; i < 2000; ++i) keys.push_back(static_cast<Key>((cluster << 24) + i));
  }
  const auto cells = cells_of(keys);
  std::vector<unsigned> counts(kCells);
  for (const Key key : keys) ++counts[cells.of_key(key)];
  EXPECT_LE(*std::max_element(counts.begin(), counts.end()), keys.size() / 64 + 1);
}

TYPED_TEST(CellsOfSamples, GiveAFrequentKeyCellsOfItsOwn) {
  using Key = TypeParam;
  std::vector<Key> keys(1000, Key{1} << 20);
  for (unsigned i = 0; i < 1000; ++i) keys.push_back((Key{1} << 20) + 1 + (i << 18));
  keys.resize(3000, keys.back());
  for (const Key beyond : {Key{0}, Key{12345}}) {
    const auto cells = cells_of(keys, beyond);
    EXPECT_TRUE(cells.is_single(cells.of_key(keys[0])));
    EXPECT_LT(cells.of_key(keys[0]), cells.of_key(keys[1000]));
    EXPECT_TRUE(cells.is_single(cells.of_key(keys.back())));
  }
}

}  // namespace
}  // namespace gsort::gpu
