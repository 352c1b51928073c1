// gsort-mpi -c and --fingerprint: every process reads an equal share of the input, or inputs of its
// own, which follow each other by rank.
#pragma once

#include <string>

#include "cluster/team.hpp"
#include "options/job.hpp"
#include "options/request.hpp"
#include "plan/outcome.hpp"

namespace gsort::cluster {

struct ClusterCheck {
  CheckOutcome outcome;  // with --fingerprint: the fingerprint alone
  Job job;
  std::string note;  // on types; for standard error
};

// Together, with the same options. Returns, in rank 0, what check_order() or
// fingerprint_of_input() says of the whole input; in the others, of their shares.
// Throws: Error; as Team.
[[nodiscard]] ClusterCheck check_on_cluster(Team& team, const Options& options);

}  // namespace gsort::cluster
