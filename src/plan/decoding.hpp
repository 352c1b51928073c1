// The memory for decompressing the inputs. The plan includes the need that a stream's first header
// gives. Later parts of a file may need more, and the need of a pipe is unknown: each decoder may
// always take a fixed part of the host budget.
#pragma once

#include <cstdint>
#include <vector>

#include "form/decoding.hpp"
#include "options/request.hpp"
#include "plan/machine.hpp"
#include "plan/too_small.hpp"

namespace gsort {

struct DecodingPlan {
  std::vector<DecoderNeed> needs;  // of the inputs that are or may be compressed
  bool all_at_once = false;        // else one after the other
  DecoderLimit limit;              // of each decoder
};

// `all_at_once`: the inputs are merged, so all decoders work at once.
[[nodiscard]] DecodingPlan plan_decoding(bool all_at_once, const Machine& machine,
                                         std::uint64_t host_bytes);

// The most host memory that all decoders at work at once may take under a budget.
[[nodiscard]] std::uint64_t decoding_bytes(const DecodingPlan& decoding, std::uint64_t host_bytes);

// Throws: Error(kUsage) if the needs of the first headers leave too little of -S; the message has
// the least -S for which `has_plan` returns true.
void require_decoding_memory(const Resources& resources, bool all_at_once, const Machine& machine,
                             const HasPlan& has_plan);

}  // namespace gsort
