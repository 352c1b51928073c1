// Sorts many arrays of one input separately (--batch-elements), if memory holds several of them:
// every worker reads a block of whole arrays, sorts them one after the other, and writes them to
// the same places. One worker reads at a time, while others sort and write.
#pragma once

#include "pipeline/sort_context.hpp"

namespace gsort {

// Returns the elements. `output` takes arrays without proving them.
// Throws: Error from reading, sorting, writing, or the proof; all threads have ended by then.
[[nodiscard]] std::uint64_t sort_arrays(const SortContext& context, const OutputMaker& output);

}  // namespace gsort
