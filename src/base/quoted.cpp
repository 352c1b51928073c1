#include "base/quoted.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/units.hpp"

namespace gsort {
namespace {

std::string escaped(char byte) {
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
}

}  // namespace

std::size_t character_bytes(std::string_view text) {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return 0;
  std::uint32_t code = first & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0xa0, 0x800, 0x10000};  // by two, three and four bytes
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast[bytes - 2] || code > 0x10ffff || is_surrogate ? 0 : bytes;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kMostQuoted = 24;
  std::string out = "'";
  for (const char byte : text.substr(0, kMostQuoted)) {
    const auto code = static_cast<unsigned char>(byte);
    out += code >= 0x20 && code < 0x7f ? std::string(1, byte) : escaped(byte);
  }
  return out + (text.size() > kMostQuoted ? "...'" : "'");
}

std::string printable(std::string_view text, std::size_t most_bytes) {
  std::string out;
  std::size_t at = 0;
  while (at < std::min(text.size(), most_bytes)) {
    const std::size_t bytes = character_bytes(text.substr(at));
    out += bytes > 0 ? std::string(text.substr(at, bytes)) : escaped(text[at]);
    at += std::max<std::size_t>(bytes, 1);
  }
  return out + (at < text.size() ? "..." : "");
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=+@%-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text.front() == '-' ? "./" : "").append(text);
  }
  std::string word = "'";
  for (const char letter : text) word += letter == '\'' ? "'\\''" : std::string(1, letter);
  return word + "'";
}

std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural) {
  return format_count(count).append(" ").append(noun).append(count == 1 ? "" : plural);
}

}  // namespace gsort
