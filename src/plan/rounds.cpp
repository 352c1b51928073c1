// Which runs are merged before the last merge.
//
// With R runs and a fan-in of F < R, the last merge can take F runs, so R - F runs must disappear.
// A merge of g neighbours makes g - 1 of them disappear. Every byte that takes part is read and
// written once more, so a round merges as few runs as will do: groups of F from the left until
// enough have disappeared; the others stay. Example: R = 10, F = 8: one group of 3, then a merge of
// 8; not two groups of 5. If a whole sweep of groups of F is not enough (R > F * F) there is
// another round.
#include <algorithm>

#include "plan/plan.hpp"

namespace gsort {

std::vector<MergeRound> plan_rounds(std::uint64_t run_count, std::uint32_t fan_in) {
  std::vector<MergeRound> rounds;
  while (run_count > fan_in) {
    MergeRound round;
    std::uint64_t to_disappear = run_count - fan_in;
    std::uint64_t after = 0;
    for (std::uint64_t left = run_count; left > 0;) {
      const auto group =
          static_cast<std::uint32_t>(std::min({std::uint64_t{fan_in}, left, to_disappear + 1}));
      round.group_sizes.push_back(group);
      left -= group;
      to_disappear -= group - 1;
      ++after;
    }
    run_count = after;
    rounds.push_back(std::move(round));
  }
  return rounds;
}

}  // namespace gsort
