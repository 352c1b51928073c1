#include "element/packed_keys.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gsort {
namespace {

template <class Key>
class PackedKeys : public testing::Test {
 protected:
  using Words = std::vector<std::uint64_t>;  // aligned to 16, as all that is allocated

  static std::span<std::byte> bytes_of(Words& words, std::size_t bytes) {
    return std::as_writable_bytes(std::span(words)).first(bytes);
  }

  static Words pack(const std::vector<Key>& keys, std::size_t& bytes) {
    bytes = packed_bytes<Key>(keys);
    Words words(bytes / 8 + 2, 0xEEEEEEEEEEEEEEEE);
    pack_keys<Key>(keys, bytes_of(words, bytes));
    return words;
  }

  // Sorted keys whose differences take about `bits` bits.
  std::vector<Key> ascending(std::size_t count, unsigned bits) {
    std::vector<Key> keys(count);
    const Key most = std::numeric_limits<Key>::max();
    const Key step = bits == 0 ? Key{0} : static_cast<Key>(most >> (8 * sizeof(Key) - bits));
    const auto random = [&] {
      return static_cast<Key>(UInt128{generator_()} << 64U | generator_());
    };
    Key key = static_cast<Key>(generator_() % 1000);
    for (Key& to : keys) {
      to = key;
      const Key add = step == 0 ? Key{0} : static_cast<Key>(random() & step);
      key = add > most - key ? most : static_cast<Key>(key + add);
    }
    return keys;
  }

