// --intersect and --subtract: finds the keys that all sorted inputs have, or only the first one
// has. Each input is read once, in order; one of each wanted key comes out.
//
// Idea. As in the input merge (merge_inputs.hpp), a window of every input is in memory, and the
// least of their last keys is a bound: up to it, the keys of every input are known. Each time all
// windows are cut after the bound. The first input's slice is cut into pieces, each compared by one
// core: repeats are dropped, then, input by input, the keys that must not stay
// (element/member_keys.hpp). No key of the other inputs comes out. A key that is equal to the bound
// may come again; in the first input it is then a repeat, in others it is not compared any more.
//
// Example, windows of 4:   1 3 3 7 | 9 ...   2 3 8 9 | 9 ...   bound 7: 1 3 3 7 and 2 3
//   in both: 3 stays;   only in the first: 1 7 stay
//
// Proof. Dropped keys are added up where they are dropped. A second search, by another method,
// finds the keys that are members of another input; their number and sum must be the same.
//
// Cost. One read, and one pass in the cache over the first input for each other one.
#pragma once

#include <cstdint>

#include "pipeline/sort_context.hpp"

namespace gsort {

// Requires: plan.is<SetPlan>(); the context's memory holds plan.arena_bytes. Returns the elements
// read.
// Throws: Error from reading, an input that is not sorted, writing, or the proof.
std::uint64_t compare_inputs(const SortContext& context, const OutputMaker& output);

}  // namespace gsort
