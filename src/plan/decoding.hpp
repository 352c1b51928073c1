// The memory for decompressing the inputs. What a stream's first header asks for is planned for.
// Later parts of a file may ask for more, and of a pipe nobody knows what it will bring: each
// decoder may take a share of the host budget without being asked.
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

// `all_at_once`: the inputs are merged.
[[nodiscard]] DecodingPlan plan_decoding(bool all_at_once, const Machine& machine,
                                         std::uint64_t host_bytes);

// The host memory of all decoders that are at work at once: what they may take under a budget.
[[nodiscard]] std::uint64_t decoding_bytes(const DecodingPlan& decoding, std::uint64_t host_bytes);

// Throws: Error(kUsage) where what the first headers ask for leaves too little of -S; it names the
// least -S for which `has_plan` says that it works.
void require_decoding_memory(const Resources& resources, bool all_at_once, const Machine& machine,
                             const HasPlan& has_plan);

}  // namespace gsort
