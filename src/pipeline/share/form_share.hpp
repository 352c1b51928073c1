// Forms the runs of a share of the inputs. They stay in a folder, for the processes that take parts
// of the output from the folders of all shares.
//
// The folder is made under a hidden name, and gets its own when it is complete. So it exists as a
// whole or not at all. If several processes form the same share, the first one to end makes the
// folder, and the others find it. The next process removes the remains of one that was killed.
#pragma once

#include "io/runs/resume_folder.hpp"
#include "pipeline/sort_context.hpp"
#include "plan/outcome.hpp"

namespace gsort {

// Changes the job's elements to those that engines put into runs: keys of one and two bytes become
// records of one key.
void hold_in_runs(Job& job);

// Whether the folder holds exactly the wanted share already. If so, removes the remains of killed
// processes beside it. Throws: Error(kTemporary) if it holds anything else. Requires: the manifest
// has the share; the rest of it is that of all inputs, before the reader is held to the share.
[[nodiscard]] bool is_formed(const io::WantedFolder& wanted);

// Requires: as is_formed(); the plan is for the share's bytes, after hold_in_runs(); the reader
// gives only the share, also after plan_without. Throws: Error; then no files are left.
Outcome form_share(const SortContext& door, const io::WantedFolder& wanted);

}  // namespace gsort
