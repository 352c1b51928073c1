// From a job and a machine to a plan: a pure function.
#pragma once

#include "options/job.hpp"
#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

// Throws: Error(kUsage) when -S or --gpu-memory is too small (the message says the least that does)
// or too large; Error(kDevice) for --engine cuda without a usable GPU; Error(kResource) when the
// runs or the output do not fit the disks.
[[nodiscard]] Plan make_plan(const Job& job, const Machine& machine);

}  // namespace gsort
