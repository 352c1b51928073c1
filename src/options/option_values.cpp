#include "options/option_values.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "element/fingerprint.hpp"

namespace gsort {
namespace {

// The whole for percentages while only their syntax matters: large enough for all.
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

NamedType parse_key_type(std::string_view text, std::string_view option) {
  if (const auto type = type_named(text)) return *type;
  throw bad_value(text, option, "is not a key type").hint(hint_for_type(text));
}

void set_type(Options& options, std::string_view text, std::string_view option) {
  options.key.tuple = {};
  if (const auto bytes = string_named(text)) {
    options.key.tuple.fields[0].bytes = *bytes;
    options.key.tuple.count = 1;
    options.key.type = KeyFormat{}.type;
    return;
  }
  const NamedType named = parse_key_type(text, option);
  options.key.type = named.type;
  if (!named.big_endian) return;
  options.key.big_endian = *named.big_endian;
  options.byte_order_is_asked = true;
}

unsigned parse_count(std::string_view text, unsigned least, unsigned most,
                     std::string_view option) {
  const auto value = whole_number<unsigned>(text);
  if (value && *value >= least && *value <= most) return *value;
  throw bad_value(text, option, "is not a valid number")
      .hint(fmt::format("give a whole number from {} to {}", least, most));
}

DeviceChoice parse_devices(std::string_view text, std::string_view option) {
  constexpr unsigned kMostDevice = 1023;
  constexpr std::size_t kMostDevices = 64;
  DeviceChoice choice;
  choice.all = text == "all";
  if (choice.all || text == "auto") return choice;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto device = whole_number<unsigned>(text.substr(begin, end - begin));
    if (!device || *device > kMostDevice) {
      throw bad_value(text, option, "is not a list of device numbers")
          .hint(fmt::format("give numbers from 0 to {} separated by commas, as in {}=0,1, or all, "
                            "or auto",
                            kMostDevice, option));
    }
    choice.listed.push_back(*device);
    begin = end + 1;
  }
  if (choice.listed.size() > kMostDevices) {
    throw bad_value(text, option, "names too many devices")
        .hint(fmt::format("a sort uses {} at most", kMostDevices));
  }
  return choice;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text, std::uint64_t most) {
  auto bytes = whole_number<std::uint64_t>(text);
  try {
    if (!bytes) bytes = parse_size(text, 0, "");
  } catch (const Error&) {
  }
  return bytes <= most ? bytes : std::nullopt;
}

std::string checked_size(std::string_view text, std::string_view option) {
  static_cast<void>(parse_size(text, kAnyWholeBytes, option));
  return std::string(text);
}

std::string checked_fingerprint(std::string_view text, std::string_view option) {
  std::string small = lower_case(text);  // other programs may print capitals
  if (parse_fingerprint(small)) return small;
  throw bad_value(text, option, "is not a fingerprint")
      .hint(
          "give the whole fingerprint: a count and two sums in hexadecimal, as in "
          "3e8:f1df234947725f47:f299fe22f7b9830e");
}

std::string checked_path(std::string_view text, std::string_view option) {
  if (text.empty()) throw bad_value(text, option, "is empty").hint("give a name");
  return std::string(text);
}

}  // namespace gsort
