// Lines of keys with their counts: the count in decimal, a tab, the key as format_lines writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "form/decimal.hpp"

namespace gsort {

// The most that a count adds to a line: twenty digits and the tab.
inline constexpr std::size_t kMostCountBytes = 21;

// The hint of errors about inputs that should hold such keys.
inline constexpr const char* kCountsHint =
    "-m --count adds up what -u --count writes, with the same type and order; -mu --count counts "
    "keys";

// Reads a count and a key from each line, like parse_lines. Blanks separate them, and may surround
// them, so the output of uniq -c is read, too. The pairs are as in element/counted_keys.hpp.
[[nodiscard]] std::optional<BadLine> parse_counted_lines(std::string_view text,
                                                         const KeyFormat& format,
                                                         std::span<std::byte> raw_pairs);

// Copies lines of keys to `out`, each after its count, and returns the bytes written. Requires:
// `key_lines` has a line for each count; room for kMostCountBytes more for each.
std::size_t put_counts_in_front(std::span<const std::uint64_t> counts, std::string_view key_lines,
                                char* out);

// Whether `text` is the correct result of put_counts_in_front().
[[nodiscard]] bool has_counts_in_front(std::string_view text, std::span<const std::uint64_t> counts,
                                       std::string_view key_lines);

}  // namespace gsort
