// Keys as decimal text, one a line: parsing and formatting at about the speed of memory.
//
// Eight characters are processed in one 64-bit word. Parsing: xor with "00000000" turns digits into
// 0 to 9, one addition finds the first byte that is not a digit, a shift drops the rest, and three
// multiplications join the eight digits:
//
//   "12345\n.."  -> bytes 1 2 3 4 5 ? ? ?  -> shifted 0 0 0 1 2 3 4 5
//   pairs  10*d0+d1, ...                    -> 00 01 23 45
//   fours  100*pair0+pair1                  -> 0001 2345
//   eight  10000*four0+four1                -> 12345
//
// Formatting is the inverse: divisions by constants, as multiplications, split eight digits into
// bytes, and leading zeros are shifted out. Floating-point numbers go through std::from_chars and
// std::to_chars: the shortest text that reads back as the same bits. Source: D. Lemire, "Number
// parsing at a gigabyte per second", doi:10.1002/spe.2984.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "element/key.hpp"

namespace gsort {

// Bytes after a text that must be readable, and after formatted text writable: whole words are
// moved.
inline constexpr std::size_t kTextSlack = 32;

inline constexpr std::size_t kLeastLineBytes = 2;  // a digit and a newline

// The most bytes of one line, its newline included, that format_lines makes of a key.
[[nodiscard]] std::size_t most_line_bytes(KeyType type);
[[nodiscard]] std::size_t most_line_bytes(const KeyFormat& key);

[[nodiscard]] std::size_t count_newlines(std::string_view text);

// A line that is not a number of the type: its number in the text, from 0, and its start.
struct BadLine {
  std::size_t line = 0;
  std::size_t begin = 0;
};

// The line without the blanks around its number, and without the CR of a CR LF.
[[nodiscard]] std::string_view without_blanks(std::string_view line);

// Reads one key a line: a key of bytesN as 2N hexadecimal digits, a number in
// decimal digits, '-' in front if negative; floating-point numbers as std::from_chars reads them
// ("1e-3", "inf", "nan"). Leading zeros, blanks around the number and lines that end with CR LF are
// accepted; plus signs and empty lines are not. Requires: every line of `text` ends with a newline,
// `raw_keys` has room for exactly the keys of all lines and does not overlap it, kTextSlack bytes
// behind the text are readable. Returns: the first bad line; the keys before it have been written.
[[nodiscard]] std::optional<BadLine> parse_lines(std::string_view text, const KeyFormat& format,
                                                 std::span<std::byte> raw_keys);

// The number of NaN whose bits their text does not hold: it is "nan" or "-nan", which reads back as
// the quiet NaN without a payload.
[[nodiscard]] std::uint64_t count_lost_nan_payloads(std::span<const std::byte> raw_keys,
                                                    const KeyFormat& format);

// Writes one key a line, and returns the bytes written.
// Requires: room at `out` for most_line_bytes() of each key, and kTextSlack.
std::size_t format_lines(std::span<const std::byte> raw_keys, const KeyFormat& format, char* out);

}  // namespace gsort
