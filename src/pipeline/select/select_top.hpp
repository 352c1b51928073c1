// The first N elements of the order, found in one reading (--top).
//
// Problem. Of a large file write only the first N elements of the result are wanted. Sorting it
// writes and reads everything again, though almost no key can be among the first N.
//
// Idea. Every worker keeps candidates. When it has many more than N it sorts them and keeps the
// first N; the Nth is a bound for all workers: whoever has N candidates that are no greater needs
// no other key from the bound on. The more has been read, the lower the bound, and the fewer keys
// come before it: of uniform keys, after n of them, about N/n. Those are found by vectors, at the
// speed of memory (select_keys.hpp).
//
// Example, N = 2, room for 4:  read 5 9 7 3 -> keep 3 5, bound 5 -> 8 6 5 4 gives 4 -> keep 3 4.
// 5 is left out although it equals the bound: keys alone cannot be told from each other.
//
// Records are kept with their places in the input (select_records.hpp), which decide between equal
// ones.
//
// With -u candidates that repeat are dropped whenever they are sorted, and N are distinct ones.
//
// Proof. What is taken is fingerprinted when it is taken, what is cut off when it is cut; both must
// add up with the output to the input. The least key that was left out is remembered, and must not
// come before the last one of the output.
//
// Cost. One read; log2 of the share of what is taken at first, for uniform keys N ln(n/N)
// candidates in all, sorted two or three times each. A descending input replaces all candidates
// again and again: then all keys are sorted, in memory.
#pragma once

#include "pipeline/sort_context.hpp"

namespace gsort {

// Reads everything, puts the first plan.job.top elements, and returns the elements read. Throws:
// Error from reading, writing, or the proof; all threads have ended by then.
[[nodiscard]] std::uint64_t select_top(const SortContext& context, const OutputMaker& output);

}  // namespace gsort
