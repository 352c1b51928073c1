// The merge phase: the output is cut into parts; each lane takes the next part, loads its slices,
// and merges them. When there are more runs than one merge takes, rounds before the last make
// longer runs of them.
#pragma once

#include <vector>

#include "engine/engine.hpp"
#include "io/runs/run_store.hpp"
#include "pipeline/resumption.hpp"
#include "plan/plan.hpp"

namespace gsort {

// What a merge works with.
struct MergeContext {
  const Plan& plan;
  Engine& engine;
  io::RunStore& store;
  ByteSpan memory;  // the engine's; scratch and staging buffers are taken from its end
  Meter* meter;     // may be null
  Resumption* resumption = nullptr;
};

// Merges `runs` (their rounds first, if the plan's fan-in asks for them) into `output`, as raw
// keys. The runs' space is given back as it is consumed; with a resumption, when what they were
// merged into is kept. Throws: Error; all threads have ended by then.
void merge_runs(const MergeContext& context, std::vector<io::Run> runs, PieceSink& output);

}  // namespace gsort
