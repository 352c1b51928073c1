// A sort by one process: what gsort does, without exchange and messages, with the reports of
// gsort-mpi.
#pragma once

#include "cluster/cluster_sort.hpp"
#include "cluster/job_progress.hpp"
#include "cluster/team.hpp"
#include "options/options.hpp"

namespace gsort::cluster {

// As sort_on_cluster(). Requires: the team is of one process.
[[nodiscard]] ClusterOutcome sort_alone(Team& team, const Options& options, JobProgress* progress);

}  // namespace gsort::cluster
