#include "options/option_values.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "element/fingerprint.hpp"

namespace gsort {
namespace {

// What a percentage is taken of while only its syntax matters: large enough for any.
constexpr std::uint64_t kAnyWholeBytes = kTiB;

Error bad_value(std::string_view text, std::string_view option, std::string_view reason) {
  return {ErrorKind::kUsage, fmt::format("{} '{}'", option, text), std::string(reason)};
}

}  // namespace

void throw_bad_choice(std::string_view text, std::span<const std::string_view> allowed,
                      std::string_view option) {
  throw bad_value(text, option, "is not one of its values")
      .hint(fmt::format("the values are {}", fmt::join(allowed, ", ")));
}

KeyType parse_key_type(std::string_view text, std::string_view option) {
  if (const auto type = key_type_named(text)) return *type;
  throw bad_value(text, option, "is not a key type")
      .hint(fmt::format("the types are {}", kKeyTypeNames));
}

unsigned parse_count(std::string_view text, unsigned least, unsigned most,
                     std::string_view option) {
  unsigned value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw bad_value(text, option, "is not a valid number")
        .hint(fmt::format("give a whole number from {} to {}", least, most));
  }
  return value;
}

unsigned parse_device(std::string_view text, std::string_view option) {
  constexpr unsigned kMostDevices = 1024;
  const auto comma = std::min(text.find(','), text.size());
  const std::string_view first = text.substr(0, comma);
  const unsigned device = parse_count(first, 0, kMostDevices - 1, option);
  if (comma == text.size()) return device;
  throw bad_value(text, option, "names several devices, and a sort uses one")
      .hint(fmt::format("give one of them, as in {}={}", option, first));
}

std::string checked_size(std::string_view text, std::string_view option) {
  static_cast<void>(parse_size(text, kAnyWholeBytes, option));
  return std::string(text);
}

std::string checked_fingerprint(std::string_view text, std::string_view option) {
  if (parse_fingerprint(text)) return std::string(text);
  throw bad_value(text, option, "is not a fingerprint")
      .hint(
          "give all of what --fingerprint prints: a count and two sums in hexadecimal, as in "
          "3e8:f1df234947725f47:f299fe22f7b9830e");
}

std::string checked_path(std::string_view text, std::string_view option) {
  if (text.empty()) throw bad_value(text, option, "is empty").hint("give the name of a file");
  return std::string(text);
}

}  // namespace gsort
