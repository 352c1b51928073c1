// Decimal text against std::from_chars and std::to_chars, at every length and border of every type.
#include "form/decimal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "element/value.hpp"
#include "support/decimal_text.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::raw_of;

// The keys of all lines, or the first bad line.
struct Parsed {
  Bytes keys;
  std::optional<BadLine> bad;
};

Parsed parse(const std::string& text, const KeyFormat& format) {
  const std::string padded = text + std::string(kTextSlack, '7');  // digits, to lead it astray
  const std::string_view lines = std::string_view(padded).substr(0, text.size());
  Parsed parsed;
  parsed.keys.resize(count_newlines(lines) * bytes_of(format.type));
  parsed.bad = parse_lines(lines, format, parsed.keys);
  return parsed;
}

std::string format_of(const Bytes& keys, const KeyFormat& format) {
  const std::size_t count = keys.size() / bytes_of(format.type);
  std::string text(count * most_line_bytes(format.type) + kTextSlack, '\0');
  text.resize(format_lines(keys, format, text.data()));
  return text;
}

// Around every power of ten and of two, and the borders.
template <class Value>
std::vector<Value> interesting_integers() {
  std::vector<Value> values = {0, std::numeric_limits<Value>::min(),
                               std::numeric_limits<Value>::max()};
  for (const unsigned base : {2U, 10U}) {
    const auto most = static_cast<KeyOf<Value>>(std::numeric_limits<Value>::max() / base);
    for (UInt128 power = 1; power <= most; power *= base) {
      for (const UInt128 value : {power - 1, power, power + 1}) {
        values.push_back(static_cast<Value>(value));
        values.push_back(static_cast<Value>(UInt128{0} - value));
      }
    }
  }
  return values;
}

TEST(Decimal, WritesAndReadsIntegersOfEveryLength) {
  for (const KeyType type : kAllKeyTypes) {
    if (is_float(type)) continue;
    with_value_of_type(type, [&](auto any) {
      using Value = decltype(any);
      if constexpr (!kIsFloat<Value>) {
        const std::vector<Value> values = interesting_integers<Value>();
        const Bytes keys = raw_of(values);
        const std::string text = test::decimal_text(values);
        EXPECT_EQ(format_of(keys, {type}), text);
        const Parsed parsed = parse(text, {type});
        EXPECT_FALSE(parsed.bad) << parsed.bad->line;
        EXPECT_EQ(parsed.keys, keys) << name_of(type);
      }
    });
  }
}

template <class Value>
std::vector<Value> interesting_floats() {
  using Limits = std::numeric_limits<Value>;
  return {Value{0},           -Value{0},           Value{1},
          Value(0.1),         -Value(1e10) / 3,    Limits::min(),
          Limits::max(),      Limits::lowest(),    Limits::denorm_min(),
          Limits::infinity(), -Limits::infinity(), Limits::epsilon(),
          Value(1e22),        Value(123456789)};
}

template <class Value>
void expect_exact_floats(KeyType type) {
  const std::vector<Value> values = interesting_floats<Value>();
  const Bytes keys = raw_of(values);
  const std::string text = format_of(keys, {type});
  EXPECT_EQ(text, test::decimal_text(values));
  EXPECT_EQ(parse(text, {type}).keys, keys);
}

TEST(Decimal, WritesAndReadsFloatsExactly) {
  expect_exact_floats<float>(KeyType::kF32);
  expect_exact_floats<double>(KeyType::kF64);
}

template <class Value>
std::vector<Value> all_short_floats() {
  std::vector<Value> values;
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Value value{static_cast<std::uint16_t>(bits)};
    if (!std::isnan(value.value())) values.push_back(value);
  }
  return values;
}

TEST(Decimal, WritesAndReadsAllFloatsOf16Bits) {
  const Bytes halves = raw_of(all_short_floats<Float16>());
  EXPECT_EQ(parse(format_of(halves, {KeyType::kF16}), {KeyType::kF16}).keys, halves);
  const Bytes brains = raw_of(all_short_floats<BFloat16>());
  EXPECT_EQ(parse(format_of(brains, {KeyType::kBF16}), {KeyType::kBF16}).keys, brains);
}

