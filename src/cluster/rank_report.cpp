#include "cluster/rank_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/quoted.hpp"
#include "base/units.hpp"
#include "options/pages/help.hpp"
#include "report/plan_object.hpp"

namespace gsort::cluster {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json object_of(unsigned rank, const std::string& host, const RankReport& report) {
  Json json = {{"rank", rank}, {"host", host}};
  for_each_statistic([&](const StatisticRow& row, auto member) {
    if (!row.rank_name.empty()) json[std::string(row.rank_name)] = report.*member;
  });
  return json;
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

std::string cluster_stats(const Team& team, const ClusterOutcome& outcome, const Request& request) {
  Json ranks = Json::array();
  for (unsigned rank = 0; rank < outcome.ranks.size(); ++rank) {
    ranks.push_back(object_of(rank, team.host_of(rank), outcome.ranks[rank]));
  }
  const Json all = {{"version", kVersion},
                    {"program", version_text(Program::kCluster)},
                    {"inputs", request.inputs},
                    {"output", *request.output},
                    {"bytes", outcome.bytes},
                    {"elements", outcome.elements},
                    {"seconds", outcome.seconds},
                    {"runs", outcome.runs},
                    {"cuts",
                     {{"seconds", outcome.cut_seconds},
                      {"rounds", outcome.cuts.fence_rounds + outcome.cuts.rounds},
                      {"sum_bytes", outcome.cuts.sum_bytes}}},
                    {"verified", request.verify},
                    {"ranks", ranks}};
  return json_text(all);
}

std::string cluster_summary(const ClusterOutcome& outcome, unsigned processes) {
  return fmt::format(
      "gsort-mpi: {} ({}) sorted by {} in {:.2f} s: {} in {:.2f} s, "
      "exchanged and merged in {:.2f} s; rank 0 sent {} in {} frames\n",
      counted(outcome.elements, "element"), format_bytes(outcome.bytes),
      counted(processes, "process", "es"), outcome.seconds, run_words(outcome),
      outcome.own.form_seconds, outcome.own.exchange_seconds,
      format_bytes(outcome.own.sent_frame_bytes), outcome.own.sent_frames);
}

}  // namespace gsort::cluster
