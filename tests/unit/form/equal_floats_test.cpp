#include "form/equal_floats.hpp"

#include <bit>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::raw_of;

Bytes alike(const Bytes& elements, const ElementFormat& format) {
  Bytes copy = elements;
  make_alike_and_check(copy, format.bytes(), floats_in_numeric_order(format));
  return copy;
}

TEST(EqualFloats, BecomeOneZeroAndOneNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float other_nan = std::bit_cast<float>(0xff800001U);
  const float infinity = std::numeric_limits<float>::infinity();
  const Bytes given = raw_of<float>({-0.0F, 0, other_nan, -nan, nan, infinity, -infinity, 1});
  const Bytes wanted = raw_of<float>({0, 0, nan, nan, nan, infinity, -infinity, 1});
  EXPECT_EQ(alike(given, {{KeyType::kF32}, {}}), wanted);
  EXPECT_EQ(alike(given, {{KeyType::kF32, false, false, {}, FloatOrder::kTotal}, {}}), given);
  EXPECT_EQ(alike(given, {{KeyType::kU32}, {}}), given);
}

TEST(EqualFloats, HaveTheirByteOrderAndWidth) {
  const auto big = [](std::vector<std::uint16_t> keys) {
    for (std::uint16_t& key : keys) key = swap_bytes(key);
    return raw_of(keys);
  };
  EXPECT_EQ(alike(big({0x8000, 0xfe01, 0x7c00, 0xfc00, 0x8001}), {{KeyType::kF16, true}, {}}),
            big({0, 0x7e00, 0x7c00, 0xfc00, 0x8001}));
  EXPECT_EQ(alike(big({0x8000, 0xff81, 0x7f80, 0xff80, 0x7c01}), {{KeyType::kBF16, true}, {}}),
            big({0, 0x7fc0, 0x7f80, 0xff80, 0x7c01}));
}

TEST(EqualFloats, AreFoundAmongAllNumbersOf16Bits) {
  struct Case {
    KeyType type;
    std::uint16_t infinity;
    std::uint16_t nan;
  };
  for (const auto& [type, infinity, nan] :
       {Case{KeyType::kF16, 0x7c00, 0x7e00}, Case{KeyType::kBF16, 0x7f80, 0x7fc0}}) {
    for (const bool big_endian : {false, true}) {
      std::vector<std::uint16_t> given(1 << 16);
      std::vector<std::uint16_t> wanted(given.size());
      for (std::size_t i = 0; i < given.size(); ++i) {
        const auto key = static_cast<std::uint16_t>(i);
        const std::uint16_t same = (key & 0x7fff) > infinity ? nan : key == 0x8000 ? 0 : key;
        given[i] = big_endian ? swap_bytes(key) : key;
        wanted[i] = big_endian ? swap_bytes(same) : same;
      }
      EXPECT_EQ(alike(raw_of(given), {{type, big_endian}, {}}), raw_of(wanted));
    }
  }
}

TEST(EqualFloats, AreThoseOfTheKeysOfRecordsAlone) {
  struct Record {
    double payload;
    double key;
  };
  const RecordFormat records{sizeof(Record), {{8, 8, KeyType::kF64}}};
  Bytes given = raw_of<Record>({{-0.0, -0.0}, {-0.0, 1}});
  const Bytes wanted = raw_of<Record>({{-0.0, 0.0}, {-0.0, 1}});
  EXPECT_EQ(alike(given, {{}, records}), wanted);
}

}  // namespace
}  // namespace gsort
