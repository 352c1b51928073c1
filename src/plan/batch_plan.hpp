// --batch-elements with arrays of which memory holds several (pipeline/sort_arrays.hpp).
#pragma once

#include "plan/plan.hpp"

namespace gsort {

// Chooses sizes and strategy for sorting whole arrays within `budget_bytes`; false if not even one
// fits: then an array is a sort of its own.
[[nodiscard]] bool plan_batches(Plan& plan, std::uint64_t budget_bytes);

}  // namespace gsort
