// OwnRuns: the runs that this process forms of its share of the input and, with --resume, the runs
// of earlier processes that it uses (kept_runs.hpp).
//
// Order of calls: share_out() decides which runs these are; form(); the caller merges them;
// expect_commit() and remove() as of KeptRuns. For one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "cluster/cluster_sort.hpp"
#include "cluster/runs/kept_runs.hpp"
#include "cluster/runs/run_order.hpp"
#include "cluster/team.hpp"
#include "io/input/reader.hpp"
#include "io/runs/run_store.hpp"
#include "options/job.hpp"
#include "options/request.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/sort_context.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

class OwnRuns {
 public:
  // All of these outlive it.
  OwnRuns(Team& team, const Request& request, Meter& meter)
      : team_(team), request_(request), meter_(meter) {}
  OwnRuns(const OwnRuns&) = delete;
  OwnRuns& operator=(const OwnRuns&) = delete;

  // Together: decides which process reads which of the `elements` of the whole input, and limits
  // the reader to these. Requires: the reader, which outlives this, has the inputs of this process,
  // and nothing has been taken from it. Throws: as KeptRuns.
  void share_out(const Job& job, std::uint64_t elements, io::Reader& reader);

  // After share_out(): elements to read, and runs of earlier processes.
  [[nodiscard]] std::uint64_t to_read() const { return to_read_; }
  [[nodiscard]] ResumedRuns resumed() const { return kept_ ? kept_->resumed() : ResumedRuns(); }
  [[nodiscard]] std::uint64_t manifest_memory_bytes() const {
    return kept_ ? kept_->manifest_memory_bytes() : 0;
  }
  [[nodiscard]] std::uint64_t elements() const { return to_read_ + resumed().elements; }
  // The folders of runs.
  [[nodiscard]] std::vector<std::string> folders() const;

  // Opens earlier runs, and forms the others. For a thread of Team::work. `door` has the plan, and
  // may have a `plan_without`, which also makes a new proof: then all runs are formed again if a
  // device has too little memory. Throws: Error, also if fewer elements arrive than were to be
  // read.
  void form(const SortContext& door, std::optional<Proof>& proof);
  void require_all_read(const Proof& proof) const;

  [[nodiscard]] const std::vector<io::Run>& runs() const { return runs_; }
  // Together: the order of all runs, if equal elements can differ.
  [[nodiscard]] RunOrder order(const Job& job);
  // clear() drops these runs, and put() replaces them.
  void clear() { runs_.clear(); }
  void put(std::vector<io::Run> runs) { runs_ = std::move(runs); }

  // The store of new runs, made at the first call.
  [[nodiscard]] io::RunStore& store(const Plan& plan);
  // The least scratch for reading any run.
  [[nodiscard]] std::uint64_t scratch_bytes() const;
  void report(RankReport& report) const;

  // As KeptRuns, if runs are kept.
  void expect_commit();
  [[nodiscard]] std::string remove();

 private:
  void hold_reader(const OutputRange& range);
  void form_all(const Plan& plan, Proof& proof);
  void form(const Plan& plan, Proof& proof, ByteSpan memory, OutputRange range);

  Team& team_;
  const Request& request_;
  Meter& meter_;
  io::Reader* reader_ = nullptr;
  std::uint64_t element_bytes_ = 1;
  std::uint64_t before_ = 0;  // elements of inputs that other processes have
  std::vector<OutputRange> ranges_;
  std::uint64_t to_read_ = 0;  // in them
  std::optional<KeptRuns> kept_;
  std::optional<io::RunStore> store_;
  std::vector<PlacedRun> placed_;      // while runs are formed
  std::vector<std::uint64_t> firsts_;  // of each run, its first element in the whole input
  std::vector<io::Run> runs_;
};

}  // namespace gsort::cluster
