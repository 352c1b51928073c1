// The table that finds a key's bin, against std::upper_bound over its splitters.
#include "gpu/distribute/bin_table.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

template <class Key>
class BinTables : public ::testing::Test {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(BinTables, KeyTypes);

// Splitters as the kernel makes them of chosen keys, and their table.
template <class Key>
struct MadeTable {
  std::vector<Key> splitters;
  std::vector<std::uint32_t> cells;
  unsigned cell_bits = 0;
  BinHead<Key> head{};

  MadeTable(const std::vector<Key>& chosen, Key most, unsigned cell_count) : splitters(chosen) {
    for (std::size_t i = 1; i < chosen.size(); ++i) {
      splitters[i] = std::min(splitter_of(chosen[i - 1], chosen[i], most), most);
    }
    splitters.erase(std::unique(splitters.begin(), splitters.end()), splitters.end());
    while (1U << cell_bits < cell_count) ++cell_bits;
    head.least = splitters[0];
    head.most = most;
    const auto bins = static_cast<unsigned>(splitters.size());
    set_cells(splitters.data(), bins, cell_bits, head);
    std::vector<Key> rounded = splitters;
    for (unsigned bin = 1; bin < bins; ++bin) rounded[bin] = rounded_splitter(table(), head, bin);
    splitters = rounded;
    // As block_write_cells does.
    cells.resize(spread_place(cell_count));
    const BinTable<Key> bare = table();
    for (unsigned cell = 0; cell < cell_count; ++cell) {
      const CellEntry entry = cell_entry(bare, head, cell);
      cells[spread_place(cell)] = entry.bits;
      head.steps = std::max(head.steps, entry.steps);
    }
  }

