// "Did you mean": the known name nearest to a mistyped one.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace gsort {

// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into
// the other.
[[nodiscard]] std::size_t edit_distance(std::string_view from, std::string_view to);

// The name that `typed` most likely means: one that begins with it, else the one with the fewest
// edits, if these are at most a third of its length; empty if none is near.
[[nodiscard]] std::optional<std::string_view> nearest_name(std::string_view typed,
                                                           std::span<const std::string_view> names);

// gsort's name for an option that has this name or letter in other programs.
[[nodiscard]] std::optional<std::string_view> name_elsewhere(std::string_view typed);

// The option that was most likely meant: another program's option of this name, else the nearest.
[[nodiscard]] std::optional<std::string_view> nearest_option(
    std::string_view typed, std::span<const std::string_view> names);

}  // namespace gsort
