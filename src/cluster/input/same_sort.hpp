// Whether all hosts are about to do the same with the same inputs.
#pragma once

#include <string>

#include "base/error.hpp"
#include "cluster/team.hpp"
#include "io/input/reader.hpp"
#include "options/job.hpp"
#include "options/request.hpp"

namespace gsort::cluster {

// What gsort does, but not gsort-mpi: "reading standard input".
[[nodiscard]] Error not_yet(std::string what);

// Before the inputs are opened: pipes and devices, too. Throws: Error(kUsage), and error_of_host()
// where another host may not have the error.
void refuse_standard_input(const Request& request);
// What gsort-mpi does not write. Throws: as refuse_standard_input().
void refuse_output(const Request& request);
void refuse_output_form(const Request& request, const OutputForm& form);

// Together. With request.inputs_here, each has its own inputs, of the same kind of elements.
// Throws: error_of_host() for inputs that are not supported; Error(kUsage) in rank 0 where hosts
// differ, which names what differs, and the host.
void require_same_sort(Team& team, const Request& request, const io::Reader& reader,
                       const Job& job);

}  // namespace gsort::cluster
