#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>

#include "element/value.hpp"
#include "form/decimal.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kAsciiZeros = 0x3030303030303030;
constexpr std::uint64_t kEightDigits = 100'000'000;

// The eight decimal digits of a value below 10^8, one a byte, the first one in the lowest byte.
std::uint64_t eight_digits(std::uint64_t value) {
  const std::uint64_t fours = value / 10'000 | (value % 10'000 << 32);
  const std::uint64_t hundreds = ((fours * 10'486) >> 20) & 0x0000007f0000007f;
  const std::uint64_t pairs = hundreds | ((fours - 100 * hundreds) << 16);
  const std::uint64_t tens = ((pairs * 103) >> 10) & 0x000f000f000f000f;
  return tens | ((pairs - 10 * tens) << 8);
}

char* put_word(char* out, std::uint64_t word) {
  std::memcpy(out, &word, sizeof(word));
  return out + sizeof(word);
}

// Without leading zeros; a zero is one digit.
char* put_short(char* out, std::uint64_t value) {
  const std::uint64_t digits = eight_digits(value);
  const unsigned zeros =
      static_cast<unsigned>(std::countr_zero(digits | (std::uint64_t{1} << 56))) / 8;
  put_word(out, (digits | kAsciiZeros) >> (8 * zeros));
  return out + (8 - zeros);
}

char* put_unsigned(char* out, std::uint64_t value) {
  if (value < kEightDigits) return put_short(out, value);
  const std::uint64_t high = value / kEightDigits;
  out = high < kEightDigits ? put_short(out, high)
                            : put_word(put_short(out, high / kEightDigits),
                                       eight_digits(high % kEightDigits) | kAsciiZeros);
  return put_word(out, eight_digits(value % kEightDigits) | kAsciiZeros);
}

template <class Key>
char* put_number(char* out, Key value) {
  if constexpr (kIsWide<Key>) {
    constexpr std::uint64_t kSixteenDigits = kEightDigits * kEightDigits;
    if (value > ~std::uint64_t{0}) {
      out = put_number(out, value / kSixteenDigits);
      const auto low = static_cast<std::uint64_t>(value % kSixteenDigits);
      out = put_word(out, eight_digits(low / kEightDigits) | kAsciiZeros);
      return put_word(out, eight_digits(low % kEightDigits) | kAsciiZeros);
    }
  }
  return put_unsigned(out, static_cast<std::uint64_t>(value));
}

template <class Value>
char* put_value(char* out, Value value) {
  if constexpr (kIsFloat<Value>) {
    return std::to_chars(out, out + most_line_bytes(KeyType::kF64), printable(value)).ptr;
  } else if constexpr (kIsSigned<Value>) {
    using Unsigned = KeyOf<Value>;
    const auto bits = static_cast<Unsigned>(value);
    *out = '-';
    return value < 0 ? put_number(out + 1, static_cast<Unsigned>(-bits)) : put_number(out, bits);
  } else {
    return put_number(out, value);
  }
}

template <class Value>
std::size_t put_lines(std::span<const std::byte> raw_keys, bool swaps_bytes, char* out) {
  using Key = KeyOf<Value>;
  char* at = out;
  for (std::size_t i = 0; i + sizeof(Key) <= raw_keys.size(); i += sizeof(Key)) {
    Key key{};
    std::memcpy(&key, raw_keys.data() + i, sizeof(Key));
    if (swaps_bytes) key = swap_bytes(key);
    at = put_value(at, std::bit_cast<Value>(key));
    *at++ = '\n';
  }
  return static_cast<std::size_t>(at - out);
}

std::size_t format_hex_lines(std::span<const std::byte> raw_keys, std::size_t key_bytes,
                             char* out) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  char* at = out;
  for (std::size_t i = 0; i < raw_keys.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(raw_keys[i]);
    *at++ = kHexDigits[byte >> 4];
    *at++ = kHexDigits[byte & 0xfU];
    if ((i + 1) % key_bytes == 0) *at++ = '\n';
  }
  return static_cast<std::size_t>(at - out);
}

// All of these are NaN, and all but one of each sign have a payload or are signaling.
template <class Value>
std::uint64_t count_odd_nans(std::span<const std::byte> raw_keys, bool swaps_bytes) {
  using Key = KeyOf<Value>;
  constexpr Key kMagnitude = std::numeric_limits<Key>::max() >> 1;
  constexpr auto kInfinity = std::bit_cast<Key>(std::numeric_limits<Value>::infinity());
  constexpr auto kUsual = std::bit_cast<Key>(std::numeric_limits<Value>::quiet_NaN());
  std::uint64_t count = 0;
  for (std::size_t at = 0; at + sizeof(Key) <= raw_keys.size(); at += sizeof(Key)) {
    Key key{};
    std::memcpy(&key, raw_keys.data() + at, sizeof(Key));
    const auto bits = static_cast<Key>((swaps_bytes ? swap_bytes(key) : key) & kMagnitude);
    count += bits > kInfinity && bits != kUsual ? 1U : 0U;
  }
  return count;
}

}  // namespace

std::uint64_t count_lost_nan_payloads(std::span<const std::byte> raw_keys,
                                      const KeyFormat& format) {
  return with_value_of_type(format.type, [&](auto value) -> std::uint64_t {
    using Value = decltype(value);
    if constexpr (kIsFloat<Value>) {
      return count_odd_nans<Value>(raw_keys, format.big_endian);
    } else {
      return 0;
    }
  });
}

std::size_t most_line_bytes(KeyType type) {
  return with_value_of_type(type, [](auto value) -> std::size_t {
    using Limits = std::numeric_limits<decltype(value)>;
    constexpr std::size_t kSignAndNewline = (Limits::is_signed ? 1 : 0) + 1;
    if constexpr (Limits::is_integer) return kSignAndNewline + Limits::digits10 + 1;
    constexpr std::size_t kExponent = Limits::max_exponent10 < 100 ? 4 : 5;  // "e-38"
    return kSignAndNewline + Limits::max_digits10 + 1 + kExponent;
  });
}

std::size_t most_line_bytes(const KeyFormat& key) {
  return string_bytes(key) > 0 ? 2 * string_bytes(key) + 1 : most_line_bytes(key.type);
}

std::size_t format_lines(std::span<const std::byte> raw_keys, const KeyFormat& format, char* out) {
  if (const std::size_t bytes = string_bytes(format)) return format_hex_lines(raw_keys, bytes, out);
  return with_value_of_type(format.type, [&](auto value) {
    return put_lines<decltype(value)>(raw_keys, format.big_endian, out);
  });
}

}  // namespace gsort
