// The merge phase: the output is cut into parts; each lane takes the next part, loads its slices,
// and merges them. When there are more runs than one merge takes, rounds before the last make
// longer runs of them.
#pragma once

#include <cstdint>
#include <vector>

#include "io/runs/run_store.hpp"
#include "pipeline/part_queue.hpp"
#include "pipeline/sort_context.hpp"

namespace gsort {

// A run that gives its elements [begin, end) to a merge.
struct RunSlice {
  io::Run run;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Merges the slices into `sink`, as raw keys, from position `first` on. If they are more than the
// plan's fan-in, groups of neighbours are first merged into runs of the context's store; a run
// folder keeps these. Requires: the context has engine, memory and store. Throws: Error; all
// threads have ended by then.
void merge_slices(const SortContext& context, std::vector<RunSlice> slices, std::uint64_t first,
                  PieceSink& sink);

// The same for whole runs.
void merge_runs(const SortContext& context, std::vector<io::Run> runs, PieceSink& output);

}  // namespace gsort
