// The input merge (-m): inputs that are sorted already are merged; each is read once, in order.
//
// Problem. Nothing is known of an input but what has been read of it: a pipe cannot be searched for
// the place where a part of the output begins.
//
// Idea. A window of every input is in memory. The least of the windows' last keys bounds what can
// be put out: whatever comes later in any input is no less. All windows are cut behind their last
// key that is no greater than the bound; these slices are a part, and go to a lane. One window at
// least is then used up. Windows are filled up again while lanes merge and write.
//
// Equal records keep the order of the inputs: the input that the bound comes from may go on with
// more that are equal to it, so the windows of later inputs are cut in front of such records.
//
// Example, windows of 4:   1 3 5 7 | 9 ...   2 2 8 9 | 9 ...   the last keys are 7 and 9
//   bound 7: 1 3 5 7 and 2 2 make the part 1 2 2 3 5 7; 8 9 stays, and both windows are filled up.
//
// Cost. One read and one write; for K inputs a search in K windows each time a window is used up.
// More inputs than there is memory for windows are merged in groups, which become runs.
#pragma once

#include "pipeline/form_runs.hpp"

namespace gsort {

// Merges all inputs into the output, or, where there are too many, makes runs of them. Where the
// size of the inputs is not known, the output is asked for without it.
// Throws: Error from reading, an input that is not sorted, merging, writing, or the proof; all
// threads have ended by then.
[[nodiscard]] FormedRuns merge_inputs(const SortContext& context, const OutputMaker& output);

}  // namespace gsort
