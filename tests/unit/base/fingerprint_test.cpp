#include "base/fingerprint.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/key.hpp"

namespace gsort {
namespace {

template <class Key>
Fingerprint of(const std::vector<Key>& keys) {
  return fingerprint_of(std::as_bytes(std::span(keys)), sizeof(Key));
}

// The definition, key by key.
template <class Key>
Fingerprint defined(const Key* keys, std::size_t count) {
  Fingerprint total{count, 0, 0};
  for (std::size_t i = 0; i < count; ++i) {
    fingerprint::add_key(keys[i], total.sum, total.product);
  }
  return total;
}

template <class Key>
std::vector<Key> random_keys(std::size_t count, std::uint64_t seed = 5) {
  std::mt19937_64 random(seed);
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>(random());
  return keys;
}

template <class Key>
class FingerprintOf : public testing::Test {};
using Widths = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(FingerprintOf, Widths);

TYPED_TEST(FingerprintOf, EqualsItsDefinitionAtEveryLengthAndMisalignment) {
  const auto keys = random_keys<TypeParam>(264);
  for (std::size_t skip = 0; skip < 64 / sizeof(TypeParam); ++skip) {
    for (std::size_t count = 0; count <= 200; ++count) {
      const std::span<const TypeParam> part(keys.data() + skip, count);
      ASSERT_EQ(fingerprint_of(std::as_bytes(part), sizeof(TypeParam)), defined(part.data(), count))
          << count << " keys, misaligned by " << skip;
    }
  }
}

TYPED_TEST(FingerprintOf, DoesNotDependOnTheOrder) {
  auto keys = random_keys<TypeParam>(5'000);
  const Fingerprint before = of(keys);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(of(keys), before);
  std::reverse(keys.begin(), keys.end());
  EXPECT_EQ(of(keys), before);
}

TYPED_TEST(FingerprintOf, AddsUpOverPieces) {
  const auto keys = random_keys<TypeParam>(1'000);
  for (const std::size_t cut : {0U, 1U, 7U, 500U, 999U, 1000U}) {
    const auto raw = std::as_bytes(std::span(keys));
    Fingerprint sum = fingerprint_of(raw.first(cut * sizeof(TypeParam)), sizeof(TypeParam));
    sum += fingerprint_of(raw.subspan(cut * sizeof(TypeParam)), sizeof(TypeParam));
    EXPECT_EQ(sum, of(keys));
  }
}

// Errors that count and sum of the keys do not see.
TYPED_TEST(FingerprintOf, ChangesWithEveryError) {
  const auto keys = random_keys<TypeParam>(1'000);
  const Fingerprint intact = of(keys);
  const auto expect_noticed = [&](const char* what, const auto& damage) {
    auto damaged = keys;
    damage(damaged);
    EXPECT_NE(of(damaged), intact) << what;
  };
  expect_noticed("lost", [](auto& k) { k.pop_back(); });
  expect_noticed("doubled", [](auto& k) { k.push_back(k[3]); });
  expect_noticed("one lost, another doubled", [](auto& k) { k[10] = k[k[10] == k[20] ? 30 : 20]; });
  for (unsigned bit = 0; bit < 8 * sizeof(TypeParam); ++bit) {
    expect_noticed("one bit", [&](auto& k) {
      k[500] = static_cast<TypeParam>(k[500] ^ (TypeParam{1} << bit));
    });
  }
}

TYPED_TEST(FingerprintOf, ChangesWithErrorsThatCancelInASum) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2'000; ++round) {
    const auto x = static_cast<TypeParam>(random());
    const auto y = static_cast<TypeParam>(random());
    const auto x_up = static_cast<TypeParam>(x + 1);
    const auto y_down = static_cast<TypeParam>(y - 1);
    if (x_up == y) continue;  // the same keys, exchanged
    ASSERT_NE(of<TypeParam>({x, y}), of<TypeParam>({x_up, y_down})) << +x << ' ' << +y;
  }
}

TYPED_TEST(FingerprintOf, ChangesWhenTwoKeysExchangeABit) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 2'000; ++round) {
    const auto bit =
        static_cast<TypeParam>(std::uint64_t{1} << (random() % (8 * sizeof(TypeParam))));
    const auto x = static_cast<TypeParam>(random() | bit);
    const auto y = static_cast<TypeParam>(random() & static_cast<TypeParam>(~bit));
    const auto x_without = static_cast<TypeParam>(x ^ bit);
    const auto y_with = static_cast<TypeParam>(y | bit);
    if (x_without == y) continue;
    ASSERT_NE(of<TypeParam>({x, y}), of<TypeParam>({x_without, y_with})) << +x << ' ' << +y;
  }
}

TYPED_TEST(FingerprintOf, TellsPairsOfEqualKeysApart) {
  EXPECT_NE(of<TypeParam>({1, 1}), of<TypeParam>({2, 2}));
  EXPECT_NE(of<TypeParam>({0, 0}), of<TypeParam>({0}));
  EXPECT_NE(of<TypeParam>({0}), of<TypeParam>({}));
}

// Small multisets of small keys, all of them: a weak mix meets itself there first.
TYPED_TEST(FingerprintOf, TellsAllTriplesOfSmallKeysApart) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::size_t made = 0;
  for (unsigned a = 0; a < 64; ++a) {
    for (unsigned b = a; b < 64; ++b) {
      for (unsigned c = b; c < 64; ++c) {
        const Fingerprint f = of<TypeParam>(
            {static_cast<TypeParam>(a), static_cast<TypeParam>(b), static_cast<TypeParam>(c)});
        seen.emplace(f.sum, f.product);
        ++made;
      }
    }
  }
  EXPECT_EQ(seen.size(), made);
}

TEST(Fingerprint, PrintsCountAndSumsInHexadecimal) {
  EXPECT_EQ(to_string(Fingerprint{255, 1, 0xabc}), "ff:0000000000000001:0000000000000abc");
}

}  // namespace
}  // namespace gsort
