#include "engine/cpu/bucket_map.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "support/key_values.hpp"

namespace gsort::cpu {
namespace {

template <class Key>
class BucketMapOf : public testing::Test {
 protected:
  // Keys everywhere: at all scales from both ends, and around those of `sample`.
  static std::vector<Key> probes(const std::vector<Key>& sample) {
    std::mt19937_64 random(17);
    std::vector<Key> keys = {0, 1, static_cast<Key>(~Key{0}), static_cast<Key>(~Key{1})};
    for (unsigned shift = 0; shift < 8 * sizeof(Key); ++shift) {
      for (int i = 0; i < 50; ++i) {
        const auto key = static_cast<Key>(static_cast<Key>(random()) >> shift);
        keys.push_back(key);
        keys.push_back(static_cast<Key>(~key));
      }
    }
    for (std::size_t i = 0; i < sample.size(); i += 1 + sample.size() / 500) {
      keys.push_back(sample[i]);
      keys.push_back(static_cast<Key>(sample[i] + 1));
      keys.push_back(static_cast<Key>(sample[i] - 1));
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  static void expect_monotone(const BucketMap<Key>& map, const std::vector<Key>& keys) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_LT(map(keys[i]), map.buckets());
      ASSERT_LE(map(keys[i > 0 ? i - 1 : 0]), map(keys[i])) << keys[i];
    }
  }

