#include "cluster/rank_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/units.hpp"
#include "options/pages/help.hpp"

namespace gsort::cluster {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json object_of(unsigned rank, const std::string& host, const RankReport& report) {
  return {{"rank", rank},
          {"host", host},
          {"share", report.share},
          {"elements_read", report.elements_read},
          {"elements_written", report.elements_written},
          {"lost_nan_payloads", report.lost_nan_payloads},
          {"runs", report.runs},
          {"resumed_runs", report.resumed_runs},
          {"resumed_elements", report.resumed_elements},
          {"devices", report.devices},
          {"device_bytes", report.device_bytes},
          {"kept_bytes", report.kept_bytes},
          {"spilled_bytes", report.spilled_bytes},
          {"loaded_bytes", report.loaded_bytes},
          {"own_bytes", report.exchange.own_bytes},
          {"sent_bytes", report.exchange.sent_bytes},
          {"sent_frame_bytes", report.exchange.bytes},
          {"sent_frames", report.exchange.frames},
          {"deferred_bytes", report.deferred_bytes},
          {"form_seconds", report.form_seconds},
          {"exchange_seconds", report.exchange_seconds},
          {"waiting_seconds", report.exchange.waiting_seconds},
          {"sync_seconds", report.sync_seconds},
          {"peak_resident_bytes", report.peak_resident_bytes}};
}

// A resumed sort may have formed none of its runs.
std::string run_words(const ClusterOutcome& outcome) {
  if (outcome.resumed_runs == 0) return counted(outcome.runs, "run") + " formed";
  return fmt::format("{} ({} formed, {} resumed)", counted(outcome.runs, "run"),
                     outcome.runs - outcome.resumed_runs, outcome.resumed_runs);
}

}  // namespace

std::vector<RankReport> gather_reports(Team& team, const RankReport& own) {
  std::vector<RankReport> reports;
  for (const Message& message : team.gather(std::as_bytes(std::span(&own, 1)))) {
    reports.push_back(MessageReader(message).take<RankReport>());
  }
  return reports;
}

std::string cluster_stats(const Team& team, const ClusterOutcome& outcome, const Options& options) {
  std::string program = version_text(Program::kCluster);
  program.pop_back();  // its newline
  Json ranks = Json::array();
  for (unsigned rank = 0; rank < outcome.ranks.size(); ++rank) {
    ranks.push_back(object_of(rank, team.host_of(rank), outcome.ranks[rank]));
  }
  const Json all = {{"version", kVersion},
                    {"program", program},
                    {"inputs", options.inputs},
                    {"output", *options.output},
                    {"bytes", outcome.bytes},
                    {"elements", outcome.elements},
                    {"seconds", outcome.total_seconds},
                    {"runs", outcome.runs},
                    {"cuts",
                     {{"seconds", outcome.cut_seconds},
                      {"rounds", outcome.cuts.fence_rounds + outcome.cuts.rounds},
                      {"sum_bytes", outcome.cuts.sum_bytes}}},
                    {"verified", options.verify},
                    {"ranks", ranks}};
  // A name need not be UTF-8.
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string cluster_summary(const ClusterOutcome& outcome, unsigned processes) {
  return fmt::format(
      "gsort-mpi: {} ({}) sorted by {} in {:.2f} s: {} in {:.2f} s, "
      "exchanged and merged in {:.2f} s; rank 0 sent {} in {} frames\n",
      counted(outcome.elements, "element"), format_bytes(outcome.bytes),
      counted(processes, "process", "es"), outcome.total_seconds, run_words(outcome),
      outcome.own.form_seconds, outcome.own.exchange_seconds,
      format_bytes(outcome.own.exchange.bytes), outcome.own.exchange.frames);
}

}  // namespace gsort::cluster
