// Whether all hosts are about to do the same with the same inputs.
#pragma once

#include <optional>
#include <string>

#include "cluster/team.hpp"
#include "io/input/reader.hpp"
#include "options/job.hpp"
#include "options/request.hpp"

namespace gsort::cluster {

// Together: opens the inputs of this process into `reader`, and makes the job that all have. With
// request.inputs_here, each has its own inputs, of the same kind of elements. `note` becomes a note
// on types for standard error. Throws: Error for inputs and outputs that gsort-mpi does not
// support, as error_of_host() if another host may not have it; Error(kUsage) in rank 0 if hosts
// differ, with the difference and the host; as Team.
[[nodiscard]] Job open_same_inputs(Team& team, const Options& options,
                                   std::optional<io::Reader>& reader, std::string& note);

}  // namespace gsort::cluster
