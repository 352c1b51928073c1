// Many arrays in one input, each sorted by itself (--batch-elements), of which memory holds
// several: every worker reads a block of whole arrays, sorts them one after the other, and writes
// them to the places they came from. One worker reads at a time, while others sort and write.
#pragma once

#include "pipeline/form_runs.hpp"
#include "pipeline/proof/proof.hpp"
#include "plan/plan.hpp"

namespace gsort {

// Returns the elements. `output` takes arrays without proving them. `meter` may be null.
// Throws: Error from reading, sorting, writing, or the proof; all threads have ended by then.
[[nodiscard]] std::uint64_t sort_arrays(const Plan& plan, Engine& engine, io::Reader& reader,
                                        Proof& proof, Meter* meter, const OutputMaker& output);

}  // namespace gsort
