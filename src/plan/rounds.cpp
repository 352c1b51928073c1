#include "plan/rounds.hpp"

#include <algorithm>

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
