// --stats of a sort on several machines: what each process did, as one message, and all of them as
// JSON. README.md describes every field.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster_sort.hpp"
#include "cluster/team.hpp"
#include "options/options.hpp"

namespace gsort::cluster {

// Together: everybody's report by rank, in rank 0; none in the others.
[[nodiscard]] std::vector<RankReport> gather_reports(Team& team, const RankReport& own);

// Requires: the reports of all ranks.
[[nodiscard]] std::string cluster_stats(const Team& team, const ClusterOutcome& outcome,
                                        const Options& options);

}  // namespace gsort::cluster
