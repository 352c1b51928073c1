// The refusal of a sort that does not fit its memory, with the least that would do.
#pragma once

#include <functional>

#include "base/error.hpp"
#include "options/job.hpp"
#include "plan/machine.hpp"

namespace gsort {

// Whether there is a plan with such resources, which differ from those asked for in -S and
// --gpu-memory alone.
using HasPlan = std::function<bool(const Resources&)>;

// The Error for a job that `has_plan` denies. A size is named only if `has_plan` affirms it, and
// only if this machine has so much memory.
[[nodiscard]] Error too_small(const Job& job, const Machine& machine, const HasPlan& has_plan);

}  // namespace gsort
