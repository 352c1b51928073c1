// The plan for --batch-elements if memory holds several arrays (pipeline/sort_arrays.hpp).
#pragma once

#include "plan/plan.hpp"

namespace gsort {

// Chooses sizes and strategy for sorting whole arrays within the plan's memory; returns false if
// not even one fits: then each array is a separate sort.
[[nodiscard]] bool plan_batches(Plan& plan);

}  // namespace gsort
