// Words that stand for pairs, on the CPU: their order is the stable order of pairs, as integers and
// as denormal doubles, and networks and merges that know nothing of pairs sort them stably.
#include "gpu/records/pair_word.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/merge/gather_index.hpp"
#include "gpu/merge/thread_sort.hpp"

namespace gsort::gpu {
namespace {

template <class Key>
class PairWords : public ::testing::Test {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(PairWords, KeyTypes);

// Keys at the borders of every field of a word, and random ones.
template <class Key>
std::vector<Key> telling_keys() {
  constexpr Key kMost = std::numeric_limits<Key>::max();
  std::vector<Key> keys{0, 1, kMost, kMost - 1};
  for (unsigned bit = 0; bit < 8 * sizeof(Key); ++bit) {
    for (const int near : {-1, 0, 1}) {
      keys.push_back(static_cast<Key>((Key{1} << bit) + static_cast<Key>(near)));
    }
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 30; ++i) keys.push_back(static_cast<Key>(random()));
  return keys;
}

// A card runs the code of the greatest architecture that is not greater than its own, of the same
// major number.
TEST(PairWord, ComparesDoublesOfPackagesWhereTheyAreFast) {
  struct Card {
    unsigned architecture;
    bool has_fast_doubles;
  };
  constexpr unsigned kOfPackages[] = {GSORT_ALL_ARCHITECTURES};
  constexpr Card kCards[] = {{80, true},  {86, false},  {87, false},  {89, false}, {90, true},
                             {100, true}, {103, false}, {120, false}, {121, false}};
  for (const Card& card : kCards) {
    unsigned code = 0;
    for (const unsigned architecture : kOfPackages) {
      const bool runs =
          architecture / 10 == card.architecture / 10 && architecture <= card.architecture;
      if (runs) code = std::max(code, architecture);
    }
    EXPECT_GT(code, 0U) << "sm_" << card.architecture << " has no native code";
    EXPECT_EQ(doubles_are_fast(code), card.has_fast_doubles) << "sm_" << card.architecture;
  }
}

constexpr unsigned kIndices[] = {0, 1, 2, 31, 4095, 4096, kMaxPairIndex - 1, kMaxPairIndex};

TYPED_TEST(PairWords, KeepTheirKeyAndIndex) {
  for (const TypeParam key : telling_keys<TypeParam>()) {
    for (const unsigned index : kIndices) {
      const auto word = PairWord<TypeParam>::of(key, index);
      ASSERT_EQ(word.key(), key);
      ASSERT_EQ(word.index(), index);
    }
  }
}

TYPED_TEST(PairWords, AreOrderedByKeyThenIndex) {
  const auto keys = telling_keys<TypeParam>();
  for (const TypeParam a : keys) {
    for (const TypeParam b : keys) {
      for (const unsigned i : kIndices) {
        for (const unsigned j : kIndices) {
          const bool wanted = a != b ? a < b : i < j;
          ASSERT_EQ(PairWord<TypeParam>::of(a, i) < PairWord<TypeParam>::of(b, j), wanted)
              << a << " " << i << ", " << b << " " << j;
        }
      }
    }
  }
}

TYPED_TEST(PairWords, ThatFillHolesGoBehindAllOthers) {
  const auto fill = PairWord<TypeParam>::fill();
  for (const TypeParam key : telling_keys<TypeParam>()) {
    for (unsigned index = 0; index < kMaxPairIndex; ++index) {
      ASSERT_TRUE(PairWord<TypeParam>::of(key, index) < fill);
    }
  }
}

// The upper part of a word, which is compared as a double.
std::uint64_t upper_part(NarrowPairWord word) {
  return word.bits;
}
std::uint64_t upper_part(WidePairWord word) {
  return word.high;
}

TYPED_TEST(PairWords, CompareAndAddAsDenormalsLikeIntegers) {
  std::vector<std::uint64_t> parts{upper_part(PairWord<TypeParam>::fill())};
  for (const TypeParam key : telling_keys<TypeParam>()) {
    for (const unsigned index : kIndices) {
      parts.push_back(upper_part(PairWord<TypeParam>::of(key, index)));
    }
  }
  for (const std::uint64_t a : parts) {
    ASSERT_LT(a, std::uint64_t{1} << 45);
    for (const std::uint64_t b : parts) {
      ASSERT_EQ(as_denormal_double(a) < as_denormal_double(b), a < b);
      ASSERT_EQ(as_denormal_double(a) == as_denormal_double(b), a == b);
      const auto pair = DenormalPair::of(a, b, b < a);
      ASSERT_EQ(pair.least, std::min(a, b));
      ASSERT_EQ(pair.most, std::max(a, b));
    }
  }
}

// `count` words of keys below `distinct` (0: any), index i at place i.
template <class Key>
std::vector<PairWord<Key>> make_words(unsigned count, Key distinct, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<PairWord<Key>> words;
  for (unsigned i = 0; i < count; ++i) {
    const auto key = static_cast<Key>(random());
    const Key shifted = static_cast<Key>(std::numeric_limits<Key>::max() - key % 3);
    words.push_back(PairWord<Key>::of(distinct == 0 ? key : (distinct < 4 ? shifted : key % 4), i));
  }
  return words;
}

template <class Key>
std::vector<std::pair<Key, unsigned>> pairs_of(const std::vector<PairWord<Key>>& words) {
  std::vector<std::pair<Key, unsigned>> pairs;
  for (const auto& word : words) pairs.emplace_back(word.key(), word.index());
  return pairs;
}

template <class Key>
std::vector<std::pair<Key, unsigned>> stably_sorted(const std::vector<PairWord<Key>>& words) {
  auto pairs = pairs_of<Key>(words);
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return pairs;
}

TYPED_TEST(PairWords, AreSortedStablyByTheNetwork) {
  for (const unsigned distinct : {0U, 3U, 4U}) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      auto words = make_words<TypeParam>(16, static_cast<TypeParam>(distinct), seed);
      const auto expected = stably_sorted<TypeParam>(words);
      PairWord<TypeParam> keys[16];
      std::copy(words.begin(), words.end(), keys);
      thread_sort(keys);
      std::copy(keys, keys + 16, words.begin());
      ASSERT_EQ(pairs_of<TypeParam>(words), expected) << distinct << ", seed " << seed;
    }
  }
}

// Words of the lower halves begin `gap` bytes behind those of the upper ones, and have their size.
TEST(HalfPlace, IsTheSamePlaceAmongWordsOfHalfTheSize) {
  constexpr unsigned kOrigin = 17408;
  for (const unsigned gap : {8U, 17544U, 69768U}) {
    const float offset = as_denormal(static_cast<int>(kOrigin + gap - kOrigin / 2));
    for (unsigned word = 0; word < 9000; ++word) {
      ASSERT_EQ(half_place(kOrigin + 8 * word, offset), kOrigin + gap + 4 * word);
    }
  }
}

}  // namespace
}  // namespace gsort::gpu
