// The index arithmetic of the conflict-free gather: a tile is merged on the CPU exactly as a thread
// block does it, and the banks that a warp reads together are counted.
#include "gpu/merge/gather_index.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "element/co_rank.hpp"
#include "gpu/merge/thread_sort.hpp"

namespace gsort::gpu {
namespace {

using Keys = std::vector<std::uint32_t>;

// A ascending, B descending behind it.
Keys words_of(const Keys& a, const Keys& b) {
  Keys words = a;
  words.insert(words.end(), b.rbegin(), b.rend());
  return words;
}

template <unsigned kRowWords>
struct TileInMemory {
  const Keys& words;
  [[nodiscard]] unsigned place_of(unsigned row) const { return row * kRowWords; }
  [[nodiscard]] std::uint32_t read(unsigned place, unsigned residue) const {
    return words[place + residue];
  }
};

template <unsigned kRowWords>
std::vector<unsigned> co_ranks_of(const Keys& words, unsigned a_words) {
  const auto rows = static_cast<unsigned>(words.size()) / kRowWords;
  Keys with_row_behind = words;  // it may be read, and must not matter
  with_row_behind.resize(words.size() + kRowWords, 0xdeadbeefU);
  const TileInMemory<kRowWords> tile{with_row_behind};
  std::vector<unsigned> ranks;
  for (unsigned row = 0; row < rows; ++row) {
    ranks.push_back(row_co_rank<kRowWords>(row, rows, a_words, tile));
  }
  ranks.push_back(a_words);
  return ranks;
}

// The threads of a warp meet in no bank in any round if the region's rows are whole warps, else two
// at most.
template <unsigned kRowWords>
void expect_few_conflicts(const std::vector<GatherRows>& gathers) {
  constexpr unsigned kTogether = kRowWords;  // 8-byte words are read by half-warps
  const unsigned allowed = gathers.size() % kTogether == 0 ? 1 : 2;
  for (std::size_t first = 0; first < gathers.size(); first += kTogether) {
    for (unsigned residue = 0; residue < kRowWords; ++residue) {
      std::vector<unsigned> bank_reads(kTogether, 0);
      const std::size_t end = std::min<std::size_t>(first + kTogether, gathers.size());
      for (std::size_t t = first; t < end; ++t) {
        ++bank_reads[(gathers[t].row_of(residue) + residue) % kTogether];
      }
      ASSERT_LE(*std::max_element(bank_reads.begin(), bank_reads.end()), allowed)
          << "residue " << residue;
    }
  }
}

template <unsigned kRowWords>
void expect_merges(Keys a, Keys b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const Keys words = words_of(a, b);
  const auto rows = static_cast<unsigned>(words.size()) / kRowWords;
  const auto a_words = static_cast<unsigned>(a.size());
  const std::vector<unsigned> ranks = co_ranks_of<kRowWords>(words, a_words);
  std::vector<GatherRows> gathers;
  std::multiset<unsigned> read_words;
  Keys merged;
  for (unsigned row = 0; row < rows; ++row) {
    ASSERT_EQ(ranks[row],
              co_rank<unsigned>(row * kRowWords, a, a_words, b, static_cast<unsigned>(b.size())));
    const GatherRows gather = gather_rows<kRowWords>(row, rows, ranks[row], ranks[row + 1]);
    gathers.push_back(gather);
    std::uint32_t keys[kRowWords];
    const GatherOffsets offsets = gather_offsets(gather, 132, 4096);
    for (unsigned j = 0; j < kRowWords; ++j) {
      const unsigned word = gather.row_of(j) * kRowWords + j;
      ASSERT_EQ(offsets.row_offset(static_cast<float>(j)), gather.row_of(j) * 132 + 4096);
      ASSERT_LT(word, words.size());
      read_words.insert(word);
      keys[j] = words[word];
    }
    thread_sort_bitonic(keys);
    merged.insert(merged.end(), keys, keys + kRowWords);
  }
  Keys expected(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin());
  ASSERT_EQ(merged, expected);
  // Every word is read by one thread.
  ASSERT_EQ(std::set<unsigned>(read_words.begin(), read_words.end()).size(), words.size());
  expect_few_conflicts<kRowWords>(gathers);
}

template <unsigned kRowWords>
void expect_merges_every_split(unsigned rows, std::uint32_t largest, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const unsigned words = rows * kRowWords;
  for (unsigned a_words = 0; a_words <= words; ++a_words) {
    Keys a(a_words);
    Keys b(words - a_words);
    for (auto& key : a) key = static_cast<std::uint32_t>(random() % (std::uint64_t{largest} + 1));
    for (auto& key : b) key = static_cast<std::uint32_t>(random() % (std::uint64_t{largest} + 1));
    expect_merges<kRowWords>(a, b);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(GatherIndex, MergesTheExampleOfItsEssay) {
  expect_merges<4>({1, 4, 5, 7, 9}, {2, 3, 6});
}

TEST(GatherIndex, MergesEverySplitOfDistinctKeys) {
  expect_merges_every_split<4>(5, 0xffffffffU, 1);
  expect_merges_every_split<16>(20, 0xffffffffU, 2);
  expect_merges_every_split<16>(32, 0xffffffffU, 3);
  expect_merges_every_split<32>(33, 0xffffffffU, 4);
  expect_merges_every_split<32>(64, 0xffffffffU, 5);
}

TEST(GatherIndex, MergesEverySplitOfKeysWithTies) {
  for (const std::uint32_t largest : {0U, 1U, 2U, 7U}) {
    expect_merges_every_split<4>(7, largest, largest);
    expect_merges_every_split<16>(6, largest, largest);
    expect_merges_every_split<32>(3, largest, largest);
    expect_merges_every_split<32>(32, largest, largest);
  }
}

TEST(GatherIndex, MergesListsThatDoNotInterleave) {
  Keys low(100);
  Keys high(156);
  for (unsigned i = 0; i < 100; ++i) low[i] = i;
  for (unsigned i = 0; i < 156; ++i) high[i] = 1000 + i;
  expect_merges<32>(low, high);
  expect_merges<32>(high, low);
  expect_merges<32>({}, Keys(64, 5));
  expect_merges<32>(Keys(64, 5), {});
}

}  // namespace
}  // namespace gsort::gpu
