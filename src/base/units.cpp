#include "base/units.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"

namespace gsort {
namespace {

constexpr std::string_view kSuffixes = "KMGTPE";

Error bad_size(std::string_view text, std::string_view option, std::string_view reason) {
  return Error(ErrorKind::kUsage, fmt::format("{} '{}'", option, text), std::string(reason));
}

// The bytes that one unit of `suffix` stands for ("K", "KiB", "kb" and so on), or none.
std::optional<double> unit_of(std::string_view suffix) {
  if (suffix == "B" || suffix == "b") return 1.0;
  const auto letter = static_cast<char>(std::toupper(static_cast<unsigned char>(suffix.front())));
  const auto power = kSuffixes.find(letter);
  if (power == std::string_view::npos) return std::nullopt;
  suffix.remove_prefix(1);
  if (!suffix.empty() && suffix != "B" && suffix != "iB") return std::nullopt;
  return std::ldexp(1.0, static_cast<int>(10 * (power + 1)));
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0 || value == std::floor(value)) return fmt::format("{:.0f} {}", value, kUnits[unit]);
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, kUnits[unit]);
}

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::uint64_t parse_size(std::string_view text, std::uint64_t whole_bytes,
                         std::string_view option) {
  double value = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (problem != std::errc() || value < 0 || !std::isfinite(value) || text.front() == '-') {
    throw bad_size(text, option, "is not a size").hint("write it as 512M, 4G or 50%");
  }
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double unit = 0;
  constexpr double kMost = 0x1p63;
  const auto too_large = [&] {
    return bad_size(text, option, "is too large").hint("give less than 8E, as in 512M or 4G");
  };
  if (suffix.empty() && value >= kMost) throw too_large();
  if (suffix.empty()) {
    throw bad_size(text, option, "has no unit")
        .hint(fmt::format("write {0}M for mebibytes, {0}K for kibibytes, or {0}B for bytes", text));
  }
  if (suffix == "%") {
    if (whole_bytes == 0 || value > 100) {
      throw bad_size(text, option, "is not a valid percentage").hint("write it as 512M or 4G");
    }
    unit = static_cast<double>(whole_bytes) / 100;
  } else if (const auto known = unit_of(suffix)) {
    unit = *known;
  } else {
    throw bad_size(text, option, "has an unknown unit")
        .hint("the units are B, K, M, G, T, P, E, %");
  }
  if (unit == 1.0 && value != std::floor(value)) {
    throw bad_size(text, option, "is not a whole number of bytes").hint("leave out the fraction");
  }
  const double bytes = value * unit;
  if (bytes >= kMost) throw too_large();
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace gsort
