#include "element/key.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "element/value.hpp"
#include "support/key_values.hpp"

namespace gsort {
namespace {

// The bytes of `number` as they lie in a file, read as one unsigned number.
template <class Key, class Number>
Key raw_of(Number number, bool big_endian) {
  unsigned char bytes[sizeof(Number)];
  std::memcpy(bytes, &number, sizeof(Number));
  if (big_endian) std::reverse(std::begin(bytes), std::end(bytes));
  Key raw = 0;
  std::memcpy(&raw, bytes, sizeof(Key));
  return raw;
}

// All numbers of up to 16 bits; of wider ones borders, powers of two and random bits; of floats all
// special values among them.
template <class Number>
std::vector<Number> interesting_numbers() {
  std::vector<Number> numbers;
  const auto add_bits = [&](UInt128 bits) {
    Number number{};
    std::memcpy(&number, &bits, sizeof(Number));
    numbers.push_back(number);
  };
  if constexpr (sizeof(Number) <= 2) {
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << (8 * sizeof(Number))); ++bits) {
      add_bits(bits);
    }
    return numbers;
  }
  for (unsigned shift = 0; shift < 8 * sizeof(Number); ++shift) {
    const UInt128 power = UInt128{1} << shift;
    for (const UInt128 bits : {power, power - 1, power + 1, ~power}) add_bits(bits);
  }
  std::mt19937_64 random(sizeof(Number));
  for (int i = 0; i < 500; ++i) add_bits(UInt128{random()} << 64U | random());
  if constexpr (std::is_floating_point_v<Number>) {
    using Limits = std::numeric_limits<Number>;
    for (const Number positive :
         {Number{0}, Limits::denorm_min(), Limits::min(), Number{1}, Limits::max(),
          Limits::infinity(), Limits::quiet_NaN(), Limits::signaling_NaN()}) {
      numbers.push_back(positive);
      numbers.push_back(-positive);
    }
  }
  return numbers;
}

// Calls check(format, map, number type) for all types, byte orders and directions.
template <class Check>
void for_all_formats(const Check& check) {
  for (const KeyType type : kAllKeyTypes) {
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        SCOPED_TRACE(testing::Message() << name_of(type) << (big_endian ? " big" : " little")
                                        << (descending ? " descending" : " ascending"));
        with_key_of_width(bytes_of(type), [&](auto width) {
          const KeyFormat format{type, big_endian, descending};
          const auto map = KeyMap<decltype(width)>::of(format);
          with_value_of_type(type, [&](auto number) {
            if constexpr (sizeof(number) == sizeof(width)) check(format, map, number);
          });
        });
      }
    }
  }
}

TEST(KeyMap, GivesEveryKeyBack) {
  for_all_formats([](const KeyFormat& format, auto map, auto number) {
    using Key = decltype(map.flip);
    for (const auto each : interesting_numbers<decltype(number)>()) {
      const Key raw = raw_of<Key>(each, format.big_endian);
      ASSERT_EQ(map.to_raw(map.to_ordered(raw)), raw);
      ASSERT_EQ(map.to_ordered(map.to_raw(raw)), raw);
    }
  });
}

TEST(KeyMap, OrdersKeysAsTheirTypeDoes) {
  for_all_formats([](const KeyFormat& format, auto map, auto number) {
    using Key = decltype(map.flip);
    auto numbers = interesting_numbers<decltype(number)>();
    test::with_value_named(name_of(format.type), [&](auto value) {
      if constexpr (sizeof(value) == sizeof(number)) {
        std::sort(numbers.begin(), numbers.end(), [&](auto a, auto b) {
          using Value = decltype(value);
          return std::is_lt(test::compare_keys(std::bit_cast<Value>(a), std::bit_cast<Value>(b)));
        });
      }
    });
    if (format.descending) std::reverse(numbers.begin(), numbers.end());
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      const Key before = map.to_ordered(raw_of<Key>(numbers[i - 1], format.big_endian));
      const Key after = map.to_ordered(raw_of<Key>(numbers[i], format.big_endian));
      const bool equal = std::memcmp(&numbers[i - 1], &numbers[i], sizeof(number)) == 0;
      ASSERT_TRUE(equal ? before == after : before < after) << "between " << i - 1 << " and " << i;
    }
  });
}

