#include "options/suggest.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace gsort {
namespace {

constexpr auto kNamesElsewhere = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"mem", "buffer-size"},
    {"ram", "buffer-size"},
    {"thread", "parallel"},
    {"jobs", "parallel"},
    {"cores", "parallel"},
    {"j", "parallel"},
    {"p", "parallel"},
    {"desc", "reverse"},
    {"uniq", "unique"},
    {"distinct", "unique"},
    {"dtype", "type"},
    {"tmpdir", "temporary-directory"},
    {"tmp", "temporary-directory"},
    {"temp-dir", "temporary-directory"},
    {"out", "output"},
    {"cpu", "engine=cpu"},
    {"gpu", "engine=cuda"},
    {"cuda", "engine=cuda"},
    {"limit", "top"},
    {"head", "top"},
    {"dry-run", "explain"},
    {"plan", "explain"},
    {"byte-order", "endian"},
});

}  // namespace

// The optimal string alignment distance, by rows: the last but one, the last, and the current row.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> two_back;
  std::vector<std::size_t> one_back(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) one_back[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = one_back[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, one_back[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], two_back[j - 2] + 1);
    }
    two_back = one_back;
    one_back = row;
  }
  return one_back[to.size()];
}

std::optional<std::string_view> nearest_name(std::string_view typed,
                                             std::span<const std::string_view> names) {
  if (typed.empty()) return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t least = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string_view name : names) {
    if (typed.size() > 1 && name.starts_with(typed)) return name;
    const std::size_t distance = edit_distance(typed, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::optional<std::string_view> name_elsewhere(std::string_view typed) {
  const auto found = std::ranges::find(kNamesElsewhere, typed,
                                       &std::pair<std::string_view, std::string_view>::first);
  return found == kNamesElsewhere.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string_view> nearest_option(std::string_view typed,
                                               std::span<const std::string_view> names) {
  const auto elsewhere = name_elsewhere(typed);
  return elsewhere ? elsewhere : nearest_name(typed, names);
}

}  // namespace gsort
