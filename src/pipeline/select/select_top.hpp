// Finds the first N elements of the order in one reading (--top).
//
// Problem. The user wants only the first N elements of a large file's result. A sort writes and
// reads everything again, though almost no key can be among the first N.
//
// Idea. Every worker keeps candidates. When it has many more than N, it sorts them and keeps the
// first N. The Nth is a bound for all workers: N candidates are no greater, so no other key from
// the bound on is needed. The more has been read, the lower the bound, and the fewer keys come
// before it: after n uniform keys, about N/n of them. Vector instructions find these keys at the
// speed of memory (select_keys.hpp).
//
// Example, N = 2, room for 4:  read 5 9 7 3 -> keep 3 5, bound 5 -> 8 6 5 4 gives 4 -> keep 3 4.
// 5 is left out although it equals the bound: equal keys are indistinguishable.
//
// Workers keep records with their places in the input (select_records.hpp), which order equal
// records.
//
// With -u, each sort of candidates drops those that repeat, and N counts distinct ones.
//
// Proof. Workers fingerprint the keys that they leave out, cut off or drop; with the output, these
// must add up to the input. The proof keeps the least key that was left out, which must not come
// before the last one of the output.
//
// Cost. One read; for uniform keys about N ln(n/N) candidates, each sorted two or three times. A
// descending input replaces all candidates again and again: workers then sort all keys, in memory.
#pragma once

#include "pipeline/sort_context.hpp"

namespace gsort {

// Reads everything, puts the first plan.job.top elements, and returns the elements read. Throws:
// Error from reading, writing, or the proof; all threads have ended by then.
[[nodiscard]] std::uint64_t select_top(const SortContext& context, const OutputMaker& output);

}  // namespace gsort