  [[nodiscard]] BinTable<Key> table() const { return {splitters.data(), cells.data(), cell_bits}; }
};

template <class Key>
void expect_right_bins(std::vector<Key> chosen, Key most, const std::vector<Key>& more_keys) {
  std::sort(chosen.begin() + 1, chosen.end());
  const MadeTable<Key> made(chosen, most, static_cast<unsigned>(4 * chosen.size()));
  // Strictly: rounding leaves no two equal.
  ASSERT_EQ(
      std::adjacent_find(made.splitters.begin(), made.splitters.end(), std::greater_equal<>()),
      made.splitters.end());
  ASSERT_EQ(made.splitters[0], made.head.least);
  const auto expect_bin = [&](Key key) {
    if (key < made.head.least || key > most) return;
    const auto above = std::upper_bound(made.splitters.begin(), made.splitters.end(), key);
    ASSERT_EQ(made.table().bin_of(made.head, key),
              static_cast<unsigned>(above - made.splitters.begin()) - 1U)
        << key;
  };
  for (const Key splitter : made.splitters) {
    for (const int step : {-2, -1, 0, 1, 2}) expect_bin(splitter + static_cast<Key>(step));
  }
  for (unsigned cell = 0; cell <= 4 * chosen.size(); ++cell) {
    // Where the cell begins: as many keys from the origin as it has positions before it.
    const unsigned above = made.cell_bits + made.head.shift;
    const unsigned bits = 8 * sizeof(Key);
    const Key skipped = above < bits ? Key{cell} << (bits - above) : Key{cell} >> (above - bits);
    const auto edge = static_cast<Key>(made.head.origin + skipped);
    for (const int step : {-1, 0, 1}) expect_bin(edge + static_cast<Key>(step));
  }
  for (const Key key : more_keys) expect_bin(key);
  expect_bin(most);
}

TYPED_TEST(BinTables, FindTheBinOfEveryKeyOfASmallRange) {
  constexpr auto kGreatest = static_cast<TypeParam>(~TypeParam{0});
  for (const TypeParam least : {TypeParam{0}, TypeParam{1000}, TypeParam{kGreatest - 9}}) {
    std::vector<TypeParam> keys;
    for (TypeParam i = 0; i < 10; ++i) keys.push_back(least + i);
    // Any four splitters of ten keys, the first one being the least.
    for (unsigned choice = 0; choice < 1000; ++choice) {
      expect_right_bins<TypeParam>({least, static_cast<TypeParam>(least + choice % 10),
                                    static_cast<TypeParam>(least + choice / 10 % 10),
                                    static_cast<TypeParam>(least + choice / 100)},
                                   least + 9, keys);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(BinTables, FindTheBinWhereverTheSplittersLie) {
  std::mt19937_64 random(5);
  for (unsigned round = 0; round < 300; ++round) {
    const std::size_t bins = std::size_t{2} << round % 9;
    std::vector<TypeParam> chosen(bins);
    std::vector<TypeParam> keys(500);
    // Uniform, crowded near one end, or of few values.
    const unsigned shift = round / 9 % 4 * 7;
    for (auto* const list : {&chosen, &keys}) {
      for (TypeParam& key : *list) {
        key = static_cast<TypeParam>(random()) >> random() % (shift + 1);
        if (round % 5 == 0) key %= 50;
        if (round % 7 == 0) key = static_cast<TypeParam>(~key);
      }
    }
    chosen[0] = 0;
    expect_right_bins<TypeParam>(chosen, static_cast<TypeParam>(~TypeParam{0}), keys);
    if (this->HasFatalFailure()) return;
  }
}

TEST(BinTable, RoundsNoSplitterDownToTheOneBefore) {
  // The cells begin at 0, the second splitter is in the first slot, and so is the first one.
  expect_right_bins<std::uint64_t>({1000, 1020, std::uint64_t{1} << 50, std::uint64_t{1} << 51},
                                   std::uint64_t{1} << 52,
                                   {1010, 1019, 1020, 1021, 2000, 1U << 21});
}

TYPED_TEST(BinTables, SearchFewKeysOfAnEvenDistribution) {
  std::mt19937_64 random(6);
  std::vector<TypeParam> chosen(kMostBins);
  for (TypeParam& key : chosen) key = static_cast<TypeParam>(random());
  chosen[0] = 0;
  std::sort(chosen.begin(), chosen.end());
  const MadeTable<TypeParam> made(chosen, static_cast<TypeParam>(~TypeParam{0}), kMostCells);
  unsigned searched = 0;
  for (unsigned i = 0; i < 10'000; ++i) {
    const std::uint32_t found = made.table().find(made.head, static_cast<TypeParam>(random()));
    if ((found & kSearched) != 0) ++searched;
  }
  // Random splitters are further from even than those of a sample. Without rounding, all keys of
  // 8 bytes in cells with a splitter are searched: more than a tenth.
  EXPECT_LT(searched, 500U);
}

// Keys of distributions that leave most equal cells of their range empty.
template <class Key>
struct UnevenKeys {
  static constexpr unsigned kBits = 8 * sizeof(Key);
  std::mt19937_64 random{7};

  // As a float or a double of its width, ordered.
  Key ordered(double number) {
    Key bits = 0;
    if constexpr (sizeof(Key) == 4) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
    } else {
      bits = std::bit_cast<std::uint64_t>(number);
    }
    const Key sign = Key{1} << (kBits - 1);
    return (bits & sign) != 0 ? static_cast<Key>(~bits) : static_cast<Key>(bits | sign);
  }
  Key make(unsigned kind) {
    switch (kind) {
      case 0:
        return ordered(std::normal_distribution<>()(random));
      case 1:
        return ordered(std::exponential_distribution<>()(random));
      case 2:
        return ordered(std::uniform_real_distribution<>(-1, 1)(random));
      case 3:  // times of a burst, and one in a hundred far from them
        return random() % 100 == 0 ? static_cast<Key>(random())
                                   : static_cast<Key>(Key{1} << (kBits - 2)) +
                                         static_cast<Key>(random() % 1'000'000);
      default:
        return static_cast<Key>(random()) >> random() % kBits;
    }
  }
};

TYPED_TEST(BinTables, FindTheBinOfEveryKeyOfAnUnevenDistribution) {
  for (unsigned kind = 0; kind < 5; ++kind) {
    UnevenKeys<TypeParam> uneven;
    // A splitter is a quantile of a sample, as in the first distribution.
    std::vector<TypeParam> sample(64 * kMostBins);
    for (TypeParam& key : sample) key = uneven.make(kind);
    std::sort(sample.begin(), sample.end());
    std::vector<TypeParam> chosen(kMostBins);
    for (std::size_t i = 1; i < kMostBins; ++i) chosen[i] = sample[64 * i];
    const auto most = static_cast<TypeParam>(~TypeParam{0});
    const MadeTable<TypeParam> made(chosen, most, kMostCells);
    for (unsigned i = 0; i < 10'000; ++i) {
      const TypeParam key = uneven.make(kind);
      const auto above = std::upper_bound(made.splitters.begin(), made.splitters.end(), key);
      ASSERT_EQ(made.table().bin_of(made.head, key),
                static_cast<unsigned>(above - made.splitters.begin()) - 1U);
    }
    EXPECT_GE(made.head.steps, 2U) << kind;  // otherwise, it tests no bisection
    EXPECT_LE(made.head.steps, kMostBinBits) << kind;
  }
}

TYPED_TEST(BinTables, GiveAKeyThatIsChosenTwiceABinOfItsOwn) {
  constexpr auto kGreatest = static_cast<TypeParam>(~TypeParam{0});
  for (const TypeParam often : {TypeParam{0}, TypeParam{20}, TypeParam{kGreatest - 1}, kGreatest}) {
    const auto before = static_cast<TypeParam>(often / 2);
    const MadeTable<TypeParam> made(
        {0, before, often, often, often, kGreatest, kGreatest, kGreatest}, kGreatest, 64);
    const BinTable<TypeParam> table = made.table();
    EXPECT_TRUE(table.is_single_bin(made.head, table.bin_of(made.head, often))) << often;
    EXPECT_TRUE(table.is_single_bin(made.head, table.bin_of(made.head, kGreatest))) << often;
    if (often > 2 && often < kGreatest) {
      EXPECT_FALSE(table.is_single_bin(made.head, table.bin_of(made.head, 1))) << often;
    }
  }
}

TEST(BinTree, FindsTheLastNumberThatIsNotAboveAKey) {
  for (unsigned bits = 1; bits <= kMostBinBits; ++bits) {
    const unsigned count = 1U << bits;
    std::vector<unsigned> nodes(count, ~0U);
    for (unsigned i = 1; i < count; ++i) nodes[tree_node_of(i, bits)] = 3 * i;
    for (unsigned key = 0; key < 3 * count + 3; ++key) {
      unsigned node = 1;
      for (unsigned step = 0; step < bits; ++step) node = 2 * node + (nodes[node] <= key ? 1 : 0);
      ASSERT_EQ(node - count, std::min(key / 3, count - 1)) << key << " of " << count;
    }
  }
}

}  // namespace
}  // namespace gsort::gpu
