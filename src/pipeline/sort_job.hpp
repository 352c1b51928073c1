// Carrying out a plan, top to bottom: read and sort chunks, merge runs, prove, make the output
// real.
#pragma once

#include <functional>
#include <span>

#include "io/output/output.hpp"
#include "pipeline/sort_context.hpp"
#include "plan/outcome.hpp"

namespace gsort {

// Sorts what the context's reader gives into `outputs`: one, or all parts that it is split into.
// `before_name`, if any, is called when the output is on the disk but does not have its name yet;
// if it throws, the sort ends and the old output stays.
// Throws: Error. The output is then as it was before (what a stream took is gone), nothing is left
// in the temporary folders but what a resumption keeps, and all threads have ended.
Outcome run_sort(const SortContext& door, std::span<io::Output> outputs,
                 const std::function<void()>& before_name = nullptr);

// Reads and sorts what the context's reader gives, into runs that the context's resumption keeps.
// Requires: plan.job.forms_share; an Attempt. Throws: Error.
[[nodiscard]] Outcome form_kept_runs(const SortContext& context);

// One attempt at a sort, by the context's plan, measured by its meter.
using Attempt = std::function<Outcome(const SortContext& context)>;

// Attempts a sort until it succeeds, and takes what its meter has measured.
//
// If a device fails and there is `plan_without`, another device or the CPU does again what was
// in its hands: a chunk (form_runs.hpp) or a part (merge_range). What cannot be done again alone,
// as where runs lay in the device's memory, is attempted again from the start by the plan without
// it: buffers of runs go round over the devices, so a lost one takes something of every run with
// it. Inputs that cannot be read again, a resumption and an output that has taken bytes for good
// end the sort then. Throws: as the attempt; as plan_without.
Outcome run_attempts(const SortContext& door, std::span<io::Output> outputs,
                     const Attempt& attempt);

}  // namespace gsort
