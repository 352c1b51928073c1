// Carrying out a plan, top to bottom: read and sort chunks, merge runs, prove, make the output
// real.
#pragma once

#include <functional>
#include <span>

#include "base/device_error.hpp"
#include "io/output/output.hpp"
#include "pipeline/sort_context.hpp"
#include "plan/outcome.hpp"

namespace gsort {

// A device has failed: makes the context's plan one that does not use it, or uses less of its
// memory. Throws: Error when there is no such plan.
using PlanWithout = std::function<void(const DeviceError&)>;

// The failures after which a sort does without a device, or with less of its memory.
enum class Planned : std::uint8_t { kAfterFailures, kAfterLackOfMemory };

// After a device failed, and the sort was planned again: says whether the new plan uses it.
[[nodiscard]] DoneAgain done_again(const DeviceError& failure, const Plan& plan);

// Sorts what the context's reader gives into `outputs`: one, or all parts that it is split into.
// `before_name`, if any, is called when the output is on the disk but does not have its name yet;
// if it throws, the sort ends and the old output stays.
//
// If a device fails and there is `plan_without`, another device or the CPU does again what was
// in its hands: a chunk (form_runs.hpp) or a part (merge_range). What cannot be done again alone,
// as where runs lay in the device's memory, has all of the input sorted again by the plan without
// it: buffers of runs go round over the devices, so a lost one takes something of every run with
// it. Inputs that cannot be read again, a resumption and an output that has taken bytes for good
// end the sort then. Throws: Error. The output is then as it was before (what a stream took is
// gone), nothing is left in the temporary folders but what a resumption keeps, and all threads have
// ended.
Outcome run_sort(const SortContext& door, std::span<io::Output> outputs,
                 const PlanWithout& plan_without = nullptr,
                 const std::function<void()>& before_name = nullptr,
                 Planned again = Planned::kAfterFailures);

}  // namespace gsort
