// The guided search against the plain one: the same answer for all keys, and fewer reads where keys
// are spread evenly.
#include "gpu/merge/guided_co_rank.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "element/co_rank.hpp"

namespace gsort::gpu {
namespace {

template <class Key>
void expect_the_plain_answer(const std::vector<Key>& a, const std::vector<Key>& b,
                             std::uint64_t d) {
  const auto expected = co_rank<std::uint64_t>(d, a.data(), a.size(), b.data(), b.size());
  ASSERT_EQ(guided_co_rank(d, a.data(), a.size(), b.data(), b.size()), expected) << "d = " << d;
}

TEST(GuidedCoRank, IsRightForAllSmallArraysWithTies) {
  constexpr unsigned kMost = 5;
  std::vector<std::vector<std::uint32_t>> arrays;
  for (unsigned length = 0; length <= kMost; ++length) {
    for (unsigned code = 0; code < 1U << (2 * length); ++code) {
      std::vector<std::uint32_t> keys;
      for (unsigned i = 0; i < length; ++i) keys.push_back(code >> (2 * i) & 3U);
      if (std::ranges::is_sorted(keys)) arrays.push_back(keys);
    }
  }
  for (const auto& a : arrays) {
    for (const auto& b : arrays) {
      for (std::uint64_t d = 0; d <= a.size() + b.size(); ++d) expect_the_plain_answer(a, b, d);
    }
  }
}

template <class Key>
class GuidedCoRankOf : public testing::Test {};
using KeyTypes = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(GuidedCoRankOf, KeyTypes);

// The distributions of random keys: even, skewed to either end, few, equal, at both ends of the
// range.
template <class Key>
using Shape = Key (*)(Key);
template <class Key>
constexpr Shape<Key> kShapes[] = {
    [](Key key) { return key; },
    [](Key key) { return static_cast<Key>(key >> (key % (8 * sizeof(Key)))); },
    [](Key key) { return static_cast<Key>(~(key >> (key % (8 * sizeof(Key))))); },
    [](Key key) { return static_cast<Key>(key % 7); },
    [](Key) { return Key{5}; },
    [](Key key) { return key % 2 == 0 ? Key{0} : std::numeric_limits<Key>::max(); },
    [](Key key) { return static_cast<Key>(key % 3 == 0 ? key : key / 1000 * 1000); },
    [](Key) { return std::numeric_limits<Key>::max(); },
};

TYPED_TEST(GuidedCoRankOf, IsRightForEveryShapeOfTwoArrays) {
  using Key = TypeParam;
  std::mt19937_64 random(1);
  const auto generated = [&](std::size_t count, Shape<Key> shape) {
    std::vector<Key> keys(count);
    for (Key& key : keys) key = shape(static_cast<Key>(random()));
    std::ranges::sort(keys);
    return keys;
  };
  for (const Shape<Key> of_a : kShapes<Key>) {
    for (const Shape<Key> of_b : kShapes<Key>) {
      for (const std::size_t a_count : {0U, 1U, 33U, 1'000U, 30'000U}) {
        for (const std::size_t b_count : {0U, 2U, 40U, 30'000U}) {
          const auto a = generated(a_count, of_a);
          const auto b = generated(b_count, of_b);
          const std::uint64_t step = 1 + (a_count + b_count) / 60;
          for (std::uint64_t d = 0; d <= a_count + b_count; d += step) {
            expect_the_plain_answer(a, b, d);
          }
          expect_the_plain_answer(a, b, a_count + b_count);
        }
      }
    }
  }
}

TYPED_TEST(GuidedCoRankOf, IsRightWhereOneArrayLiesBeforeTheOther) {
  using Key = TypeParam;
  std::vector<Key> low(10'000);
  std::vector<Key> high(7'777);
  for (std::size_t i = 0; i < low.size(); ++i) low[i] = static_cast<Key>(i);
  for (std::size_t i = 0; i < high.size(); ++i) high[i] = static_cast<Key>(~Key{0} - 20'000 + i);
  for (std::uint64_t d = 0; d <= low.size() + high.size(); d += 101) {
    expect_the_plain_answer(low, high, d);
    expect_the_plain_answer(high, low, d);
  }
}

// Reads, in lines of 32 bytes that have not been read before by the same search.
template <class Key>
class CountedReads {
 public:
  CountedReads(const std::vector<Key>& keys, std::vector<std::uint64_t>& lines)
      : keys_(keys), lines_(lines) {}
  Key operator[](std::uint64_t i) const {
    lines_.push_back(reinterpret_cast<std::uintptr_t>(keys_.data() + i) / 32);
    return keys_[i];
  }

 private:
  const std::vector<Key>& keys_;
  std::vector<std::uint64_t>& lines_;
};

// How many lines the two searches read for all tiles of 8,192 keys of two such arrays.
struct Lines {
  std::uint64_t guided = 0;
  std::uint64_t plain = 0;
};

template <class Key>
Lines lines_read(Shape<Key> shape) {
  constexpr std::size_t kCount = std::size_t{1} << 21;
  constexpr std::uint64_t kTile = 8192;
  std::mt19937_64 random(7);
  std::vector<Key> a(kCount);
  std::vector<Key> b(kCount);
  for (auto* const keys : {&a, &b}) {
    for (Key& key : *keys) key = shape(static_cast<Key>(random()));
    std::ranges::sort(*keys);
  }
  std::vector<std::uint64_t> lines;
  const CountedReads<Key> counted_a(a, lines);
  const CountedReads<Key> counted_b(b, lines);
  const auto distinct_lines = [&] {
    std::ranges::sort(lines);
    const auto end = std::unique(lines.begin(), lines.end());
    const auto count = static_cast<std::uint64_t>(end - lines.begin());
    lines.clear();
    return count;
  };
  Lines read;
  for (std::uint64_t d = kTile; d < 2 * kCount; d += kTile) {
    const std::uint64_t found = guided_co_rank(d, counted_a, kCount, counted_b, kCount);
    read.guided += distinct_lines();
    const auto expected = co_rank<std::uint64_t>(d, counted_a, kCount, counted_b, kCount);
    read.plain += distinct_lines();
    EXPECT_EQ(found, expected);
  }
  return read;
}

TYPED_TEST(GuidedCoRankOf, ReadsFewLinesOfEvenKeysAndHardlyMoreOfOthers) {
  using Key = TypeParam;
  const Lines even = lines_read<Key>(kShapes<Key>[0]);
  EXPECT_LT(even.guided, even.plain * 4 / 10);
  for (const Shape<Key> shape : kShapes<Key>) {
    const Lines any = lines_read<Key>(shape);
    EXPECT_LT(any.guided, any.plain * 5 / 4);
  }
}

}  // namespace
}  // namespace gsort::gpu
