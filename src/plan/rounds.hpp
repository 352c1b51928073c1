// Chooses the runs that are merged before the last merge.
//
// With R runs and a fan-in of F < R, the last merge can take F runs, so R - F runs must disappear.
// A merge of g neighbours makes g - 1 of them disappear. Every byte of these runs is read and
// written once more, so a round merges as few runs as necessary: groups of F from the left until
// enough have disappeared; the others stay. Example: R = 10, F = 8: one group of 3, then a merge of
// 8; not two groups of 5. If a whole sweep of groups of F is not enough (R > F * F) there is
// another round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace gsort {

// The rounds before the last merge, which takes at most `fan_in` runs. Requires: fan_in >= 2.
[[nodiscard]] std::vector<MergeRound> plan_rounds(std::uint64_t run_count, std::uint32_t fan_in);

// The number of rounds before these: 1 for an input merge that makes runs, else 0.
[[nodiscard]] std::size_t earlier_rounds(const Plan& plan);

// The elements that these rounds merge if the runs have `sizes` elements.
struct RoundTotals {
  std::uint64_t merged = 0;  // elements that are put into longer runs
  // The most of them that exist at once: longer runs are removed when they are merged again; the
  // original runs are kept, and not counted.
  std::uint64_t most_at_once = 0;
};
[[nodiscard]] RoundTotals totals_of_rounds(const std::vector<std::uint64_t>& sizes,
                                           std::uint32_t fan_in);

}  // namespace gsort
