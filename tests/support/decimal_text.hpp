// What decimal text is compared with: the library's own, one value a line.
#pragma once

#include <array>
#include <charconv>
#include <string>
#include <vector>

namespace gsort::test {

template <class Value>
[[nodiscard]] std::string decimal_text(const std::vector<Value>& values) {
  std::string text;
  for (const Value value : values) {
    std::array<char, 64> line{};
    text.append(line.data(), std::to_chars(line.data(), line.data() + line.size(), value).ptr);
    text += '\n';
  }
  return text;
}

}  // namespace gsort::test
