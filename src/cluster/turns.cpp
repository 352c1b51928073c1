#include "cluster/turns.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/units.hpp"

namespace gsort::cluster {
namespace {

std::uint64_t most_parts(const PartTable& parts) {
  std::uint64_t most = 0;
  for (unsigned rank = 0; rank < parts.ranks(); ++rank) most = std::max(most, parts.parts(rank));
  return most;
}

// Elements of this process in a part.
std::uint64_t elements_in(std::span<const Cuts> cuts, std::uint64_t part) {
  std::uint64_t elements = 0;
  for (std::size_t run = 0; run < cuts[part].size(); ++run) {
    elements += cuts[part + 1][run] - cuts[part][run];
  }
  return elements;
}

}  // namespace

bool should_rotate(Team& team, const PartTable& parts, std::span<const Cuts> cuts,
                   std::uint64_t lanes) {
  team.least(std::span(&lanes, 1));
  if (lanes == 0) return false;
  const std::uint64_t turns = div_up(most_parts(parts), lanes);
  std::vector<std::uint64_t> sent(2 * turns);  // in order, then rotated
  for (unsigned to = 0; to < parts.ranks(); ++to) {
    if (to == team.rank()) continue;
    for (std::uint64_t turn = 0; turn < parts.parts(to); ++turn) {
      const std::uint64_t first = parts.first(to);
      sent[turn / lanes] += elements_in(cuts, first + turn);
      sent[turns + turn / lanes] += elements_in(cuts, first + parts.in_turn(to, turn));
    }
  }
  // The greatest count of all processes is the complement of the least complement.
  for (std::uint64_t& count : sent) count = ~count;
  team.least(sent);
  for (std::uint64_t& count : sent) count = ~count;
  const auto middle = sent.begin() + static_cast<std::ptrdiff_t>(turns);
  const std::uint64_t in_order = std::accumulate(sent.begin(), middle, std::uint64_t{0});
  const std::uint64_t rotated = std::accumulate(middle, sent.end(), std::uint64_t{0});
  return in_order > rotated + parts.borders().back() / parts.ranks() / 2;
}

OutputRange deferred_range(const PartTable& parts, unsigned rank) {
  const std::uint64_t end = parts.end_of(rank);
  const std::uint64_t first = parts.parts(rank) == 0 ? 0 : parts.in_turn(rank, 0);
  if (first == 0) return {end, end};
  return {parts.borders()[parts.first(rank) + first], end};
}

}  // namespace gsort::cluster