// As NumPy and ml_dtypes print them.
TEST(Decimal, WritesFloatsOf16BitsWithAsFewDigitsAsTellThemApart) {
  const std::vector<std::uint16_t> halves = {0x2e66, 0x7bff, 0x0001, 0xc248,
                                             0x3555, 0xfc00, 0xfe00};
  EXPECT_EQ(format_of(raw_of(halves), {KeyType::kF16}),
            "0.1\n65500\n6e-08\n-3.14\n0.3333\n-inf\n-nan\n");
  const std::vector<std::uint16_t> brains = {0x3dcd, 0x7f7f, 0x0001, 0xc049, 0x3eab, 0x7fc0};
  EXPECT_EQ(format_of(raw_of(brains), {KeyType::kBF16}),
            "0.1\n3.39e+38\n9e-41\n-3.14\n0.334\nnan\n");
}

TEST(Decimal, RefusesNumbersThatFloatsOf16BitsDoNotHold) {
  for (const char* const bad : {"65520", "-1e9", "2e-8", "1e999"}) {
    EXPECT_TRUE(parse(std::string(bad) + "\n", {KeyType::kF16}).bad) << bad;
  }
  EXPECT_EQ(parse("65519\n", {KeyType::kF16}).keys, raw_of<std::uint16_t>({0x7bff}));
  EXPECT_TRUE(parse("3.4e38\n", {KeyType::kBF16}).bad);
  EXPECT_FALSE(parse("3.39e38\n", {KeyType::kBF16}).bad);
}

TEST(Decimal, KeepsTheSignOfNanAndOfZero) {
  const Parsed parsed = parse("nan\n-nan\n-0\n0\n", {KeyType::kF64});
  ASSERT_FALSE(parsed.bad);
  std::array<double, 4> values{};
  std::memcpy(values.data(), parsed.keys.data(), sizeof(values));
  EXPECT_TRUE(std::isnan(values[0]) && !std::signbit(values[0]));
  EXPECT_TRUE(std::isnan(values[1]) && std::signbit(values[1]));
  EXPECT_TRUE(std::signbit(values[2]) && !std::signbit(values[3]));
  EXPECT_EQ(format_of(parsed.keys, {KeyType::kF64}), "nan\n-nan\n-0\n0\n");
}

// By the text: a NaN that does not come back as it was is one that has lost something.
TEST(Decimal, CountsTheNansWhosePayloadsTextDoesNotHold) {
  const std::vector<std::uint32_t> bits = {0x7fc00000, 0xffc00000, 0x7f800000, 0xff800000,
                                           0x7fc00001, 0xff800001, 0x7fffffff, 0x00000001,
                                           0x7f800001, 0x3f800000, 0xffc12345, 0xffffffff};
  for (const bool big_endian : {false, true}) {
    const KeyFormat format{KeyType::kF32, big_endian, false};
    std::vector<std::uint32_t> raw = bits;
    if (big_endian) std::ranges::transform(raw, raw.begin(), swap_bytes<std::uint32_t>);
    const Bytes keys = raw_of(raw);
    const Bytes back = parse(format_of(keys, format), format).keys;
    std::uint64_t changed = 0;
    for (std::size_t at = 0; at < keys.size(); at += 4) {
      changed += std::memcmp(&keys[at], &back[at], 4) != 0 ? 1U : 0U;
    }
    EXPECT_EQ(changed, 6U);
    EXPECT_EQ(count_lost_nan_payloads(keys, format), changed);
    EXPECT_EQ(count_lost_nan_payloads(keys, {KeyType::kU32, big_endian, false}), 0U);
  }
  const std::vector<std::uint64_t> wide = {0x7ff8000000000000, 0x7ff8000000000001,
                                           0x7ff0000000000000, 0xfff0000000000001,
                                           0x4000000000000000};
  EXPECT_EQ(count_lost_nan_payloads(raw_of(wide), {KeyType::kF64}), 2U);
}

