// Any keys of any type survive the way to decimal text and back, and the text is what the library
// would have written.
#include "form/decimal.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "element/value.hpp"
#include "support/decimal_text.hpp"

namespace gsort {
namespace {

// Keys of any length in digits: any bits, shifted by any number of places.
template <class Value>
std::vector<Value> any_values() {
  using Key = KeyOf<Value>;
  using Bits = std::array<std::uint8_t, sizeof(Key)>;
  const auto keys = *rc::gen::container<std::vector<Bits>>(rc::gen::arbitrary<Bits>());
  std::vector<Value> values;
  for (const Bits& bits : keys) {
    const auto key = std::bit_cast<Key>(bits);
    const int shift = *rc::gen::inRange(0, static_cast<int>(8 * sizeof(Key)));
    const auto value = std::bit_cast<Value>(static_cast<Key>(key >> shift));
    if constexpr (kIsFloat<Value>) {
      if (std::isnan(printable(value))) continue;  // text keeps a NaN's sign, not its other bits
    }
    values.push_back(value);
  }
  return values;
}

template <class Value>
void expect_way_and_back(KeyType type) {
  const std::vector<Value> values = any_values<Value>();
  const auto keys = std::as_bytes(std::span(values));
  std::string text(values.size() * most_line_bytes(type) + kTextSlack, '\0');
  const std::size_t bytes = format_lines(keys, {type}, text.data());
  if constexpr (!kIsShortFloat<Value>) {
    RC_ASSERT(text.substr(0, bytes) == test::decimal_text(values));
  }
  RC_ASSERT(count_newlines(std::string_view(text).substr(0, bytes)) == values.size());
  std::vector<std::byte> back(keys.size());
  RC_ASSERT(!parse_lines(std::string_view(text).substr(0, bytes), {type}, back));
  RC_ASSERT(std::ranges::equal(back, keys));
}

TEST(DecimalProperty, AnyKeysSurviveTheWayToTextAndBack) {
  for (const KeyType type : kAllKeyTypes) {
    with_value_of_type(type, [&](auto value) {
      EXPECT_TRUE(rc::check(std::string(name_of(type)),
                            [&] { expect_way_and_back<decltype(value)>(type); }));
    });
  }
}

// Digits, signs, blanks and what is none of these, in short lines.
TEST(DecimalProperty, AnyLineIsReadAsTheLibraryReadsIt) {
  static const std::regex kLine("[ \\t]*(-?[0-9]+)[ \\t]*\r?");
  EXPECT_TRUE(rc::check([] {
    const auto line = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("0123456789012345678901234567890123456789-+ .x\r")));
    const std::string text = line + '\n' + std::string(kTextSlack, '\0');
    std::int64_t wanted = 0;
    std::smatch found;
    const bool is_number = std::regex_match(line, found, kLine);
    const std::string number = is_number ? found[1].str() : "";
    const auto [stop, problem] =
        std::from_chars(number.data(), number.data() + number.size(), wanted);
    const bool good = problem == std::errc();
    std::array<std::byte, 8> key{};
    const auto bad =
        parse_lines(std::string_view(text).substr(0, line.size() + 1), {KeyType::kI64}, key);
    RC_ASSERT(bad.has_value() != good);
    if (good) RC_ASSERT(std::bit_cast<std::int64_t>(key) == wanted);
  }));
}

}  // namespace
}  // namespace gsort
