// The input merge (-m): inputs that are sorted already are merged; each is read once, in order.
//
// Problem. Only the part of an input that has been read is known: a pipe cannot be searched for the
// place where a part of the output begins.
//
// Idea. A window of every input is in memory. The least of the windows' last keys is a bound: all
// keys that come later in any input are no less. All windows are cut after their last key that is
// not greater than the bound; these slices are a part, and go to a lane. At least one window is
// then used up. Windows are filled again while lanes merge and write.
//
// Equal records keep the order of the inputs: the input of the bound may continue with records
// equal to it, so the windows of later inputs are cut before such records.
//
// Example, windows of 4:   1 3 5 7 | 9 ...   2 2 8 9 | 9 ...   the last keys are 7 and 9
//   bound 7: 1 3 5 7 and 2 2 make the part 1 2 2 3 5 7; 8 9 stays, and both windows are filled up.
//
// Cost. One read and one write; for K inputs a search in K windows each time a window is used up.
// If memory does not suffice for a window of each input, inputs are merged in groups, which become
// runs.
#pragma once

#include "pipeline/form_runs.hpp"

namespace gsort {

// Merges all inputs into the output, or makes runs of them if there are too many. If the size of
// the inputs is not known, begins the output without it. Throws: Error from reading, an input that
// is not sorted, merging, writing, or the proof; all threads have ended by then.
[[nodiscard]] FormedRuns merge_inputs(const SortContext& context, const OutputMaker& output);

}  // namespace gsort
