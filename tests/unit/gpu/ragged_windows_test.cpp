// Windows over arrays of different lengths: what falls into one fits a tile, and nothing is lost.
#include "gpu/ragged_windows.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

template <unsigned kRowWords, unsigned kTileRows, unsigned kShortKeys>
void expect_windows_fit(const std::vector<std::uint64_t>& lengths) {
  using Windows = RaggedWindows<kRowWords, kTileRows, kShortKeys>;
  struct Load {
    std::uint64_t arrays = 0;
    std::uint64_t rows = 0;
  };
  std::map<std::uint64_t, Load> loads;
  std::uint64_t offset = 0;
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < lengths.size(); ++i) {
    const std::uint64_t window = Windows::window_of(i, offset);
    ASSERT_GE(window, last);  // arrays of a window are neighbours
    last = window;
    ++loads[window].arrays;
    if (lengths[i] <= kShortKeys) loads[window].rows += (lengths[i] + kRowWords - 1) / kRowWords;
    offset += lengths[i];
  }
  ASSERT_LT(last, Windows::windows(lengths.size(), offset));
  for (const auto& [window, load] : loads) {
    ASSERT_LE(load.rows, kTileRows);
    ASSERT_LE(load.arrays, Windows::kArrays);
  }
}

TEST(RaggedWindows, OfTheExample) {
  using Windows = RaggedWindows<4, 8, 8>;
  EXPECT_EQ(Windows::kArrays, 5U);
  EXPECT_EQ(Windows::window_of(2, 3), 0U);
  EXPECT_EQ(Windows::window_of(3, 9), 1U);
  EXPECT_EQ(Windows::window_of(4, 10), 1U);
}

TEST(RaggedWindows, FitATileForAnyLengths) {
  std::mt19937_64 random(21);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::uint64_t> lengths(random() % 200);
    const std::uint64_t longest = 1 + random() % 12;
    for (auto& length : lengths) {
      length = random() % 3 == 0 ? 0 : random() % longest;
      if (random() % 10 == 0) length = 7 + random() % 3;
      if (random() % 50 == 0) length = random() % 1000;
    }
    expect_windows_fit<4, 8, 8>(lengths);
    expect_windows_fit<4, 32, 16>(lengths);
    if (HasFatalFailure()) return;
  }
}

TEST(RaggedWindows, FitTheRealTilesAtTheirWorst) {
  std::mt19937_64 random(22);
  for (const std::uint64_t often : {0U, 1U, 8U, 9U, 16U, 17U, 32U, 33U, 2017U, 2047U, 2048U}) {
    std::vector<std::uint64_t> lengths(3000);
    for (auto& length : lengths) length = random() % 40 == 0 ? 2040 + random() % 20 : often;
    expect_windows_fit<32, 256, kShortArrayKeys>(lengths);
    expect_windows_fit<16, 512, kShortArrayKeys>(lengths);
    expect_windows_fit<kNarrowRowWords, kNarrowTileRows, kShortArrayKeys>(lengths);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gsort::gpu
