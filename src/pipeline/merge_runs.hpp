// The merge phase: the output is cut into parts; each lane takes the next part, loads its slices,
// and merges them. When there are more runs than one merge takes, rounds before the last make
// longer runs of them.
#pragma once

#include <vector>

#include "engine/engine.hpp"
#include "io/runs/run_store.hpp"
#include "pipeline/part_queue.hpp"
#include "pipeline/resumption.hpp"
#include "plan/plan.hpp"

namespace gsort {

// The surroundings of a merge.
struct MergeContext {
  const Plan& plan;
  Engine& engine;
  io::RunStore& store;
  ByteSpan memory;  // the engine's; scratch and staging buffers are taken from its end
  Meter* meter;     // may be null
  Resumption* resumption = nullptr;
  std::size_t earlier_rounds = 0;  // rounds that made the runs
};

// The runs that are merged, and the range of the output.
struct MergeShare {
  RunViewSpan runs;  // at most as many as the plan's fan-in
  OutputRange range;
  KeyForm form = KeyForm::kRaw;
  SpaceReturn* space = nullptr;  // null: the runs stay as they are
};

// Merges one range of the output, positions as of the whole, into `sink`. Several shares may be
// merged at the same time, each with an engine and memory of its own.
// Throws: Error; all threads have ended by then.
void merge_range(const MergeContext& context, const MergeShare& share, PieceSink& sink);

// Tells the meter that round `number` begins, from 1. The last merge counts as a round, after the
// `rounds` of the plan. Without rounds, tells it nothing.
void begin_round(const MergeContext& context, std::size_t number, std::size_t rounds);

// Merges `runs` (their rounds first, if the plan's fan-in asks for them) into `output`, as raw
// keys. The runs' space is given back as it is consumed; with a resumption, when what they were
// merged into is kept. Throws: Error; all threads have ended by then.
void merge_runs(const MergeContext& context, std::vector<io::Run> runs, PieceSink& output);

}  // namespace gsort
