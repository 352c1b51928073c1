// Reports of a sort on several machines: what each process did, as one message; all of them as JSON
// (--stats), whose fields README.md describes; and the summary line of -v.
#pragma once

#include <string>
#include <vector>

#include "cluster/cluster_sort.hpp"
#include "cluster/team.hpp"
#include "options/request.hpp"

namespace gsort::cluster {

// Together: returns the reports of all processes by rank, in rank 0; none in the others.
[[nodiscard]] std::vector<RankReport> gather_reports(Team& team, const RankReport& own);

// Requires: the reports of all ranks.
[[nodiscard]] std::string cluster_stats(const Team& team, const ClusterOutcome& outcome,
                                        const Request& request);

// "gsort-mpi: 4,000 elements (31.2 KiB) sorted by 2 processes in 1.20 s: 15 runs (12 formed, 3
// resumed) in 0.50 s, exchanged and merged in 0.60 s; ..."; without --resume "15 runs formed in".
[[nodiscard]] std::string cluster_summary(const ClusterOutcome& outcome, unsigned processes);

}  // namespace gsort::cluster
