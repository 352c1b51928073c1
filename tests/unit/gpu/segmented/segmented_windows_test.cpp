// Windows over arrays of different lengths: what falls into one fits a tile, and nothing is lost.
#include "gpu/segmented/segmented_windows.hpp"

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

using Low32 = LowWindows<std::uint32_t>;
using Low64 = LowWindows<std::uint64_t>;

template <unsigned kRowWords, unsigned kTileRows, unsigned kShortKeys>
void expect_windows_fit(const std::vector<std::uint64_t>& lengths) {
  using Windows = SegmentedWindows<kRowWords, kTileRows, kShortKeys>;
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

TEST(SegmentedWindows, OfTheExample) {
  using Windows = SegmentedWindows<4, 8, 8>;
  EXPECT_EQ(Windows::kArrays, 5U);
  EXPECT_EQ(Windows::window_of(2, 3), 0U);
  EXPECT_EQ(Windows::window_of(3, 9), 1U);
  EXPECT_EQ(Windows::window_of(4, 10), 1U);
}

TEST(SegmentedWindows, FitATileForAnyLengths) {
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

TEST(SegmentedWindows, FitTheRealTilesAtTheirWorst) {
  std::mt19937_64 random(22);
  for (const std::uint64_t often : {0U, 1U, 8U, 9U, 16U, 17U, 32U, 33U, 2017U, 2047U, 2048U}) {
    std::vector<std::uint64_t> lengths(3000);
    for (auto& length : lengths) length = random() % 40 == 0 ? 2040 + random() % 20 : often;
    expect_windows_fit<32, 256, kSharedTileKeys>(lengths);
    expect_windows_fit<32, Low32::kTileRows, Low32::kShortKeys>(lengths);
    expect_windows_fit<16, 512, kSharedTileKeys>(lengths);
    expect_windows_fit<16, Low64::kTileRows, Low64::kShortKeys>(lengths);
    expect_windows_fit<kNarrowRowWords, kNarrowTileRows, Low32::kShortKeys>(lengths);
    expect_windows_fit<kNarrowRowWords, kNarrowTileRows, Low64::kShortKeys>(lengths);
    if (HasFatalFailure()) return;
  }
}

// Arrays as they are listed: a window's arrays fit a tile, every window but the last has one, and
// there is room for all windows.
template <unsigned kRowWords, unsigned kTileRows, unsigned kShortKeys>
void expect_middle_windows_fit(std::mt19937_64& random) {
  using Middle = MiddleWindows<kRowWords, kTileRows>;
  std::uint64_t row = 0;
  std::uint64_t keys = 0;
  std::uint64_t last_window = 0;
  const std::uint64_t kind = random() % 3;
  const std::uint64_t arrays = 1 + random() % 300;
  for (std::uint64_t i = 0; i < arrays; ++i) {
    const std::uint64_t spread = kSharedTileKeys - kShortKeys;
    const std::uint64_t length =
        kind == 0 ? kShortKeys + 1
                  : (kind == 1 ? kSharedTileKeys : kShortKeys + 1 + random() % spread);
    const std::uint64_t window = Middle::window_of(row);
    ASSERT_LE(window, last_window + 1);
    last_window = window;
    row += Middle::rows_of(length);
    ASSERT_GE(Middle::rows_of(length) * kRowWords, length);
    keys += length;
    ASSERT_LE(row - window * Middle::kRows, kTileRows);
  }
  ASSERT_LT(Middle::window_of(row), Middle::windows(keys, kShortKeys));
}

TEST(MiddleWindows, FitATile) {
  std::mt19937_64 random(24);
  for (int round = 0; round < 300; ++round) {
    expect_middle_windows_fit<32, 256, Low32::kShortKeys>(random);
    expect_middle_windows_fit<16, 512, Low64::kShortKeys>(random);
    if (HasFatalFailure()) return;
  }
}

// Arrays of a window, one of them empty, and one that is not sorted there.
TEST(SegmentedWindows, HaveRowsOfTheArrayThatBeginsLastBeforeThem) {
  const WindowArrays<8, std::uint64_t> arrays{
      {10, 19, 19, 30, 60, 0, 0, 0}, {9, 0, 3, 0, 4}, {0, 3, 3, 4, 4, 5, 5, 5}};
  const std::uint64_t sources[] = {10, 14, 18, 19, 60};
  const unsigned counts[] = {4, 4, 1, 3, 4, 0, 0, 0};
  for (unsigned row = 0; row < 8; ++row) {
    const TileRow<std::uint64_t> place = row_of_window<4>(arrays, row);
    ASSERT_EQ(place.count, counts[row]) << row;
    EXPECT_EQ(place.source, row < 5 ? sources[row] : 0) << row;
    EXPECT_EQ(place.list_row, row < 3 ? row : 0);
  }
}

TEST(TinyKeys, FollowTheMeanAndTheLongest) {
  EXPECT_EQ(tiny_keys_for(1'000, 2'000, 1'000), 4U);
  EXPECT_EQ(tiny_keys_for(1'000, 2'666, 1'000), 4U);
  EXPECT_EQ(tiny_keys_for(1'000, 2'667, 1'000), 8U);
  EXPECT_EQ(tiny_keys_for(1'000, 4'000, 4), 4U) << "none is longer";
  EXPECT_EQ(tiny_keys_for(1'000, 5'333, 1'000), 8U);
  EXPECT_EQ(tiny_keys_for(1'000, 5'334, 1'000), 16U);
  EXPECT_EQ(tiny_keys_for(1'000, 8'000, 8), 8U);
  EXPECT_EQ(tiny_keys_for(1'000, 16'000, 16), 16U);
  EXPECT_EQ(tiny_keys_for(1'000, 16'000, 2'000), 16U);
  EXPECT_EQ(tiny_keys_for(1'000, 16'001, 2'000), 0U) << "few are tiny";
  EXPECT_EQ(tiny_keys_for(1, 1'000'000, 1'000'000), 0U);
}

}  // namespace
}  // namespace gsort::gpu
