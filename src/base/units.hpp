// Sizes as people type and read them. K, M, G, T, P are powers of 1024, as in sort(1); a bare
// number is an error, because its meaning differs between tools.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"

namespace gsort {

// "12.4 GiB", "512 B": three significant digits, for messages and reports.
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

// "268,435,456": grouped by thousands.
[[nodiscard]] std::string format_count(std::uint64_t count);

// "512M", "4G", "1.5T", "50%" -> bytes. `whole_bytes` is the size of 100%; 0 means that a
// percentage is not allowed. `option` names the option in errors. Throws: Error(kUsage) for bare
// numbers, unknown suffixes, signs, fractions of a byte, and overflow.
[[nodiscard]] std::uint64_t parse_size(std::string_view text, std::uint64_t whole_bytes,
                                       std::string_view option);

// The least multiple of `step` that is not less than `value`. Requires: step > 0, no overflow.
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

[[nodiscard]] constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t step) {
  return value / step * step;
}

[[nodiscard]] constexpr std::uint64_t div_up(std::uint64_t value, std::uint64_t step) {
  return value / step + (value % step != 0 ? 1 : 0);
}

}  // namespace gsort
