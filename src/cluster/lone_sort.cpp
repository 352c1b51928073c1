#include "cluster/lone_sort.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "app/prepared_sort.hpp"
#include "base/meter.hpp"
#include "cluster/input/same_sort.hpp"
#include "io/input/reader.hpp"
#include "io/output/output.hpp"

namespace gsort::cluster {
namespace {

// The same for gsort: one output, and runs in the folder where gsort-mpi has them.
Request request_alone(Request request) {
  request.output = request.outputs().front();
  request.split_output = std::nullopt;
  request.temporary_directories = request.temporary_folders("");
  return request;
}

double seconds_of(const std::vector<PhaseRecord>& phases, std::initializer_list<Phase> wanted) {
  double seconds = 0;
  for (const PhaseRecord& phase : phases) {
    if (std::ranges::count(wanted, phase.phase) > 0) {
      seconds += static_cast<double>(phase.end_ns - phase.begin_ns) * 1e-9;
    }
  }
  return seconds;
}

RankReport report_of(const Outcome& outcome, const Plan& plan) {
  RankReport report;
  copy_statistics(outcome, report);
  report.devices = plan.devices.size();
  report.own_bytes = outcome.output_elements * plan.element_bytes;
  report.form_seconds = seconds_of(outcome.phases, {Phase::kRead});
  report.exchange_seconds = seconds_of(outcome.phases, {Phase::kMerge, Phase::kWrite});
  report.sync_seconds = seconds_of(outcome.phases, {Phase::kSync});
  return report;
}

}  // namespace

ClusterOutcome sort_alone(Team& team, const Options& options, JobProgress* progress) {
  const Request& request = request_of(options);
  ClusterOutcome outcome(request.trace.has_value());
  std::optional<io::Reader> reader;
  const Job job = open_same_inputs(team, options, reader, outcome.note);
  const Request alone = request_alone(request);
  std::vector<io::Output> outputs;
  outputs.emplace_back(*alone.output, io::OutputOptions{alone.direct_io, request.parts});
  PreparedSort prepared(alone, job, *reader, std::move(outputs));
  Meter& meter = *outcome.meter;
  std::optional<Outcome> done;
  const auto run = [&] { done = prepared.run(&meter); };
  if (progress == nullptr) {
    run();  // there is no request to answer meanwhile
  } else {
    const ProgressReports reports(team, meter, *reader->known_size(), *progress);
    progress->follow(&meter);
    team.work(run);
  }
  outcome.lost_devices = std::move(done->lost_devices);
  outcome.own = report_of(*done, prepared.plan());
  outcome.ranks = {outcome.own};
  copy_statistics(outcome.own, outcome);
  return outcome;
}

}  // namespace gsort::cluster
