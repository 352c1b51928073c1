#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "element/value.hpp"
#include "form/decimal.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kEachByte = 0x0101010101010101;

constexpr std::array<std::uint64_t, 9> kPowersOfTen = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

std::uint64_t load_word(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// The digits at the beginning of eight characters.
struct Digits {
  unsigned count;
  std::uint64_t value;
};

Digits read_digits(const char* at) {
  const std::uint64_t bytes = load_word(at) ^ (kEachByte * '0');
  const std::uint64_t others =
      (((bytes & (kEachByte * 0x7f)) + kEachByte * (0x80 - 10)) | bytes) & (kEachByte * 0x80);
  const unsigned count = others == 0 ? 8U : static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (count == 0) return {0, 0};
  const std::uint64_t digits = bytes << (8 * (8 - count));
  const std::uint64_t pairs = digits * 10 + (digits >> 8);
  constexpr std::uint64_t kMask = 0x000000ff000000ff;
  const std::uint64_t value = ((pairs & kMask) * (100 + (std::uint64_t{1'000'000} << 32)) +
                               ((pairs >> 16) & kMask) * (1 + (std::uint64_t{10'000} << 32))) >>
                              32;
  return {count, value};
}

// Up to 20 digits; the count is 0 if there are none, more, or a value beyond 64 bits.
Digits read_long_digits(const char* at) {
  Digits all = read_digits(at);
  if (all.count < 8) return all;
  const Digits second = read_digits(at + 8);
  all = {8 + second.count, all.value * kPowersOfTen[second.count] + second.value};
  if (second.count < 8) return all;
  const Digits third = read_digits(at + 16);
  std::uint64_t value = 0;
  if (third.count > 4 || __builtin_mul_overflow(all.value, kPowersOfTen[third.count], &value) ||
      __builtin_add_overflow(value, third.value, &value)) {
    return {0, 0};
  }
  return {16 + third.count, value};
}

// Reads the line [begin, end) by the standard library, which decides every case.
template <class Value>
bool read_any(std::string_view line, Value& value) {
  const std::string_view number = without_blanks(line);
  const char* const end = number.data() + number.size();
  const auto [stop, problem] = read_value(number.data(), end, value);
  return problem == std::errc() && stop == end;
}

// Reads the line at `at`, and returns the beginning of the next one; nullptr if it is not a number.
template <class Value>
const char* read_line(const char* at, const char* end_of_text, Value& value) {
  if constexpr (std::is_integral_v<Value>) {
    const bool negative = std::is_signed_v<Value> && *at == '-';
    const char* const first = at + (negative ? 1 : 0);
    const Digits digits = read_long_digits(first);
    const auto most = static_cast<std::uint64_t>(std::numeric_limits<Value>::max());
    const char* const stop = first + digits.count;
    if (digits.count > 0 && *stop == '\n' && digits.value <= most + (negative ? 1U : 0U)) {
      value = static_cast<Value>(negative ? std::uint64_t{0} - digits.value : digits.value);
      return stop + 1;
    }
  }
  const auto* const end =
      static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end_of_text - at)));
  return read_any({at, end}, value) ? end + 1 : nullptr;
}

template <class Value>
std::optional<BadLine> read_lines(std::string_view text, bool swaps_bytes,
                                  std::span<std::byte> raw_keys) {
  using Key = KeyOf<Value>;
  const char* at = text.data();
  const char* const end = at + text.size();
  const std::size_t lines = raw_keys.size() / sizeof(Value);
  for (std::size_t line = 0; line < lines; ++line) {
    Value value{};
    const char* const next = read_line(at, end, value);
    if (next == nullptr) return BadLine{line, static_cast<std::size_t>(at - text.data())};
    auto key = std::bit_cast<Key>(value);
    if (swaps_bytes) key = swap_bytes(key);
    std::memcpy(raw_keys.data() + line * sizeof(Key), &key, sizeof(Key));
    at = next;
  }
  return std::nullopt;
}

// The value of each hexadecimal digit.
constexpr std::uint8_t kNoHexDigit = 0xff;

constexpr std::array<std::uint8_t, 256> kHexValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoHexDigit);
  for (std::uint8_t digit = 0; digit < 10; ++digit) values['0' + digit] = digit;
  for (std::uint8_t letter = 0; letter < 6; ++letter) {
    values['a' + letter] = values['A' + letter] = static_cast<std::uint8_t>(10 + letter);
  }
  return values;
}();

// Writes the key in the line; returns whether the line is a key.
bool read_hex_key(std::string_view line, std::span<std::byte> key) {
  if (line.size() != 2 * key.size()) return false;
  unsigned all = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const unsigned high = kHexValues[static_cast<unsigned char>(line[2 * i])];
    const unsigned low = kHexValues[static_cast<unsigned char>(line[2 * i + 1])];
    all |= high | low;
    key[i] = static_cast<std::byte>(high << 4 | low);
  }
  return all < 16U;
}

// A key of bytesN a line.
std::optional<BadLine> parse_hex_lines(std::string_view text, std::size_t key_bytes,
                                       std::span<std::byte> raw_keys) {
  std::size_t begin = 0;
  for (std::size_t number = 0; number * key_bytes < raw_keys.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    const std::string_view line = without_blanks(text.substr(begin, end - begin));
    if (!read_hex_key(line, raw_keys.subspan(number * key_bytes, key_bytes))) {
      return BadLine{number, begin};
    }
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace

std::string_view without_blanks(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto is_blank = [](char letter) { return letter == ' ' || letter == '\t'; };
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

std::size_t count_newlines(std::string_view text) {
  // A byte of `found` counts the newlines at its place in the words, and is emptied before it is
  // full.
  constexpr std::size_t kMostWords = 255;
  std::size_t count = 0;
  std::size_t at = 0;
  while (text.size() - at >= 8) {
    std::uint64_t found = 0;
    const std::size_t stop = at + std::min(kMostWords, (text.size() - at) / 8) * 8;
    for (; at < stop; at += 8) {
      const std::uint64_t bytes = load_word(text.data() + at) ^ (kEachByte * '\n');
      const std::uint64_t others = ((bytes & (kEachByte * 0x7f)) + kEachByte * 0x7f) | bytes;
      found += (~others & (kEachByte * 0x80)) >> 7;
    }
    constexpr std::uint64_t kEachPair = 0x0001000100010001;
    const std::uint64_t pairs = (found & (kEachPair * 0xff)) + ((found >> 8) & (kEachPair * 0xff));
    count += (pairs * kEachPair) >> 48;
  }
  for (; at < text.size(); ++at) count += text[at] == '\n' ? 1U : 0U;
  return count;
}

std::optional<BadLine> parse_lines(std::string_view text, const KeyFormat& format,
                                   std::span<std::byte> raw_keys) {
  if (const std::size_t bytes = string_bytes(format)) return parse_hex_lines(text, bytes, raw_keys);
  return with_value_of_type(format.type, [&](auto value) {
    return read_lines<decltype(value)>(text, format.big_endian, raw_keys);
  });
}

}  // namespace gsort
