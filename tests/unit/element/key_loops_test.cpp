#include "element/key_loops.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "element/record_text.hpp"
#include "support/tuples.hpp"

namespace gsort {
namespace {

template <class Key>
std::vector<Key> random_keys(std::size_t count) {
  std::mt19937_64 random(count + sizeof(Key));
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>(random());
  return keys;
}

// Calls check(map) for every format of keys as wide as Key.
template <class Key, class Check>
void for_all_maps(const Check& check) {
  for (const KeyType type : kAllKeyTypes) {
    if (bytes_of(type) != sizeof(Key)) continue;
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        SCOPED_TRACE(testing::Message() << name_of(type) << big_endian << descending);
        check(KeyMap<Key>::of({type, big_endian, descending}));
      }
    }
  }
  for (const RecordFormat& records : test::tuples_of_width(sizeof(Key))) {
    SCOPED_TRACE(describe_keys(records));
    if constexpr (sizeof(Key) == sizeof(UInt128)) {
      check(wide_map_of(records));
    } else {
      check(KeyMap<Key>::of(ElementFormat{{}, records}.as_keys().key));
    }
  }
}

template <class Key>
class KeyLoops : public testing::Test {};
using Widths = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, UInt128>;
TYPED_TEST_SUITE(KeyLoops, Widths);

TYPED_TEST(KeyLoops, MapAsTheMapDoesAtEveryLengthAndMisalignment) {
  using Key = TypeParam;
  const std::vector<Key> keys = random_keys<Key>(200);
  for_all_maps<Key>([&](KeyMap<Key> map) {
    for (std::size_t skip = 0; skip < 3; ++skip) {
      for (std::size_t count = 0; count <= 150; count += 1 + count / 40) {
        const auto raw = std::span<const Key>(keys).subspan(skip, count);
        std::vector<Key> ordered(count + 2, Key{77});
        map_to_ordered<Key>(raw, std::span(ordered).subspan(1, count), map);
        ASSERT_EQ(ordered.front(), 77);
        ASSERT_EQ(ordered.back(), 77);
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(ordered[i + 1], map.to_ordered(raw[i]));
        std::vector<Key> back(count);
        map_to_raw<Key>(std::span<const Key>(ordered).subspan(1, count), back, map);
        ASSERT_TRUE(std::ranges::equal(back, raw));
      }
    }
  });
}

TYPED_TEST(KeyLoops, MapInPlace) {
  using Key = TypeParam;
  for_all_maps<Key>([&](KeyMap<Key> map) {
    const std::vector<Key> raw = random_keys<Key>(1'001);
    std::vector<Key> keys = raw;
    map_to_ordered<Key>(keys, keys, map);
    for (std::size_t i = 0; i < raw.size(); ++i) ASSERT_EQ(keys[i], map.to_ordered(raw[i]));
    map_to_raw<Key>(keys, keys, map);
    EXPECT_EQ(keys, raw);
  });
}

TYPED_TEST(KeyLoops, FindNoDisorderInWhatIsSorted) {
  using Key = TypeParam;
  for_all_maps<Key>([&](KeyMap<Key> map) {
    for (const std::size_t count : {0U, 1U, 2U, 3U, 1023U, 1024U, 1025U, 1026U, 3000U}) {
      std::vector<Key> keys = random_keys<Key>(count);
      std::ranges::sort(keys);
      map_to_raw<Key>(keys, keys, map);
      EXPECT_EQ(first_disorder<Key>(keys, map), count);
      std::ranges::fill(keys, Key{9});
      EXPECT_EQ(first_disorder<Key>(keys, map), count);
    }
  });
}

TYPED_TEST(KeyLoops, FindTheFirstDisorderWhereverItIs) {
  using Key = TypeParam;
  for_all_maps<Key>([&](KeyMap<Key> map) {
    constexpr std::size_t kCount = 3'000;
    for (const std::size_t at : {0U, 1U, 1022U, 1023U, 1024U, 1025U, 2047U, 2048U, 2998U}) {
      // Ones, then twos, with the disorder where a one follows a two; a second one behind it.
      std::vector<Key> ordered(kCount, Key{1});
      std::fill(ordered.begin() + static_cast<std::ptrdiff_t>(at), ordered.end(), Key{2});
      ordered.at(at + 1) = Key{1};
      if (at + 4 < kCount) ordered.at(at + 4) = Key{0};
      std::vector<Key> raw(kCount);
      map_to_raw<Key>(ordered, raw, map);
      ASSERT_EQ(first_disorder<Key>(raw, map), at);
    }
  });
}

}  // namespace
}  // namespace gsort
