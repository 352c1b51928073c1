#include "form/type_name.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "element/record_format.hpp"

namespace gsort {
namespace {

// The beginnings of names of NumPy and C, and gsort's own; the number of bits follows.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kBeginnings = {
    {{"uint", "u"},
     {"int", "i"},
     {"float", "f"},
     {"bfloat", "bf"},
     {"datetime", "time"},
     {"timedelta", "time"}}};

std::optional<KeyType> synonym(std::string_view word) {
  if (word == "double") return KeyType::kF64;
  if (word.ends_with("_t")) word.remove_suffix(2);
  for (const auto& [theirs, ours] : kBeginnings) {
    if (!word.starts_with(theirs)) continue;
    return key_type_named(std::string(ours).append(word.substr(theirs.size())));
  }
  return std::nullopt;
}

// "u8" of "<u8": the kind of a number and its bytes.
std::optional<KeyType> type_of_code(std::string_view code) {
  unsigned bytes = 0;
  const char* const end = code.data() + code.size();
  if (code.empty() || std::string_view("uif").find(code.front()) == std::string_view::npos) {
    return std::nullopt;
  }
  const auto [stop, problem] = std::from_chars(code.data() + 1, end, bytes);
  if (problem != std::errc() || stop != end || bytes == 0 || bytes > sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  return key_type_named(fmt::format("{}{}", code.front(), 8 * bytes));
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return small;
}

std::optional<NamedType> type_named(std::string_view word) {
  const std::string small = lower_case(word);
  if (const auto type = key_type_named(small)) return NamedType{*type, {}};
  if (const auto type = synonym(small)) return NamedType{*type, {}};
  if (small.empty() || std::string_view("<>=|").find(small.front()) == std::string_view::npos) {
    return std::nullopt;
  }
  const auto type = type_of_code(std::string_view(small).substr(1));
  if (!type || (small.front() == '|' && bytes_of(*type) > 1)) return std::nullopt;
  return NamedType{*type, small.front() == '>'};
}

std::optional<std::uint32_t> string_named(std::string_view word) {
  constexpr std::string_view kBytes = "bytes";
  const std::string small = lower_case(word);
  std::uint32_t bytes = 0;
  if (!small.starts_with(kBytes)) return std::nullopt;
  const char* const end = small.data() + small.size();
  const auto [stop, problem] = std::from_chars(small.data() + kBytes.size(), end, bytes);
  const bool is_number = problem == std::errc() && stop == end;
  if (!is_number || bytes == 0 || bytes > RecordFormat::kMostKeyBytes) return std::nullopt;
  return bytes;
}

std::string hint_for_type(std::string_view word) {
  const std::string small = lower_case(word);
  if (const auto type = type_of_code(small)) {
    return fmt::format("names of types count bits: NumPy's {} is {}, or '<{}'", small,
                       name_of(*type), small);
  }
  return fmt::format("the types are {}; bytesN, with N up to {}, compares N bytes", kKeyTypeNames,
                     RecordFormat::kMostKeyBytes);
}

}  // namespace gsort
