// The memory for decompressing the inputs. The plan includes the need that a stream's first header
// gives. Later parts of a file may need more, and the need of a pipe is unknown: each decoder may
// always take a fixed part of the host budget.
#pragma once

#include <cstdint>

#include "form/decoding.hpp"
#include "options/job.hpp"
#include "plan/machine.hpp"
#include "plan/too_small.hpp"

namespace gsort {

struct DecodingPlan {
  std::uint64_t bytes = 0;  // the most host memory that decoders take together
  DecoderLimit limit;       // of each decoder
};

// If inputs are merged, all decoders work at once, else one after the other.
[[nodiscard]] DecodingPlan plan_decoding(const Job& job, const Machine& machine);

// Throws: Error(kUsage) if the needs of the first headers leave too little of -S; the message has
// the least -S for which `has_plan` returns true.
void require_decoding_memory(const Job& job, const Machine& machine, const HasPlan& has_plan);

}  // namespace gsort
