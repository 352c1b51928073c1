// Reads a Python literal, as the headers of .npy files have it, from left to right.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace gsort::io {

// The Error for an array that cannot be sorted, with a hint.
[[nodiscard]] Error bad_array(const std::string& path, std::string reason, std::string_view hint);

// The Error for an invalid header.
[[nodiscard]] Error bad_header(const std::string& path, std::string reason);

// The UTF-8 text of bytes in Latin-1.
[[nodiscard]] inline std::string utf8_of_latin1(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x80) {
      text += byte;
    } else {
      text += {static_cast<char>(0xc0U | code >> 6U), static_cast<char>(0x80U | (code & 0x3fU))};
    }
  }
  return text;
}

// Every member skips blanks before the part that it reads. Throws: Error(kInput) if that part is
// missing.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, const std::string& path, bool is_latin1 = false)
      : rest_(text), path_(path), is_latin1_(is_latin1) {}

  [[nodiscard]] const std::string& path() const { return path_; }

  // The text that has not been read yet.
  [[nodiscard]] std::string_view rest() {
    skip_blanks();
    return rest_;
  }

  [[nodiscard]] char peek() { return rest().empty() ? '\0' : rest_.front(); }

  bool accept_word(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool accept(char wanted) { return accept_word(std::string_view(&wanted, 1)); }
  void expect(char wanted) {
    if (!accept(wanted)) fail();
  }

  // After an item of a list that ends with `end`.
  void expect_comma_or(char end) {
    if (!accept(',') && peek() != end) fail();
  }

  // A text without its quotation marks; a character after a backslash is never the end.
  std::string_view quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail();
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != quote) end += rest_[end] == '\\' ? 2U : 1U;
    if (end >= rest_.size()) fail();
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  // The same in UTF-8, as users type and see the name: without the backslashes that NumPy adds
  // before backslashes and quotation marks.
  std::string quoted_name() {
    const std::string_view text = quoted();
    std::string name = is_latin1_ ? utf8_of_latin1(text) : std::string(text);
    std::size_t at = name.find('\\');
    for (; at != name.npos && at + 1 < name.size(); at = name.find('\\', at + 1)) {
      if (std::string_view("\\'\"").find(name[at + 1]) != name.npos) name.erase(at, 1);
    }
    return name;
  }

  // Takes a number that is not greater than `most`. An L may follow: Python 2 writes it after some.
  std::uint64_t number(std::uint64_t most) {
    skip_blanks();
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (problem != std::errc() || value > most) fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    static_cast<void>(accept('L'));
    return value;
  }

  [[noreturn]] void fail() const { throw bad_header(path_, "it is not in the form NumPy writes"); }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  std::string_view rest_;
  const std::string& path_;
  bool is_latin1_;  // else UTF-8
};

}  // namespace gsort::io
