// A sort by one process: what gsort does, without exchange and messages, with the reports of
// gsort-mpi.
#pragma once

#include "cluster/cluster_sort.hpp"
#include "cluster/job_progress.hpp"
#include "cluster/team.hpp"
#include "options/options.hpp"

namespace gsort::cluster {

// Runs that a sort by more processes may take over are formed as a cluster forms them.
[[nodiscard]] inline bool sorts_alone(const Team& team, const Options& options) {
  return team.count() == 1 && !options.resume;
}

// As sort_on_cluster(). Requires: sorts_alone().
[[nodiscard]] ClusterOutcome sort_alone(Team& team, const Options& options, JobProgress* progress);

}  // namespace gsort::cluster
