#include "form/text_error.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "base/quoted.hpp"
#include "element/record_text.hpp"
#include "element/value.hpp"
#include "form/counted_lines.hpp"
#include "form/decimal.hpp"

namespace gsort::io {
namespace {

constexpr std::string_view kDigits = "0123456789";

// The word of `line` around `at`: up to the blanks on both sides, or the blank itself.
std::string_view word_around(std::string_view line, std::size_t at) {
  constexpr std::string_view kBlanks = " \t\r";
  if (at >= line.size() || kBlanks.find(line[at]) != std::string_view::npos) {
    return line.substr(std::min(at, line.size()), 1);
  }
  const auto before = line.find_last_of(kBlanks, at);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return line.substr(begin, line.find_first_of(kBlanks, at) - begin);
}

// The position of the first byte that no integer can have there.
std::size_t first_wrong_byte(std::string_view line, bool sign_allowed) {
  const std::size_t first = sign_allowed && line.starts_with('-') ? 1 : 0;
  return std::min(line.find_first_not_of(kDigits, first), line.size());
}

std::string range_of(KeyType type) {
  return with_value_of_type(type, [&](auto value) {
    using Value = decltype(value);
    using Limits = std::numeric_limits<Value>;
    if constexpr (kIsShortFloat<Value>) {  // the shortest text of the greatest one is less than it
      const float most = Limits::max().value();
      const float limit = most + (most - Value{Limits::max().bits - 1U}.value()) / 2;
      return fmt::format(
          "{0} holds numbers from -{1} to {1}; numbers beyond, but below {2}, are rounded to these",
          name_of(type), most, limit);
    } else {
      return fmt::format("{} holds numbers from {} to {}", name_of(type), Limits::lowest(),
                         Limits::max());
    }
  });
}

Error wrong(const std::string& path, std::uint64_t number, std::size_t column, std::string what,
            std::string_view hint) {
  return Error(ErrorKind::kInput, "reading",
               fmt::format("line {}, column {}: {}", number, column, what))
      .path(path)
      .hint(hint);
}

// Whether the word is a number that only floating-point types can hold.
bool is_of_float(std::string_view word) {
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, problem] = std::from_chars(word.data(), end, value);
  return problem != std::errc::invalid_argument && stop == end;
}

// Whether the line is a number outside the range of the type.
bool is_only_out_of_range(std::string_view line, KeyType type) {
  if (!is_float(type)) {
    const bool minus = line.starts_with('-');
    return line.size() > (minus ? 1U : 0U) && first_wrong_byte(line, minus) == line.size();
  }
  return with_value_of_type(type, [line](auto value) {
    const char* const end = line.data() + line.size();
    const auto [stop, problem] = read_value(line.data(), end, value);
    return problem == std::errc::result_out_of_range && stop == end;
  });
}

// Whether a floating-point number that is out of range is too small, not too large.
bool is_near_zero(std::string_view line) {
  long double value = 0;  // reaches further than all types; beyond that the exponent tells
  const auto [stop, problem] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (problem == std::errc()) return value > -1 && value < 1;
  return line.find("e-") != std::string_view::npos || line.find("E-") != std::string_view::npos;
}

// The end of a hint: a type of 64 bits that holds the number, if there is one.
std::string another_type(std::string_view line, KeyType type) {
  const auto holds = [line](auto value) {
    const char* const end = line.data() + line.size();
    const auto [stop, problem] = std::from_chars(line.data(), end, value);
    return problem == std::errc() && stop == end;
  };
  const char* name = nullptr;
  if (is_float(type)) {
    if (holds(double{})) name = "f64";
  } else if (holds(std::int64_t{})) {
    name = "i64";
  } else if (holds(std::uint64_t{})) {
    name = "u64";
  }
  return name == nullptr ? "; -t takes another type" : fmt::format("; -t {} holds this one", name);
}

std::string next_to_zero(KeyType type) {
  return with_value_of_type(type, [&](auto value) {
    return fmt::format("{} has no value between 0 and {}", name_of(type),
                       printable(std::numeric_limits<decltype(value)>::denorm_min()));
  });
}

}  // namespace

Error bad_line(const std::string& path, std::uint64_t number, std::string_view whole_line,
               KeyType type) {
  constexpr std::string_view kForm = "each line holds one number, and nothing else";
  const std::string_view line = without_blanks(whole_line);
  if (line.empty()) {
    return wrong(path, number, 1, "the line is empty", "remove empty lines: grep '\\S' < FILE");
  }
  const auto indent = static_cast<std::size_t>(line.data() - whole_line.data());
  if (whole_line.starts_with("\xff\xfe") || whole_line.starts_with("\xfe\xff")) {
    return wrong(path, number, 1, "the text is in UTF-16",
                 "convert it: iconv -f UTF-16 -t UTF-8 < FILE");
  }
  if (const auto end = line.find('\r'); end != std::string_view::npos) {
    return wrong(path, number, indent + end + 1, "the lines end with CR alone",
                 "turn the CRs into ends of lines: tr '\\r' '\\n' < FILE");
  }
  if (line.starts_with('+')) {
    return wrong(path, number, indent + 1, fmt::format("{} begins with a plus sign", quoted(line)),
                 "remove the plus signs: tr -d + < FILE");
  }
  if (is_only_out_of_range(line, type)) {
    if (is_float(type) && is_near_zero(line)) {
      return wrong(path, number, indent + 1,
                   fmt::format("{} is too close to 0 for {}", quoted(line), name_of(type)),
                   next_to_zero(type) + another_type(line, type));
    }
    return wrong(path, number, indent + 1,
                 fmt::format("{} does not fit {}", quoted(line), name_of(type)),
                 range_of(type) + another_type(line, type));
  }
  const std::size_t at = is_float(type) ? std::min(line.find_first_of(" \t"), line.size())
                                        : first_wrong_byte(line, is_signed_integer(type));
  const std::size_t wrong_at = is_float(type) && at == line.size() ? 0 : at;
  const std::size_t column = indent + wrong_at + 1;
  const std::string_view word = word_around(line, wrong_at);
  if (!is_float(type) && is_of_float(line)) {
    return wrong(
        path, number, column, fmt::format("{} is not a whole number", quoted(line)),
        fmt::format("likely {} is the wrong type: -t f64 sorts such numbers", name_of(type)));
  }
  const bool has_columns = word == " " || word == "\t";
  return wrong(
      path, number, column,
      fmt::format("{} is not {}", quoted(word.empty() ? line : word),
                  is_float(type) ? "a number" : "a whole number"),
      has_columns ? "take one column of it, such as the first: awk '{print $1}' < FILE" : kForm);
}

Error bad_hex_line(const std::string& path, std::uint64_t number, std::string_view line,
                   std::size_t key_bytes) {
  return wrong(path, number, 1,
               fmt::format("{} is not {} hexadecimal digits", quoted(line), 2 * key_bytes),
               fmt::format("each line holds one key of bytes{}, and nothing else", key_bytes));
}

Error bad_counted_line(const std::string& path, std::uint64_t number, std::string_view line,
                       const KeyFormat& key) {
  return wrong(path, number, 1,
               fmt::format("{} is not a count and a key of type {}", quoted(line), type_text(key)),
               kCountsHint);
}

Error line_too_long(const std::string& path, std::uint64_t number, std::string_view begin) {
  return wrong(path, number, 1,
               fmt::format("{} is longer than {} bytes", quoted(begin), begin.size()),
               "is it text? --format=bin reads raw keys");
}

}  // namespace gsort::io
