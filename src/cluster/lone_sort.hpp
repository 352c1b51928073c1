// A sort by one process, as gsort sorts: without an exchange, but with the reports of gsort-mpi.
#pragma once

#include "cluster/cluster_sort.hpp"
#include "cluster/job_progress.hpp"
#include "cluster/team.hpp"
#include "options/request.hpp"

namespace gsort::cluster {

// With --resume, more processes may use the runs later: these are formed as on a cluster.
[[nodiscard]] inline bool sorts_alone(const Team& team, const Request& request) {
  return team.count() == 1 && !request.resume;
}

// As sort_on_cluster(). Requires: sorts_alone().
[[nodiscard]] ClusterOutcome sort_alone(Team& team, const Options& options, JobProgress* progress);

}  // namespace gsort::cluster