  std::mt19937_64 generator_{7};
};

using KeyTypes = testing::Types<std::uint32_t, std::uint64_t, UInt128>;
TYPED_TEST_SUITE(PackedKeys, KeyTypes);

TYPED_TEST(PackedKeys, ComeBackForEveryWidthAndCount) {
  for (unsigned bits = 0; bits <= 8 * sizeof(TypeParam); ++bits) {
    for (const std::size_t count : {1U, 2U, 7U, 8U, 9U, 255U, 256U, 257U, 511U, 512U, 1000U}) {
      const std::vector<TypeParam> keys = this->ascending(count, bits);
      std::size_t bytes = 0;
      auto words = this->pack(keys, bytes);
      const auto packed = this->bytes_of(words, bytes);
      ASSERT_TRUE(is_packed_form<TypeParam>(packed, count));
      std::vector<TypeParam> back(count + 1, TypeParam{77});
      unpack_keys<TypeParam>(packed, count, 0, count, back.data());
      EXPECT_EQ(back.back(), 77) << "wrote behind the end";
      back.pop_back();
      ASSERT_EQ(back, keys) << bits << " bits, " << count << " keys";
    }
  }
}

TYPED_TEST(PackedKeys, UnpackAnyRange) {
  const std::vector<TypeParam> keys = this->ascending(1100, 9);
  std::size_t bytes = 0;
  auto words = this->pack(keys, bytes);
  for (std::size_t begin = 0; begin <= keys.size(); begin += 51) {
    for (std::size_t end = begin; end <= keys.size(); end += 37) {
      std::vector<TypeParam> back(end - begin + 1, TypeParam{77});
      unpack_keys<TypeParam>(this->bytes_of(words, bytes), keys.size(), begin, end, back.data());
      ASSERT_EQ(back.back(), 77);
      back.pop_back();
      ASSERT_TRUE(std::equal(back.begin(), back.end(), keys.begin() + static_cast<long>(begin)));
    }
  }
}

TYPED_TEST(PackedKeys, AreWrittenWhollyAndNotBeyond) {
  const std::vector<TypeParam> keys = this->ascending(300, 5);
  std::size_t bytes = 0;
  const auto words = this->pack(keys, bytes);
  auto other = this->pack(keys, bytes);
  std::memset(other.data(), 0x11, other.size() * 8);
  pack_keys<TypeParam>(keys, this->bytes_of(other, bytes));
  EXPECT_EQ(std::memcmp(words.data(), other.data(), bytes), 0) << "some bytes are not written";
  EXPECT_EQ(words.back(), 0xEEEEEEEEEEEEEEEE);
  EXPECT_EQ(other.back(), 0x1111111111111111);
}

TYPED_TEST(PackedKeys, TakeAsFewBitsAsTheLargestDifferenceOfAGroup) {
  std::vector<TypeParam> keys(512);
  for (std::size_t i = 0; i < 256; ++i) keys[i] = static_cast<TypeParam>(i);  // width 1
  for (std::size_t i = 256; i < 512; ++i) keys[i] = static_cast<TypeParam>(1000 + 5 * i);
  EXPECT_EQ(packed_bytes<TypeParam>(keys),
            pack_head_bytes(512, sizeof(TypeParam)) + 32 * 1 + 32 * 3);
}

TYPED_TEST(PackedKeys, OfOtherLengthsOrWidthsAreRefused) {
  const std::vector<TypeParam> keys = this->ascending(600, 6);
  std::size_t bytes = 0;
  auto words = this->pack(keys, bytes);
  const auto packed = this->bytes_of(words, bytes);
  EXPECT_FALSE(is_packed_form<TypeParam>(packed.first(bytes - 8), keys.size()));
  EXPECT_FALSE(is_packed_form<TypeParam>(packed.first(3), keys.size()));
  EXPECT_FALSE(is_packed_form<TypeParam>(packed, keys.size() + 256));
  EXPECT_FALSE(is_packed_form<TypeParam>({}, 1));
  packed[3 * sizeof(TypeParam)] = std::byte{8 * sizeof(TypeParam) + 1};
  EXPECT_FALSE(is_packed_form<TypeParam>(packed, keys.size()));
}

// The example of the header, byte by byte.
TEST(PackedKeysLayout, IsTheOneDescribed) {
  const std::vector<std::uint32_t> keys = {100, 101, 104};
  ASSERT_EQ(packed_bytes<std::uint32_t>(keys), 4 + 8 + 64U);
  alignas(8) std::byte packed[76];
  pack_keys<std::uint32_t>(keys, packed);
  std::vector<unsigned char> expected(76, 0);
  expected[0] = 0x64;
  expected[4] = 2;
  expected[16] = 1;
  expected[20] = 3;
  EXPECT_EQ(std::memcmp(packed, expected.data(), sizeof(packed)), 0);
}

// Difference i of a group is in lane i % L, bit (i / L) * width of the lane, told without the
// library's loops.
TYPED_TEST(PackedKeys, PutDifferencesInLanes) {
  using Key = TypeParam;
  constexpr std::size_t kLanes = 32 / sizeof(Key);
  constexpr std::size_t kBits = 8 * sizeof(Key);
  std::vector<Key> keys(256);
  for (std::size_t i = 1; i < 256; ++i) keys[i] = static_cast<Key>(keys[i - 1] + (i * i) % 97);
  const std::size_t width = 7;
  std::vector<std::uint64_t> words(packed_bytes<Key>(keys) / 8 + 1);
  pack_keys<Key>(keys, std::as_writable_bytes(std::span(words)));
  const auto* packed = reinterpret_cast<const unsigned char*>(words.data());
  ASSERT_EQ(packed[sizeof(Key)], width);
  packed += pack_head_bytes(256, sizeof(Key));
  for (std::size_t i = 0; i < 256; ++i) {
    Key difference = 0;
    for (std::size_t bit = 0; bit < width; ++bit) {
      const std::size_t at = (i / kLanes) * width + bit;
      const std::size_t byte = ((at / kBits) * kLanes + i % kLanes) * sizeof(Key) + at % kBits / 8;
      difference |= static_cast<Key>(Key{packed[byte]} >> (at % 8) & 1U) << bit;
    }
    ASSERT_EQ(difference, i == 0 ? 0U : keys[i] - keys[i - 1]) << i;
  }
}

}  // namespace
}  // namespace gsort
