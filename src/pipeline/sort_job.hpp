// Carries out a plan, from top to bottom: reads and sorts chunks, merges runs, proves, commits the
// output.
#pragma once

#include <functional>
#include <span>

#include "io/output/output.hpp"
#include "pipeline/sort_context.hpp"
#include "plan/outcome.hpp"

namespace gsort {

// Sorts the elements of the context's reader into `outputs`: one output, or all its parts.
// `before_name`, if any, is called when the output is on the disk but does not have its name yet;
// if it throws, the sort ends and the old output stays. Throws: Error. Then the output is
// unchanged, except for bytes that a stream has taken; temporary folders hold only the runs that a
// run folder keeps; all threads have ended.
Outcome run_sort(const SortContext& door, std::span<io::Output> outputs,
                 const std::function<void()>& before_name = nullptr);

// Sorts the elements of the context's reader into runs that the context's run folder keeps.
// Requires: plan.job.forms_share; an Attempt calls this. Throws: Error.
[[nodiscard]] Outcome form_kept_runs(const SortContext& context);

// One attempt at a sort by the context's plan. The context's meter measures it.
using Attempt = std::function<Outcome(const SortContext& context)>;

// Attempts a sort until an attempt succeeds; the outcome has the phases that the meter measured.
//
// If a device fails and `plan_without` is set, another device or the CPU redoes the work that the
// device had: a chunk (form_runs.hpp) or a part (merge_runs.hpp). If that is not enough, for
// example because the device's memory held buffers of every run, the next attempt starts from the
// beginning by the plan without the device. The sort fails instead if an input cannot be read
// again, if there is a run folder, or if the output has taken bytes that it cannot give back.
// Throws: as the attempt; as plan_without.
Outcome run_attempts(const SortContext& door, std::span<io::Output> outputs,
                     const Attempt& attempt);

}  // namespace gsort
