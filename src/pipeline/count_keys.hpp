// Keys of one and two bytes are counted, not sorted: how often each value occurs is all there is to
// know. One read, one write, memory for the counts only, whatever the size of the input.
#pragma once

#include <cstdint>

#include "engine/engine.hpp"
#include "io/input/reader.hpp"
#include "pipeline/form_runs.hpp"
#include "pipeline/input/block_reader.hpp"
#include "pipeline/proof/proof.hpp"
#include "plan/plan.hpp"

namespace gsort {

// Reads everything, then puts the sorted keys. `memory` holds plan.chunk.arena_bytes. `meter`
// may be null. Returns the elements. Throws: Error from reading or from the output.
std::uint64_t count_keys(const Plan& plan, const BlockReader& read, Meter* meter, ByteSpan memory,
                         const OutputMaker& output);

}  // namespace gsort
