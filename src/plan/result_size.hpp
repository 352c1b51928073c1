// How much of what is sorted comes out, as far as that is known in advance.
#pragma once

#include <cstdint>

#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

// The elements that come out at least; of a pipe none are known.
[[nodiscard]] std::uint64_t least_elements(const Plan& plan);

// Throws: Error(kUsage) where an array's header would have to say how many elements follow before
// anybody can know.
void refuse_unknown_count(const Plan& plan, const Options& options, const Machine& machine);

}  // namespace gsort
