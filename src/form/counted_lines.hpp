// Lines of keys with their counts: the count in decimal, a tab, the key as format_lines writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gsort {

// The most that a count adds to a line: twenty digits and the tab.
inline constexpr std::size_t kMostCountBytes = 21;

// Copies lines of keys to `out`, each behind its count, and returns the bytes written.
// Requires: `key_lines` is a line for each count; room for kMostCountBytes more for each.
std::size_t put_counts_in_front(std::span<const std::uint64_t> counts, std::string_view key_lines,
                                char* out);

// Whether `text` is what that must write.
[[nodiscard]] bool has_counts_in_front(std::string_view text, std::span<const std::uint64_t> counts,
                                       std::string_view key_lines);

}  // namespace gsort
