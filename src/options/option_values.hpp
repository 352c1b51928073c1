// Converts the text of a value to the value. `option` names the option in errors, as "--type".
// Errors are Error(kUsage), with a hint that names valid values.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "form/type_name.hpp"
#include "options/options.hpp"

namespace gsort {

// Bounds of values from the command line and from callers of the library.
inline constexpr unsigned kMostThreads = 4096;
inline constexpr unsigned kLeastFanIn = 2;
inline constexpr unsigned kMostFanIn = 1U << 20;
inline constexpr unsigned kMostParts = 256;  // each keeps a file open until the end

[[nodiscard]] NamedType parse_key_type(std::string_view text, std::string_view option);

// Sets the type, and the byte order if the name gives it.
void set_type(Options& options, std::string_view text, std::string_view option);

// Reads the whole text as a number; an unsigned number has no sign. Returns none for other text, or
// if Number cannot hold the number.
template <class Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A whole number from `least` to `most`.
[[nodiscard]] unsigned parse_count(std::string_view text, unsigned least, unsigned most,
                                   std::string_view option);

// A size, as "4K"; a bare number, as "100", counts bytes. None if the text is not a size, or the
// size is more than `most`.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text, std::uint64_t most);

// "2", "0,1", "all", "auto".
[[nodiscard]] DeviceChoice parse_devices(std::string_view text, std::string_view option);

// A size whose syntax is right, percentages included, still as text.
[[nodiscard]] std::string checked_size(std::string_view text, std::string_view option);

// A fingerprint as gsort prints it.
[[nodiscard]] std::string checked_fingerprint(std::string_view text, std::string_view option);

// A name of a file or folder: anything but the empty text.
[[nodiscard]] std::string checked_path(std::string_view text, std::string_view option);

// The error for a value that is not among `allowed` ("text, json").
[[noreturn]] void throw_bad_choice(std::string_view text, std::span<const std::string_view> allowed,
                                   std::string_view option);

template <class Value>
using Choice = std::pair<std::string_view, Value>;

inline constexpr Choice<Show> kGenerated[] = {  // values of --generate
    {"man", Show::kManual},
    {"bash", Show::kBash},
    {"zsh", Show::kZsh},
    {"fish", Show::kFish}};

// One of a few words.
template <class Value, std::size_t kCount>
[[nodiscard]] Value parse_choice(std::string_view text, const Choice<Value> (&choices)[kCount],
                                 std::string_view option) {
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
  }
  std::vector<std::string_view> allowed;
  for (const auto& choice : choices) allowed.push_back(choice.first);
  throw_bad_choice(text, allowed, option);
}

}  // namespace gsort
