// Run formation: the input is read chunk by chunk; each chunk is sorted and becomes a run in the
// store, while the next one is being read into another lane. If the first chunk is the only one, it
// goes straight to the output, unless only runs are wanted. Runs that an earlier process has left
// come first.
//
// If the device of a lane fails, the lane takes no more chunks, and its chunk is read again and
// sorted in another lane at the end. This needs inputs of known size, no runs in device memory (a
// lost device held some blocks of each of them), and a lane that is left.
#pragma once

#include <cstdint>
#include <vector>

#include "io/runs/run_store.hpp"
#include "pipeline/sort_context.hpp"

namespace gsort {

struct FormedRuns {
  std::vector<io::Run> runs;  // empty if the chunk went straight to the output
  std::uint64_t elements = 0;
};

// With plan.job.forms_share, a single chunk becomes a run, too, and `output` may be null. Without
// elements, there are no runs.
// Requires: all members of the context except make_engine and make_tier are set.
// Throws: Error from reading, sorting, writing, or the proof; all threads have ended by then.
[[nodiscard]] FormedRuns form_runs(const SortContext& context, const OutputMaker& output);

}  // namespace gsort
