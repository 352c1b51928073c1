// A sort on several machines, top to bottom: look, form runs, cut, exchange and merge, prove and
// name. Every process reads an equal share of the input into runs of its own, and merges an equal
// share of the output from the runs of all. README.md is the page about it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/device_error.hpp"
#include "base/meter.hpp"
#include "cluster/cuts/cuts.hpp"
#include "cluster/exchange.hpp"
#include "cluster/job_progress.hpp"
#include "cluster/team.hpp"
#include "options/options.hpp"

namespace gsort::cluster {

// What one process did.
struct RankReport {
  std::uint64_t share = 0;          // of the output
  std::uint64_t elements_read = 0;  // of the input
  std::uint64_t elements_written = 0;
  std::uint64_t lost_nan_payloads = 0;  // of elements written as text
  std::uint64_t runs = 0;
  std::uint64_t resumed_runs = 0;  // of these, the runs of earlier sorts
  std::uint64_t resumed_elements = 0;
  std::uint64_t devices = 0;         // GPUs that it used
  std::uint64_t device_bytes = 0;    // of runs as stored, in their memory
  std::uint64_t kept_bytes = 0;      // the same, in memory of the host
  std::uint64_t spilled_bytes = 0;   // the same, in temporary folders
  std::uint64_t loaded_bytes = 0;    // read from temporary folders
  std::uint64_t deferred_bytes = 0;  // of elements that it merged early and put later
  std::uint64_t peak_resident_bytes = 0;
  ExchangeCost exchange;
  double form_seconds = 0;
  double exchange_seconds = 0;
  double sync_seconds = 0;
};

struct ClusterOutcome {
  explicit ClusterOutcome(bool keeps_spans)
      : meter(std::make_unique<Meter>(keeps_spans ? Meter::Keep::kSpans : Meter::Keep::kTotals)) {}

  std::uint64_t elements = 0;  // of all
  std::uint64_t bytes = 0;
  std::uint64_t runs = 0;          // of all
  std::uint64_t resumed_runs = 0;  // of these, the runs of earlier sorts
  std::uint64_t resumed_elements = 0;
  CutCost cuts;
  double cut_seconds = 0;
  RankReport own;                 // of this process
  std::vector<RankReport> ranks;  // in rank 0: of all
  double total_seconds = 0;
  std::string note;                      // on types; for standard error
  std::vector<LostDevice> lost_devices;  // of a lone process, which goes on without them
  std::unique_ptr<Meter> meter;          // of this process
};

// Together, with the same options. Returns what sort_on_cluster() would do, in rank 0, as
// options.explain wants it; empty in the others. Changes nothing. Throws: as that.
[[nodiscard]] std::string explain_on_cluster(Team& team, const Options& options);

// Together, with the same options. Returns when the output is in place, in all processes.
// With options.inputs_here, each has its own options.inputs. Requires: with options.parts,
// options.split_output is the number of processes. `on_leave` is set to what removes the hidden
// output of this process, for who ends it at once. `progress`: null in all processes, or in none;
// that of rank 0 gets to know about all. Throws: Error; as Team. The output is then as it was
// before.
[[nodiscard]] ClusterOutcome sort_on_cluster(Team& team, const Options& options,
                                             std::function<void()>& on_leave,
                                             JobProgress* progress);

}  // namespace gsort::cluster
