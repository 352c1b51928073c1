// --top without sorting everything: candidates for the first N elements are kept in memory while
// the input is read once (pipeline/select/select_top.hpp).
#pragma once

#include "plan/plan.hpp"

namespace gsort {

// The bytes of a candidate record's entry.
inline constexpr std::uint64_t kRecordEntryBytes = 24;

// Chooses the sizes of a selection within the plan's memory, and the strategy with them; returns
// false if the candidates do not fit, or are so large a part of the elements that a sort is as
// fast.
[[nodiscard]] bool plan_selection(Plan& plan);

}  // namespace gsort
