#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "form/equal_floats.hpp"

namespace gsort {
namespace {

using Bytes = std::vector<std::byte>;

template <class Value, class Key, KeyType type>
struct Case {
  using Number = Value;
  using Bits = Key;
  static constexpr KeyType kType = type;
};

// Every kind of number, and many random ones; as their bits, in either byte order.
template <class Bits>
std::vector<Bits> keys_of(bool big_endian) {
  constexpr Bits kSign = KeyMap<Bits>::kSignBit;
  std::vector<Bits> keys = {0,
                            kSign,
                            1,
                            static_cast<Bits>(kSign + 1),
                            static_cast<Bits>(~Bits{0}),
                            static_cast<Bits>(kSign - 1)};
  std::mt19937_64 random(7);
  const unsigned fraction_bits = sizeof(Bits) == 8 ? 52 : 23;
  for (int i = 0; i < 300; ++i) {
    const auto bits = static_cast<Bits>(random());
    const auto infinity = static_cast<Bits>(kSign - (Bits{1} << fraction_bits));
    keys.push_back(i % 3 == 0   ? bits
                   : i % 3 == 1 ? static_cast<Bits>(bits & kSign)
                                : bits | infinity);
    if (i % 9 == 0) keys.push_back(static_cast<Bits>(infinity | (bits & kSign)));
  }
  if (big_endian) std::ranges::transform(keys, keys.begin(), swap_bytes<Bits>);
  return keys;
}

template <class Bits>
Bytes copies_of(const std::vector<Bits>& keys, const KeyFormat& format) {
  Bytes copies(keys.size() * sizeof(Bits));
  copy_for_numpy(std::as_bytes(std::span(keys)), format, copies.data());
  return copies;
}

// As numpy.argsort(kind="stable") compares.
template <class Number>
bool is_less(Number left, Number right) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isnan(left) || std::isnan(right)) return !std::isnan(left) && std::isnan(right);
  }
  return left < right;
}

template <class Row>
class NumpyKeys : public testing::Test {};

using Cases = testing::Types<Case<float, std::uint32_t, KeyType::kF32>,
                             Case<double, std::uint64_t, KeyType::kF64>,
                             Case<std::int64_t, std::uint64_t, KeyType::kI64>,
                             Case<std::uint32_t, std::uint32_t, KeyType::kU32>>;
TYPED_TEST_SUITE(NumpyKeys, Cases);

TYPED_TEST(NumpyKeys, IsTheTotalOrderOfTheCopies) {
  using Number = typename TypeParam::Number;
  using Bits = typename TypeParam::Bits;
  for (const bool big_endian : {false, true}) {
    const auto keys = keys_of<Bits>(big_endian);
    const Bytes copies = copies_of(keys, {TypeParam::kType, big_endian});
    const auto map = KeyMap<Bits>::of({TypeParam::kType});
    std::vector<std::size_t> expected(keys.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::vector<std::size_t> order = expected;
    const auto number = [&](std::size_t at) {
      return std::bit_cast<Number>(big_endian ? swap_bytes(keys[at]) : keys[at]);
    };
    const auto ordered = [&](std::size_t at) {
      Bits copy;
      std::memcpy(&copy, &copies[at * sizeof(Bits)], sizeof(Bits));
      return map.to_ordered(copy);
    };
    std::ranges::stable_sort(expected,
                             [&](auto a, auto b) { return is_less(number(a), number(b)); });
    std::ranges::stable_sort(order, std::less<>(), ordered);
    EXPECT_EQ(order, expected);
  }
}

TYPED_TEST(NumpyKeys, NoticesEveryBitOfACopy) {
  using Bits = typename TypeParam::Bits;
  for (const bool big_endian : {false, true}) {
    const auto keys = keys_of<Bits>(big_endian);
    const KeyFormat format{TypeParam::kType, big_endian};
    const auto raw = std::as_bytes(std::span(keys));
    Bytes copies = copies_of(keys, format);
    ASSERT_EQ(first_other_for_numpy(raw, format, copies.data()), keys.size());
    for (std::size_t bit = 0; bit < 8 * copies.size(); ++bit) {
      const std::byte mask = std::byte{1} << (bit % 8);
      copies[bit / 8] ^= mask;
      ASSERT_EQ(first_other_for_numpy(raw, format, copies.data()), bit / 8 / sizeof(Bits));
      copies[bit / 8] ^= mask;
    }
  }
}

}  // namespace
}  // namespace gsort
