// OwnRuns: the runs of this process: those that it forms of its share of the input, and with
// --resume those that earlier processes have left and that it goes on with (kept_runs.hpp).
//
// Life: share_out() says which they are; form(); they are merged; commit and remove as of KeptRuns.
// For one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "cluster/cluster_sort.hpp"
#include "cluster/run_order.hpp"
#include "cluster/runs/kept_runs.hpp"
#include "cluster/team.hpp"
#include "io/input/reader.hpp"
#include "io/runs/run_store.hpp"
#include "io/runs/tier_group.hpp"
#include "options/job.hpp"
#include "options/options.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/run_view.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

class OwnRuns {
 public:
  // All of these outlive it.
  OwnRuns(Team& team, const Options& options, Meter& meter)
      : team_(team), options_(options), meter_(meter) {}
  OwnRuns(const OwnRuns&) = delete;
  OwnRuns& operator=(const OwnRuns&) = delete;

  // Together: decides who reads what of the `elements` of the whole input, and holds the reader to
  // it. Requires: the reader, which outlives this, has the inputs of this process, of which nothing
  // has been taken. Throws: as KeptRuns.
  void share_out(const Job& job, std::uint64_t elements, io::Reader& reader);

  // After share_out(): elements that are to be read, and what is there already.
  [[nodiscard]] std::uint64_t to_read() const { return to_read_; }
  [[nodiscard]] ResumedRuns resumed() const { return kept_ ? kept_->resumed() : ResumedRuns(); }
  [[nodiscard]] std::uint64_t elements() const { return to_read_ + resumed().elements; }
  // Where runs go to.
  [[nodiscard]] std::vector<std::string> folders() const;

  // Takes up what is there, and forms the others. For a thread of Team::work.
  // Throws: Error, also where not all that was to be read has arrived.
  void form(const Plan& plan, Proof& proof);
  void require_all_read(const Proof& proof) const;

  [[nodiscard]] const std::vector<io::Run>& runs() const { return runs_; }
  [[nodiscard]] const RunViews& views() const { return views_; }
  // Together: the order of the runs of all, if equal elements can be told apart.
  [[nodiscard]] RunOrder order(const Job& job);
  // These are gone, and others take their place.
  void clear();
  void put(std::vector<io::Run> runs);

  // Where new ones go to, made at the first call.
  [[nodiscard]] io::RunStore& store(const Plan& plan);
  // The least scratch for reading any run.
  [[nodiscard]] std::uint64_t scratch_bytes() const;
  void report(RankReport& report) const;

  // As those of KeptRuns, if runs are kept.
  void expect_commit();
  [[nodiscard]] std::string remove();

 private:
  void hold_reader(const OutputRange& range);
  void form(const Plan& plan, Proof& proof, ByteSpan memory, OutputRange range);

  Team& team_;
  const Options& options_;
  Meter& meter_;
  io::Reader* reader_ = nullptr;
  std::uint64_t element_bytes_ = 1;
  std::uint64_t before_ = 0;  // elements of inputs that other processes have
  std::vector<OutputRange> ranges_;
  std::uint64_t to_read_ = 0;  // in them
  std::optional<KeptRuns> kept_;
  std::optional<io::TierGroup> tier_;  // of runs on devices
  std::optional<io::RunStore> store_;
  std::vector<PlacedRun> placed_;      // while runs are formed
  std::vector<std::uint64_t> firsts_;  // of each run, its first element in the whole input
  std::vector<io::Run> runs_;
  RunViews views_;
};

}  // namespace gsort::cluster
