// The merge phase: the output is cut into parts; each lane takes the next part, loads its slices,
// and merges them. When there are more runs than one merge takes, rounds before the last make
// longer runs of them.
#pragma once

#include <vector>

#include "io/runs/run_store.hpp"
#include "pipeline/part_queue.hpp"
#include "pipeline/sort_context.hpp"

namespace gsort {

// The runs that are merged, and the range of the output that comes out.
struct MergedRange {
  RunViewSpan runs;  // at most as many as the plan's fan-in
  OutputRange range;
  KeyForm form = KeyForm::kRaw;
  SpaceReturn* space = nullptr;  // null: the runs keep their space
};

// Merges one range of the output, positions as of the whole, into `sink`. Several ranges may be
// merged at the same time, each with an engine and memory of its own. Requires: the context has
// engine, memory and store.
// Throws: Error; all threads have ended by then.
void merge_range(const SortContext& context, const MergedRange& merged, PieceSink& sink);

// Tells the meter that round `number` begins, from 1. The last merge counts as a round, after the
// `rounds` of the plan. Without rounds, tells it nothing.
void begin_round(const SortContext& context, std::size_t number, std::size_t rounds);

// Merges `runs` (their rounds first, if the plan's fan-in asks for them) into `output`, as raw
// keys. Gives the runs' space back as parts are merged; with a run folder, when the merged run is
// kept. Throws: Error; all threads have ended by then.
void merge_runs(const SortContext& context, std::vector<io::Run> runs, PieceSink& output);

}  // namespace gsort
