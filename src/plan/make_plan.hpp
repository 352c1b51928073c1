// Makes a plan from a job and a machine: a pure function.
#pragma once

#include <functional>

#include "options/job.hpp"
#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

// Whether the work after a sort with such a plan has enough memory, too.
using SuitsPlan = std::function<bool(const Plan&)>;

// The plan's job has the elements of the runs, which are keys wherever that is possible. `suits`
// only decides which size a message names; it need not hold for the plan itself. Throws:
// Error(kUsage) if -S or --gpu-memory is too small (the message has the least sufficient size) or
// too large; Error(kDevice) for --engine cuda without a usable GPU; Error(kResource) if the runs or
// the output do not fit the disks.
[[nodiscard]] Plan make_plan(Job job, const Machine& machine, const SuitsPlan& suits = {});

}  // namespace gsort
