// Whether the plan's files fit the disks, as far as they are free now.
#pragma once

#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

// The most bytes of temporary files that the plan has on disk at once.
[[nodiscard]] std::uint64_t temporary_need(const Plan& plan);

// Folders on one file system share its space; runs may be spread over all temporary folders.
// Throws: Error(kResource) naming what is needed and what is free.
void require_disk_space(const Plan& plan, const Machine& machine);

}  // namespace gsort
