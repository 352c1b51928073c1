// The reference for decimal text: the standard library's own, one value a line.
#pragma once

#include <array>
#include <charconv>
#include <string>
#include <vector>

namespace gsort::test {

template <class Value>
[[nodiscard]] std::string decimal_of(Value value) {
  if constexpr (sizeof(Value) > sizeof(std::uint64_t)) {  // the last digit, and what is before it
    const auto digit = static_cast<int>(value % 10);
    const Value rest = value / 10;
    const std::string last(1, static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    return rest == 0 ? (digit < 0 ? "-" + last : last) : decimal_of(rest) + last;
  } else {
    std::array<char, 64> line{};
    return {line.data(), std::to_chars(line.data(), line.data() + line.size(), value).ptr};
  }
}

template <class Value>
[[nodiscard]] std::string decimal_text(const std::vector<Value>& values) {
  std::string text;
  for (const Value value : values) {
    text += decimal_of(value) + '\n';
  }
  return text;
}

}  // namespace gsort::test
