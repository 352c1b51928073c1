// Names of key types as users write them: gsort's own, those of NumPy and C, and NumPy's codes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "element/key.hpp"

namespace gsort {

struct NamedType {
  KeyType type = KeyType::kI32;
  std::optional<bool> big_endian;  // if the name gives it: '>f8'

  friend bool operator==(const NamedType&, const NamedType&) = default;
};

// Ignores case: "u64", "uint64", "uint64_t", "double", "<u8". Returns nullopt for other words, and
// for NumPy's codes without a byte order: NumPy's u8 has 64 bits, gsort's 8.
[[nodiscard]] std::optional<NamedType> type_named(std::string_view word);

// The N of "bytesN", 1 to RecordFormat::kMostKeyBytes; nullopt for other words.
[[nodiscard]] std::optional<std::uint32_t> string_named(std::string_view word);

// The possible names, for the hint of an Error about `word`.
[[nodiscard]] std::string hint_for_type(std::string_view word);

// The text with the letters A to Z in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

}  // namespace gsort
