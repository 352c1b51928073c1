#include "plan/rounds.hpp"

#include <algorithm>
#include <utility>

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

std::size_t earlier_rounds(const Plan& plan) {
  return plan.is<InputMergePlan>() && plan.run.count > 1 ? 1 : 0;
}

RoundTotals totals_of_rounds(const std::vector<std::uint64_t>& sizes, std::uint32_t fan_in) {
  struct Run {
    std::uint64_t elements;
    bool is_merged;
  };
  std::vector<Run> runs;
  runs.reserve(sizes.size());
  for (const std::uint64_t elements : sizes) runs.push_back({elements, false});
  RoundTotals totals;
  std::uint64_t there = 0;
  for (const MergeRound& round : plan_rounds(runs.size(), fan_in)) {
    std::vector<Run> longer;
    auto next = runs.begin();
    for (const std::uint32_t group : round.group_sizes) {
      const auto end = next + group;
      if (group == 1) {
        longer.push_back(*next);
        next = end;
        continue;
      }
      Run run{0, true};
      std::uint64_t gone = 0;
      for (; next != end; ++next) {
        run.elements += next->elements;
        if (next->is_merged) gone += next->elements;
      }
      totals.merged += run.elements;
      there += run.elements;
      totals.most_at_once = std::max(totals.most_at_once, there);
      there -= gone;
      longer.push_back(run);
    }
    runs = std::move(longer);
  }
  return totals;
}

}  // namespace gsort
