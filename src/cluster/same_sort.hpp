// Whether all hosts are about to do the same sort: with the same program, of the same inputs.
#pragma once

#include "cluster/team.hpp"
#include "io/input/reader.hpp"
#include "options/job.hpp"

namespace gsort::cluster {

// Together. Throws: Error(kUsage) in rank 0, which names what differs, and the host.
void require_same_sort(Team& team, const io::Reader& reader, const Job& job);

}  // namespace gsort::cluster