TEST(Decimal, WritesNoMoreThanItSays) {
  EXPECT_EQ(most_line_bytes(KeyType::kU64), 21U);
  EXPECT_EQ(format_of(raw_of<std::int64_t>({INT64_MIN}), {KeyType::kI64}).size(),
            most_line_bytes(KeyType::kI64));
  EXPECT_EQ(format_of(raw_of<double>({-2.2250738585072014e-308}), {KeyType::kF64}).size(),
            most_line_bytes(KeyType::kF64));
  for (const auto type : {KeyType::kF16, KeyType::kBF16}) {
    std::size_t most = 0;
    for (std::uint32_t bits = 0; bits <= UINT16_MAX; ++bits) {
      const Bytes key = raw_of<std::uint16_t>({static_cast<std::uint16_t>(bits)});
      most = std::max(most, format_of(key, {type}).size());
    }
    EXPECT_EQ(most, most_line_bytes(type)) << name_of(type);
  }
}

TEST(Decimal, HeedsTheByteOrderOfTheKeys) {
  const KeyFormat big{KeyType::kU32, true, false};
  const Parsed parsed = parse("1\n258\n", big);
  const Bytes wanted = {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{1},
                        std::byte{0}, std::byte{0}, std::byte{1}, std::byte{2}};
  EXPECT_EQ(parsed.keys, wanted);
  EXPECT_EQ(format_of(wanted, big), "1\n258\n");
}

TEST(Decimal, ReadsLeadingZerosAndMinusZero) {
  const Parsed parsed = parse("007\n-0\n0000000000000000000000000000000000042\n", {KeyType::kI32});
  EXPECT_FALSE(parsed.bad);
  EXPECT_EQ(parsed.keys, raw_of<std::int32_t>({7, 0, 42}));
}

TEST(Decimal, NamesTheFirstBadLine) {
  const Parsed parsed = parse("12\n345\n6x\n7y\n", {KeyType::kU16});
  ASSERT_TRUE(parsed.bad);
  EXPECT_EQ(parsed.bad->line, 2U);
  EXPECT_EQ(parsed.bad->begin, 7U);
}

TEST(Decimal, RefusesWhatIsNoNumber) {
  for (const char* const bad :
       {"", " ", "\r", "1 2", "+1", "1,2", "1.0", "0x1", "--1", "-", "1-", "1\r\r", "\r1", "- 1",
        "123456781234567x", "/", ":", "\x80", "1\x80"}) {
    for (const KeyType type : kAllKeyTypes) {
      if (is_float(type)) continue;
      const Parsed parsed = parse(std::string(bad) + "\n1\n", {type});
      ASSERT_TRUE(parsed.bad) << bad << " as " << name_of(type);
      EXPECT_EQ(parsed.bad->line, 0U);
    }
  }
  for (const char* const bad :
       {"", " ", "\r", "1 2", "+1", "1e", ".", "1.5x", "0x1p3", "--1", "1e999"}) {
    EXPECT_TRUE(parse(std::string(bad) + "\n", {KeyType::kF64}).bad) << bad;
  }
}

TEST(Decimal, ReadsBlanksAroundANumberAndCrLf) {
  for (const KeyType type : kAllKeyTypes) {
    const Parsed plain = parse("1\n12\n", {type});
    const Parsed spaced = parse(" \t1\r\n12 \t \r\n", {type});
    EXPECT_FALSE(spaced.bad) << name_of(type);
    EXPECT_EQ(spaced.keys, plain.keys) << name_of(type);
  }
}

