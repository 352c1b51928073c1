// The merge phase: the output is cut into parts; each lane takes the next part, loads its slices,
// and merges them. When there are more runs than one merge takes, rounds before the last make
// longer runs of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/runs/run_store.hpp"
#include "pipeline/part_queue.hpp"
#include "pipeline/sort_context.hpp"

namespace gsort {

// The runs that are merged, and the range of the output that comes out.
struct MergedRange {
  std::span<io::Run> runs;  // at most as many as the plan's fan-in
  OutputRange range;
  KeyForm form = KeyForm::kRaw;
};

// Merges one range of the output into `sink`, at its positions in the whole output. As parts are
// merged, gives back the space of the runs up to there, unless their store keeps them. Requires:
// the context has engine, memory and store. Throws: Error; all threads have ended by then.
void merge_range(const SortContext& context, const MergedRange& merged, PieceSink& sink);

// A run that gives its elements [begin, end) to a merge.
struct RunSlice {
  io::Run run;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Merges the slices into `sink`, as raw keys, from position `first` on. If they are more than the
// plan's fan-in, groups of neighbours are first merged into runs of the context's store; a run
// folder keeps these. Throws: as merge_range().
void merge_slices(const SortContext& context, std::vector<RunSlice> slices, std::uint64_t first,
                  PieceSink& sink);

// The same for whole runs.
void merge_runs(const SortContext& context, std::vector<io::Run> runs, PieceSink& output);

}  // namespace gsort
