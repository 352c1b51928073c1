// The number of sorted elements that come out, as far as it is known in advance.
#pragma once

#include <cstdint>

#include "options/job.hpp"
#include "plan/machine.hpp"

namespace gsort {

// The least number of elements that come out, of this many; 0 for a pipe.
[[nodiscard]] std::uint64_t least_elements(const Job& job, std::uint64_t elements);

// Throws: Error(kUsage) if an array's header needs the number of elements before it can be known.
void refuse_unknown_count(const Job& job, const Machine& machine);

}  // namespace gsort
