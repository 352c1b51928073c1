#include "element/fingerprint.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "element/key.hpp"

namespace gsort {
namespace {

template <class Key>
Fingerprint of(const std::vector<Key>& keys) {
  return fingerprint_of(std::as_bytes(std::span(keys)), sizeof(Key));
}

// The definition, key by key.
template <class Key>
Fingerprint defined(const Key* keys, std::size_t count) {
  Fingerprint total;
  for (std::size_t i = 0; i < count; ++i) fingerprint::add_key(keys[i], total);
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

// Small multisets of small keys, all of them: a weak mix meets itself there first.
TYPED_TEST(FingerprintOf, TellsAllTriplesOfSmallKeysApart) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::size_t made = 0;
  for (unsigned a = 0; a < 64; ++a) {
    for (unsigned b = a; b < 64; ++b) {
      for (unsigned c = b; c < 64; ++c) {
        const Fingerprint f = of<TypeParam>(
            {static_cast<TypeParam>(a), static_cast<TypeParam>(b), static_cast<TypeParam>(c)});
        seen.emplace(f.first, f.second);
        ++made;
      }
    }
  }
  EXPECT_EQ(seen.size(), made);
}

// The effect of a fault on two keys x and y; false if the keys would not change.
using Damage = bool (*)(std::uint64_t& x, std::uint64_t& y);

bool swap_low_halves(std::uint64_t& x, std::uint64_t& y) {
  const std::uint64_t difference = (x ^ y) & 0xffffffffU;
  x ^= difference;
  y ^= difference;
  return difference != 0 && (x ^ y) >> 32 != 0;
}

bool move_one_across(std::uint64_t& x, std::uint64_t& y) {
  ++x;
  --y;
  return x != y + 1;
}

bool swap_lowest_bytes(std::uint64_t& x, std::uint64_t& y) {
  const std::uint64_t difference = (x ^ y) & 0xffU;
  x ^= difference;
  y ^= difference;
  return difference != 0 && (x ^ y) >> 8 != 0;
}

bool double_one_and_drop_the_other(std::uint64_t& x, std::uint64_t& y) {
  const bool differ = x != y;
  y = x;
  return differ;
}

bool flip_a_bit_of_both(std::uint64_t& x, std::uint64_t& y) {
  const std::uint64_t both = x ^ y;
  x ^= 0x100;
  y ^= 0x100;
  return both != 0x100;
}

struct StructuredDamage {
  const char* what;
  Damage damage;
};

constexpr StructuredDamage kDamages[] = {
    {"low halves swapped", swap_low_halves},
    {"one taken from a key and given to the other", move_one_across},
    {"lowest bytes swapped", swap_lowest_bytes},
    {"doubled and dropped", double_one_and_drop_the_other},
    {"the same bit flipped in both", flip_a_bit_of_both}};

// How each sum moves when two near keys of `bits` are damaged so, over many pairs.
struct Shifts {
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> second;
};

template <class Key>
Shifts shifts_of(const StructuredDamage& damage, std::size_t pairs) {
  constexpr unsigned half = 4 * sizeof(Key);
  std::mt19937_64 random(17);
  Shifts shifts;
  while (shifts.first.size() < pairs) {
    std::uint64_t x = static_cast<Key>(random());
    // Near in both halves.
    std::uint64_t y = static_cast<Key>(x + random() % 1024 + ((random() % 1024) << half));
    Fingerprint before;
    fingerprint::add_key(static_cast<Key>(x), before);
    fingerprint::add_key(static_cast<Key>(y), before);
    if (!damage.damage(x, y)) continue;
    Fingerprint after;
    fingerprint::add_key(static_cast<Key>(x), after);
    fingerprint::add_key(static_cast<Key>(y), after);
    shifts.first.push_back(after.first - before.first);
    shifts.second.push_back(after.second - before.second);
  }
  return shifts;
}

// The share of values among which the commonest of 256 stands in the byte at `shift`.
double commonest_byte(const std::vector<std::uint64_t>& values, unsigned shift) {
  std::vector<std::size_t> counts(256);
  for (const std::uint64_t value : values) ++counts[(value >> shift) & 0xffU];
  return static_cast<double>(std::ranges::max(counts)) / static_cast<double>(values.size());
}

// Each sum by itself: no damage leaves it as it was, and its shift is spread over all values, so
// that a miss is as rare as the width of the sum says.
template <class Key>
void expect_spread_shifts() {
  constexpr std::size_t kPairs = 200'000;
  constexpr double kMostShare = 1.5 / 256;  // evenly spread: 1.0; so a byte loses 0.6 of its 8 bits
  for (const StructuredDamage& damage : kDamages) {
    if (sizeof(Key) == 4 && damage.damage == swap_low_halves) continue;  // there is one half
    const Shifts shifts = shifts_of<Key>(damage, kPairs);
    for (const auto* sum : {&shifts.first, &shifts.second}) {
      const char* const name = sum == &shifts.first ? "first sum" : "second sum";
      EXPECT_EQ(std::ranges::count(*sum, 0U), 0) << damage.what << ", " << name;
      for (const unsigned shift : {0U, 8U, 16U, 24U, 32U, 40U, 48U, 56U}) {
        EXPECT_LT(commonest_byte(*sum, shift), kMostShare)
            << damage.what << ", " << name << ", bits from " << shift << " on";
      }
    }
  }
}

TEST(Fingerprint, SpreadsTheShiftsOfStructuredDamageInEachSum) {
  expect_spread_shifts<std::uint64_t>();
  expect_spread_shifts<std::uint32_t>();
}

TEST(Fingerprint, TellsKeysApartThatOnceHadOneMixing) {
  EXPECT_NE(of<std::uint64_t>({0x081f2d574a5aef2aULL}), of<std::uint64_t>({0x62a91648a8b31c61ULL}));
}

// Backwards: x ^ (x >> 32) is its own inverse, and an odd factor has one modulo 2^64.
std::uint64_t unmixed(std::uint64_t y, const fingerprint::Mixing& mixing) {
  const auto inverse = [](std::uint64_t odd) {
    std::uint64_t result = odd;  // right in 3 bits; every step doubles them
    for (int i = 0; i < 5; ++i) result *= 2 - odd * result;
    return result;
  };
  y = (y ^ (y >> 32)) * inverse(mixing.b);
  return ((y ^ (y >> 32)) * inverse(mixing.a)) ^ mixing.offset;
}

TEST(Fingerprint, HasMixingsThatAreOneToOne) {
  for (const std::uint64_t key : random_keys<std::uint64_t>(10'000)) {
    for (const auto& mixing : {fingerprint::kFirst, fingerprint::kSecond}) {
      ASSERT_EQ(unmixed(fingerprint::mixed(key, mixing), mixing), key);
    }
  }
}

ArraysFingerprint of_arrays(const std::vector<std::vector<std::uint32_t>>& arrays) {
  ArraysFingerprint all;
  for (std::size_t i = 0; i < arrays.size(); ++i) add_array(i, of(arrays[i]), all);
  return all;
}

TEST(Fingerprint, OfArraysChangesWhenTwoArraysExchangeKeys) {
  const ArraysFingerprint intact = of_arrays({{1, 2, 3}, {4, 5, 6}, {7}});
  EXPECT_EQ(of_arrays({{3, 2, 1}, {6, 4, 5}, {7}}), intact);
  const ArraysFingerprint exchanged = of_arrays({{1, 2, 4}, {3, 5, 6}, {7}});
  EXPECT_EQ(exchanged.all, intact.all);
  EXPECT_NE(exchanged.by_array, intact.by_array);
  EXPECT_NE(of_arrays({{4, 5, 6}, {1, 2, 3}, {7}}).by_array, intact.by_array);
}

TEST(Fingerprint, PrintsCountAndSumsInHexadecimal) {
  EXPECT_EQ(to_string(Fingerprint{255, 1, 0xabc}), "ff:0000000000000001:0000000000000abc");
}

TEST(ParseFingerprint, ReadsWhatIsPrinted) {
  for (const Fingerprint& fingerprint :
       {Fingerprint{}, Fingerprint{0x3e8, 0xf1df234947725f47, 1},
        Fingerprint{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}}) {
    EXPECT_EQ(parse_fingerprint(to_string(fingerprint)), fingerprint);
  }
}

TEST(ParseFingerprint, TakesNoOtherText) {
  const std::string text = "3e8:f1df234947725f47:f299fe22f7b9830e";
  ASSERT_TRUE(parse_fingerprint(text));
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    EXPECT_FALSE(parse_fingerprint(text.substr(0, bytes)));
    std::string changed = text;
    changed[bytes] = changed[bytes] == ':' ? '-' : 'g';
    EXPECT_FALSE(parse_fingerprint(changed)) << changed;
  }
  for (const char* const other :
       {"03e8:f1df234947725f47:f299fe22f7b9830e", "3e8:F1df234947725f47:f299fe22f7b9830e",
        "3e8:1f1df234947725f47:f299fe22f7b9830e",
        "10000000000000000:f1df234947725f47:f299fe22f7b9830e",
        "-3e8:f1df234947725f47:f299fe22f7b9830e", "0x3e8:f1df234947725f47:f299fe22f7b9830e"}) {
    EXPECT_FALSE(parse_fingerprint(other)) << other;
  }
  for (const char* const more : {" ", "0", ":", "\n"}) EXPECT_FALSE(parse_fingerprint(text + more));
}

}  // namespace
}  // namespace gsort
