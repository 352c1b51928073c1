// From a job and a machine to a plan: a pure function.
#pragma once

#include <functional>

#include "options/job.hpp"
#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

// Whether what comes after a sort of such a plan has memory, too.
using SuitsPlan = std::function<bool(const Plan&)>;

// `suits` only decides which size a message names, the plan itself need not suit.
// Throws: Error(kUsage) when -S or --gpu-memory is too small (the message says the least that does)
// or too large; Error(kDevice) for --engine cuda without a usable GPU; Error(kResource) when the
// runs or the output do not fit the disks.
[[nodiscard]] Plan make_plan(const Job& job, const Machine& machine, const SuitsPlan& suits = {});

}  // namespace gsort