TEST(Decimal, RefusesNumbersOutOfRange) {
  const auto refused = [](KeyType type, const std::string& text) {
    return parse(text + "\n", {type}).bad.has_value();
  };
  EXPECT_TRUE(refused(KeyType::kU8, "256"));
  EXPECT_TRUE(refused(KeyType::kU8, "-1"));
  EXPECT_TRUE(refused(KeyType::kI8, "128"));
  EXPECT_TRUE(refused(KeyType::kI8, "-129"));
  EXPECT_TRUE(refused(KeyType::kU32, "4294967296"));
  EXPECT_TRUE(refused(KeyType::kI32, "-2147483649"));
  EXPECT_TRUE(refused(KeyType::kI64, "9223372036854775808"));
  EXPECT_TRUE(refused(KeyType::kI64, "-9223372036854775809"));
  EXPECT_TRUE(refused(KeyType::kU64, "18446744073709551616"));
  EXPECT_TRUE(refused(KeyType::kU64, "99999999999999999999"));
  EXPECT_TRUE(refused(KeyType::kU64, "100000000000000000000000000"));
  EXPECT_TRUE(refused(KeyType::kU128, "-1"));
  EXPECT_TRUE(refused(KeyType::kU128, "340282366920938463463374607431768211456"));
  EXPECT_TRUE(refused(KeyType::kU128, "999999999999999999999999999999999999999"));
  EXPECT_TRUE(refused(KeyType::kU128, "3402823669209384634633746074317682114550"));
  EXPECT_TRUE(refused(KeyType::kI128, "170141183460469231731687303715884105728"));
  EXPECT_TRUE(refused(KeyType::kI128, "-170141183460469231731687303715884105729"));
  EXPECT_TRUE(refused(KeyType::kF32, "1e39"));
}

TEST(Decimal, CountsMoreNewlinesThanAByteHolds) {
  for (const std::size_t count : {255U, 2040U, 2047U, 2048U, 100'003U}) {
    EXPECT_EQ(count_newlines(std::string(count, '\n')), count);
  }
}

TEST(Decimal, CountsNewlinesAtEveryAlignment) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    for (std::size_t from = 0; from <= text.size(); ++from) {
      const std::string_view part = std::string_view(text).substr(from);
      EXPECT_EQ(count_newlines(part), static_cast<std::size_t>(std::ranges::count(part, '\n')));
    }
    text += i % 3 == 0 ? '\n' : i % 5 == 0 ? '\x0b' : '\x8a';
  }
}

KeyFormat bytes_of_hex(std::uint32_t bytes) {
  KeyFormat format;
  format.tuple.fields[0].bytes = bytes;
  format.tuple.count = 1;
  return format;
}

TEST(HexLines, AreReadBackOfEverySize) {
  for (std::uint32_t bytes = 1; bytes <= 32; ++bytes) {
    const KeyFormat format = bytes_of_hex(bytes);
    std::vector<std::byte> keys(std::size_t{9} * bytes);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::byte>(37 * i + bytes);
    std::string text(9 * most_line_bytes(format) + kTextSlack, '?');
    text.resize(format_lines(keys, format, text.data()));
    EXPECT_EQ(text.size(), 9 * most_line_bytes(format));
    std::vector<std::byte> read(keys.size());
    EXPECT_FALSE(parse_lines(text, format, read).has_value()) << text;
    EXPECT_EQ(read, keys);
  }
}

TEST(HexLines, MayHaveBlanksAndCapitals) {
  std::vector<std::byte> keys(4);
  EXPECT_FALSE(parse_lines(" aBCd\t\r\n0910\n", bytes_of_hex(2), keys).has_value());
  EXPECT_EQ(keys, (std::vector{std::byte{0xab}, std::byte{0xcd}, std::byte{9}, std::byte{16}}));
}

TEST(HexLines, OfTheWrongLengthOrWithOtherLettersAreBad) {
  for (const char* const bad :
       {"abc", "abcde", "abcg", "ab c", "", "/000", ":000", "@@@@", "````"}) {
    std::vector<std::byte> keys(4);
    const auto line = parse_lines(std::string("0000\n") + bad + "\n", bytes_of_hex(2), keys);
    ASSERT_TRUE(line.has_value()) << bad;
    EXPECT_EQ(line->line, 1U);
    EXPECT_EQ(line->begin, 5U);
  }
}

}  // namespace
}  // namespace gsort
