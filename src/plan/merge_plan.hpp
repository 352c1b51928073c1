// The sizes of one merge of runs, chosen when their number is known, within the plan's memory.
#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace gsort {

// For a merge of `runs` runs under the plan's memory. Requires: runs <= plan.run.fan_in.
// `total_elements` is the size of the result: short merges get short parts, so that all lanes have
// work.
[[nodiscard]] MergePlan plan_merge(const Plan& plan, std::uint32_t runs,
                                   std::uint64_t total_elements);

// The memory of the fences of runs of this many elements.
[[nodiscard]] std::uint64_t fence_bytes(const RunPlan& run, std::uint64_t elements,
                                        std::uint64_t host_bytes);

}  // namespace gsort
