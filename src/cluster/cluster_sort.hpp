// A sort on several machines, top to bottom: look, form runs, cut, exchange and merge, prove and
// name. Every process reads an equal share of the input into runs of its own, and merges an equal
// share of the output from the runs of all. README.md is the page about it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/device_error.hpp"
#include "base/meter.hpp"
#include "cluster/cuts/cuts.hpp"
#include "cluster/job_progress.hpp"
#include "cluster/team.hpp"
#include "options/request.hpp"
#include "plan/outcome.hpp"

namespace gsort::cluster {

// The statistics of one process.
using RankReport = Statistics;

// The statistics of all processes in rank 0; only elements, bytes and seconds in the other ranks.
struct ClusterOutcome : Statistics {
  explicit ClusterOutcome(bool keeps_spans)
      : meter(std::make_unique<Meter>(keeps_spans ? Meter::Keep::kSpans : Meter::Keep::kTotals)) {}

  CutCost cuts;
  double cut_seconds = 0;
  RankReport own;                        // of this process
  std::vector<RankReport> ranks;         // in rank 0: of all
  std::string note;                      // on types; for standard error
  std::vector<LostDevice> lost_devices;  // of a lone process, which goes on without them
  std::unique_ptr<Meter> meter;          // of this process
};

// Together, with the same options. Returns what sort_on_cluster() would do, in rank 0, as
// options.explain wants it; empty in the others. Changes nothing. Throws: as that.
[[nodiscard]] std::string explain_on_cluster(Team& team, const Options& options);

// Together, with the same options. Returns when the output is in place, in all processes.
// With options.inputs_here, each has its own options.inputs. Requires: with options.parts,
// options.split_output is the number of processes. `on_leave` becomes a function that removes the
// hidden output of this process; call it before ending the process at once. `progress`: null in all
// processes, or in none; rank 0's gets the progress of all. Throws: Error; as Team. Then the output
// is unchanged.
[[nodiscard]] ClusterOutcome sort_on_cluster(Team& team, const Options& options,
                                             std::function<void()>& on_leave,
                                             JobProgress* progress);

}  // namespace gsort::cluster