  // Samples of all kinds, good and bad.
  static std::vector<std::vector<Key>> samples() {
    std::mt19937_64 random(23);
    const auto made = [&](std::size_t count, const auto& make) {
      std::vector<Key> keys(count);
      for (Key& key : keys) key = static_cast<Key>(make());
      return keys;
    };
    return {{},
            {0},
            {static_cast<Key>(~Key{0})},
            made(5'000, [&] { return Key{42}; }),
            made(3, [&] { return random(); }),
            made(20'000, [&] { return random(); }),
            made(20'000, [&] { return random() % 10; }),
            made(5'000, [&] { return static_cast<Key>(random()) >> (random() % 32); }),
            made(5'000, [&] { return ~Key{0} - random() % 1'000; })};
  }
};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(BucketMapOf, Widths);

TYPED_TEST(BucketMapOf, AnySampleIsMonotone) {
  for (std::vector<TypeParam> sample : this->samples()) {
    const auto keys = this->probes(sample);
    for (const std::size_t buckets : {1U, 2U, 3U, 256U, 4'096U, 65'535U}) {
      SCOPED_TRACE(testing::Message() << sample.size() << " sampled, " << buckets << " buckets");
      const BucketMap<TypeParam> map(sample, buckets);
      EXPECT_EQ(map.buckets(), buckets);
      for (std::size_t i = 1; i < keys.size(); ++i) {
        if (keys[i] != keys[i - 1] && map(keys[i]) == map(keys[i - 1])) {
          ASSERT_FALSE(map.holds_one_key(map(keys[i])));
        }
      }
      this->expect_monotone(map, keys);
    }
  }
}

TYPED_TEST(BucketMapOf, AGoodSampleFillsBucketsAboutEqually) {
  std::mt19937_64 random(29);
  for (const unsigned shift : {0U, 12U}) {
    const auto draw = [&] {
      return static_cast<TypeParam>(static_cast<TypeParam>(random()) >> shift);
    };
    std::vector<TypeParam> sample(1 << 16);
    for (TypeParam& key : sample) key = draw();
    const BucketMap<TypeParam> map(sample, 64);
    std::vector<int> counts(64, 0);
    for (int i = 0; i < 640'000; ++i) ++counts[map(draw())];
    EXPECT_GT(*std::min_element(counts.begin(), counts.end()), 5'000);
    EXPECT_LT(*std::max_element(counts.begin(), counts.end()), 20'000);
  }
}

// Keys of every scale, of both signs as floats have them, and around a few centres: no division of
// their range into cells of one width tells them apart.
TYPED_TEST(BucketMapOf, AnyDistributionFillsBucketsAboutEqually) {
  constexpr unsigned kBits = 8 * sizeof(TypeParam);
  std::mt19937_64 random(37);
  const auto any = [&] { return static_cast<TypeParam>(random()); };
  const std::vector<std::function<TypeParam()>> draws = {
      [&] { return static_cast<TypeParam>(any() >> (random() % (kBits - 16))); },
      [&] {
        const auto half = static_cast<TypeParam>(TypeParam{3} << (kBits - 3));
        const auto key = static_cast<TypeParam>(half + (any() >> 12));
        return random() % 2 == 0 ? key : static_cast<TypeParam>(~key);
      },
      [&] {
        const auto centre = static_cast<TypeParam>((random() % 7 + 1) << (kBits - 5));
        return static_cast<TypeParam>(centre + random() % 100'000);
      }};
  for (const auto& draw : draws) {
    std::vector<TypeParam> sample(1 << 14);
    std::ranges::generate(sample, draw);
    constexpr std::size_t kBuckets = 500;
    const BucketMap<TypeParam> map(sample, kBuckets);
    std::vector<TypeParam> keys(500'000);
    std::ranges::generate(keys, draw);
    std::vector<std::size_t> counts(kBuckets, 0);
    for (const TypeParam key : keys) ++counts[map(key)];
    EXPECT_LT(*std::ranges::max_element(counts), 3 * keys.size() / kBuckets);
  }
}

TYPED_TEST(BucketMapOf, NumbersManyKeysAsItDoesOne) {
  for (std::vector<TypeParam> sample : this->samples()) {
    const auto keys = this->probes(sample);
    for (const std::size_t buckets : {1U, 2U, 9U, 17U, 81U, 289U, 4'096U, 65'535U}) {
      const BucketMap<TypeParam> map(sample, buckets);
      std::vector<std::uint16_t> numbers(keys.size());
      map.number(keys, numbers.data());
      for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(numbers[i], map(keys[i]));
    }
  }
}

TYPED_TEST(BucketMapOf, FindsTheCellsOfRawKeysAsItMapsThem) {
  std::vector<KeyMap<TypeParam>> maps(4);
  maps[1].flip = KeyMap<TypeParam>::kSignBit;
  maps[2].swaps_bytes = true;
  maps[3].fold = KeyFold::kFloat;
  maps[3].nans = 1'000;
  for (std::vector<TypeParam> sample : this->samples()) {
    const std::vector<TypeParam> raw = this->probes(sample);
    const BucketMap<TypeParam> buckets(sample, 81);
    for (const KeyMap<TypeParam>& map : maps) {
      std::vector<TypeParam> room(raw.size());
      std::vector<std::uint16_t> cells(raw.size());
      const auto ordered = buckets.find_cells(raw, map, room.data(), cells.data());
      ASSERT_EQ(ordered.size(), raw.size());
      for (std::size_t i = 0; i < raw.size(); ++i) {
        ASSERT_EQ(ordered[i], map.to_ordered(raw[i]));
        ASSERT_EQ(buckets.bucket_of_cells()[cells[i]], buckets(ordered[i]));
      }
    }
  }
}

template <class Value>
class BucketsOfValues : public testing::Test {
 protected:
  using Key = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
  using Limits = std::numeric_limits<Value>;

  // Zeros, NaN and infinities of both signs, the ends of the range, and any bits; in order.
  static std::vector<Value> values() {
    std::vector<Value> values = {0, 1, Limits::min(), Limits::lowest(), Limits::max()};
    if constexpr (std::is_floating_point_v<Value>) {
      for (const Value sign : {Value{1}, Value{-1}}) {
        for (const Value value : {Value{0}, Limits::denorm_min(), Limits::infinity(),
                                  Limits::quiet_NaN(), Limits::signaling_NaN()}) {
          values.insert(values.end(), 100, std::copysign(value, sign));
        }
      }
    }
    std::mt19937_64 random(43);
    for (int i = 0; i < 5'000; ++i) {
      values.push_back(std::bit_cast<Value>(static_cast<Key>(random())));
      values.push_back(static_cast<Value>(random() % 1'000));
    }
    std::ranges::sort(values, [](Value a, Value b) { return test::compare_keys(a, b) < 0; });
    return values;
  }

  static std::vector<Key> raw_keys(const std::vector<Value>& values, bool big_endian) {
    std::vector<Key> raw;
    for (const Value value : values) {
      const auto key = std::bit_cast<Key>(value);
      raw.push_back(big_endian ? swap_bytes(key) : key);
    }
    return raw;
  }
};
using Values =
    testing::Types<std::uint32_t, std::int32_t, float, std::uint64_t, std::int64_t, double>;
TYPED_TEST_SUITE(BucketsOfValues, Values);

TYPED_TEST(BucketsOfValues, AreInTheOrderOfTheValues) {
  using Bits = typename TestFixture::Key;
  const auto type = key_type_named(std::get<test::NamedValue<TypeParam>>(test::kNamedValues).name);
  ASSERT_TRUE(type.has_value());
  for (const bool descending : {false, true}) {
    auto values = this->values();
    if (descending) std::ranges::reverse(values);
    for (const bool big_endian : {false, true}) {
      const auto raw = this->raw_keys(values, big_endian);
      const auto map = KeyMap<Bits>::of({*type, big_endian, descending});
      std::vector<Bits> sample;
      for (std::size_t i = 0; i < raw.size(); i += 3) sample.push_back(map.to_ordered(raw[i]));
      const BucketMap<Bits> buckets(sample, 81);
      std::vector<Bits> room(raw.size());
      std::vector<std::uint16_t> cells(raw.size());
      (void)buckets.find_cells(raw, map, room.data(), cells.data());
      const auto bucket = [&](std::size_t i) { return buckets.bucket_of_cells()[cells[i]]; };
      for (std::size_t i = 1; i < raw.size(); ++i) ASSERT_LE(bucket(i - 1), bucket(i)) << values[i];
      EXPECT_GT(bucket(raw.size() - 1), bucket(0) + 40);
    }
  }
}

// Half of the keys of all scales are one key, the least or the greatest ones, too.
TYPED_TEST(BucketMapOf, AFrequentKeyHasABucketOfItsOwn) {
  std::mt19937_64 random(41);
  const auto most = static_cast<TypeParam>(~TypeParam{0});
  for (const TypeParam frequent : {TypeParam{0}, TypeParam{77}, TypeParam{1'000'000}, most}) {
    std::vector<TypeParam> sample(1 << 14);
    for (TypeParam& key : sample) {
      key = static_cast<TypeParam>(static_cast<TypeParam>(random()) >> (random() % 24));
      if (random() % 2 == 0) key = frequent;
    }
    const BucketMap<TypeParam> map(sample, 500);
    const std::size_t own = map(frequent);
    EXPECT_TRUE(map.holds_one_key(own)) << frequent;
    if (frequent > 0) {
      EXPECT_LT(map(static_cast<TypeParam>(frequent - 1)), own);
    }
    if (frequent < most) {
      EXPECT_GT(map(static_cast<TypeParam>(frequent + 1)), own);
    }
  }
}

// One key of a hundred at either end is far from all others, which the table divides all the same:
// a tree would know that the least key has a bucket of its own.
TYPED_TEST(BucketMapOf, FewFarKeysAreLeftToTheOutermostCells) {
  constexpr std::size_t kKeys = std::size_t{1} << 16;
  constexpr std::size_t kBuckets = 1'000;
  const auto most = static_cast<TypeParam>(~TypeParam{0});
  std::mt19937_64 random(53);
  std::vector<TypeParam> sample(kKeys);
  for (TypeParam& key : sample) {
    const auto place = random() % 100;
    const auto near = static_cast<TypeParam>((1 << 20) + random() % (1 << 20));
    key = place == 0 ? TypeParam{0} : place == 1 ? most : near;
  }
  const BucketMap<TypeParam> map(sample, kBuckets);
  EXPECT_FALSE(map.holds_one_key(map(0)));
  std::vector<std::size_t> counts(kBuckets, 0);
  for (const TypeParam key : sample) ++counts[map(key)];
  std::sort(counts.begin(), counts.end());
  EXPECT_LT(counts[kBuckets - 3], 3 * kKeys / kBuckets);  // but for the outermost two
  this->expect_monotone(map, this->probes(sample));
}

// The sample of a sorted input: 64 stretches of it, and no keys between them.
TYPED_TEST(BucketMapOf, ASampleInClustersFillsBucketsAboutEqually) {
  constexpr std::size_t kPlaces = 64;
  constexpr std::size_t kKeys = 1'000'000;
  std::mt19937_64 random(31);
  std::vector<TypeParam> keys(kKeys);
  for (TypeParam& key : keys) key = static_cast<TypeParam>(random());
  std::sort(keys.begin(), keys.end());
  std::vector<TypeParam> sample;
  for (std::size_t place = 0; place < kPlaces; ++place) {
    const auto at = keys.begin() + static_cast<std::ptrdiff_t>((kKeys - 256) / 63 * place);
    sample.insert(sample.end(), at, at + 256);
  }
  constexpr std::size_t kBuckets = 1'000;
  const BucketMap<TypeParam> map(sample, kBuckets);
  std::vector<std::size_t> counts(kBuckets, 0);
  for (const TypeParam key : keys) ++counts[map(key)];
  EXPECT_LT(*std::max_element(counts.begin(), counts.end()), 3 * kKeys / kBuckets);
}

TYPED_TEST(BucketMapOf, AnEvenDivisionIsMonotoneAndPartsTheEndsOfTheRange) {
  const auto most = static_cast<TypeParam>(~TypeParam{0});
  for (const auto& [least, greatest] :
       std::vector<std::pair<TypeParam, TypeParam>>{{0, 1},
                                                    {0, most},
                                                    {most - 1, most},
                                                    {5, 8'196},
                                                    {5, 8'197},
                                                    {5, 8'198},
                                                    {100, 103},
                                                    {most / 2, most / 2 + 1'000'000}}) {
    for (const std::size_t buckets : {2U, 3U, 16U, 256U}) {
      SCOPED_TRACE(testing::Message() << least << " to " << greatest << ", " << buckets);
      const auto map = BucketMap<TypeParam>::even(least, greatest, buckets);
      EXPECT_LT(map(least), map(greatest));
      this->expect_monotone(map, this->probes({least, greatest}));
    }
  }
}

}  // namespace
}  // namespace gsort::cpu
