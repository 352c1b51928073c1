#include "base/quoted.hpp"

#include <fmt/format.h>

namespace gsort {

std::string quoted(std::string_view text) {
  constexpr std::size_t kMostQuoted = 24;
  std::string out = "'";
  for (const char byte : text.substr(0, kMostQuoted)) {
    const auto code = static_cast<unsigned char>(byte);
    out += code >= 0x20 && code < 0x7f ? std::string(1, byte) : fmt::format("\\x{:02x}", code);
  }
  return out + (text.size() > kMostQuoted ? "...'" : "'");
}

}  // namespace gsort