TEST(KeyMap, MakesEqualFloatsOneClass) {
  for_all_formats([](const KeyFormat& format, auto map, auto number) {
    using Key = decltype(map.flip);
    const auto classes = KeyMap<Key>::classes_of(format);
    const auto numbers = interesting_numbers<decltype(number)>();
    test::with_value_named(name_of(format.type), [&](auto value) {
      if constexpr (sizeof(value) == sizeof(number)) {
        for (std::size_t i = 1; i < numbers.size(); ++i) {
          using Value = decltype(value);
          const Key a = raw_of<Key>(numbers[i - 1], format.big_endian);
          const Key b = raw_of<Key>(numbers[i], format.big_endian);
          const auto left = std::bit_cast<Value>(numbers[format.descending ? i : i - 1]);
          const auto right = std::bit_cast<Value>(numbers[format.descending ? i - 1 : i]);
          ASSERT_EQ(classes.to_ordered(a) <=> classes.to_ordered(b),
                    test::compare_numbers(left, right));
          ASSERT_EQ(classes.class_of_ordered(map.to_ordered(a)), classes.to_ordered(a));
          const Key last = classes.last_of_class(map.to_ordered(a));
          ASSERT_GE(last, map.to_ordered(a));
          ASSERT_EQ(classes.class_of_ordered(last), classes.to_ordered(a));
          const Key next = static_cast<Key>(last + 1U);
          if (next != 0) {
            ASSERT_NE(classes.class_of_ordered(next), classes.to_ordered(a));
          }
        }
      }
    });
  });
}

TEST(KeyMap, OrdersSpecialFloatsTotallyFromNegativeNanToPositiveNan) {
  using Limits = std::numeric_limits<float>;
  const auto nan = std::bit_cast<float>(0x7fc00000U);
  const std::vector<float> wanted = {std::bit_cast<float>(0xffffffffU),
                                     -nan,
                                     -Limits::infinity(),
                                     -Limits::max(),
                                     -1.0F,
                                     -Limits::min(),
                                     -Limits::denorm_min(),
                                     -0.0F,
                                     0.0F,
                                     Limits::denorm_min(),
                                     Limits::min(),
                                     1.0F,
                                     Limits::max(),
                                     Limits::infinity(),
                                     nan,
                                     std::bit_cast<float>(0x7fffffffU)};
  const auto map = KeyMap<std::uint32_t>::of({KeyType::kF32, false, false, {}, FloatOrder::kTotal});
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    EXPECT_LT(map.to_ordered(std::bit_cast<std::uint32_t>(wanted[i - 1])),
              map.to_ordered(std::bit_cast<std::uint32_t>(wanted[i])))
        << wanted[i - 1] << " before " << wanted[i];
  }
}

TEST(KeyMap, IsTheIdentityForLittleEndianUnsignedAscendingOnly) {
  for_all_formats([](const KeyFormat& format, auto map, auto number) {
    const bool is_unsigned = !is_float(format.type) && !is_signed_integer(format.type);
    const bool one_byte = sizeof(number) == 1;
    EXPECT_EQ(map.is_identity(),
              is_unsigned && !format.descending && (one_byte || !format.big_endian));
  });
}

TEST(SwapBytes, ReversesTheBytes) {
  EXPECT_EQ(swap_bytes(std::uint8_t{0x12}), 0x12);
  EXPECT_EQ(swap_bytes(std::uint16_t{0x1234}), 0x3412);
  EXPECT_EQ(swap_bytes(std::uint32_t{0x12345678}), 0x78563412U);
  EXPECT_EQ(swap_bytes(std::uint64_t{0x0123456789abcdef}), 0xefcdab8967452301ULL);
  EXPECT_EQ(swap_bytes(UInt128{1} << 120U | UInt128{0xab} << 64U),
            UInt128{1} | UInt128{0xab} << 56U);
}

TEST(KeyType, IsFoundByItsName) {
  for (const KeyType type : kAllKeyTypes) EXPECT_EQ(key_type_named(name_of(type)), type);
  for (const char* const unknown : {"", "u", "U32", "u256", "i32 ", "float"}) {
    EXPECT_EQ(key_type_named(unknown), std::nullopt) << unknown;
  }
}

TEST(KeyType, KnowsItsWidth) {
  for (const KeyType type : kAllKeyTypes) {
    test::with_value_named(name_of(type),
                           [&](auto value) { EXPECT_EQ(bytes_of(type), sizeof(value)); });
  }
}

}  // namespace
}  // namespace gsort
