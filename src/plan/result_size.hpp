// How much of what is sorted comes out, as far as that is known in advance.
#pragma once

#include <cstdint>

#include "options/job.hpp"
#include "plan/machine.hpp"

namespace gsort {

// The elements that come out at least, of so many; of a pipe none are known.
[[nodiscard]] std::uint64_t least_elements(const Job& job, std::uint64_t elements);

// Throws: Error(kUsage) where an array's header would have to say how many elements follow before
// anybody can know.
void refuse_unknown_count(const Job& job, const Machine& machine);

}  // namespace gsort
