// --top without sorting everything: candidates for the first N elements are kept in memory while
// the input is read once (pipeline/select/select_top.hpp).
#pragma once

#include "plan/plan.hpp"

namespace gsort {

// The bytes of a candidate record's entry.
inline constexpr std::uint64_t kRecordEntryBytes = 24;

// Sorting fewer candidates than this costs almost nothing, and lowers the bound.
inline constexpr std::uint64_t kFewCandidates = 4096;

// Whether a worker has so many candidates, of which `limit` are wanted, that it sorts them. If most
// new elements are candidates, as in a descending input, the bound falls too slowly to be of use,
// so more are sorted at once.
[[nodiscard]] constexpr bool are_many_candidates(std::uint64_t candidates, std::uint64_t limit,
                                                 bool most_are_taken) {
  const std::uint64_t spare = limit > kFewCandidates ? limit : kFewCandidates;
  return candidates >= limit + (most_are_taken ? 3 : 1) * spare;
}

// Chooses the sizes of a selection within the plan's memory, and the strategy with them; returns
// false if the candidates do not fit, or are so large a part of the elements that a sort is as
// fast.
[[nodiscard]] bool plan_selection(Plan& plan);

}  // namespace gsort
