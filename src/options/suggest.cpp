#include "options/suggest.hpp"

#include <algorithm>
#include <vector>

namespace gsort {

// The optimal string alignment distance, by rows: two back, one back, and the row being made.
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

}  // namespace gsort
