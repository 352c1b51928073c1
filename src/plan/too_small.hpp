// The Error for a sort that does not fit its memory, with the least sufficient size.
#pragma once

#include <functional>

#include "base/error.hpp"
#include "options/job.hpp"
#include "plan/machine.hpp"

namespace gsort {

// Whether there is a plan with such resources, which differ from the requested ones only in -S and
// --gpu-memory.
using HasPlan = std::function<bool(const Resources&)>;

// The Error for a job for which `has_plan` returns false. It names only sizes for which `has_plan`
// returns true, and that this machine has.
[[nodiscard]] Error too_small(const Job& job, const Machine& machine, const HasPlan& has_plan);

}  // namespace gsort
