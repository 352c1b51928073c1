#include "report/stats.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "options/pages/help.hpp"
#include "report/busiest.hpp"
#include "report/limit.hpp"
#include "report/plan_object.hpp"
#include "report/words.hpp"

namespace gsort {
namespace {

using Json = nlohmann::ordered_json;

double seconds(std::uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

// Puts the statistics of one part into the object.
void put(const Outcome& outcome, StatsPart part, Json& object) {
  for_each_statistic([&](const StatisticRow& row, auto member) {
    if (row.part == part) object[std::string(row.name)] = outcome.*member;
  });
}

Json input_object(const Outcome& outcome, const Job& job, const FileNames& names) {
  Json json = {{"files", names.inputs}};
  put(outcome, StatsPart::kInput, json);
  json["type"] = element_words(job.input_element());
  json["type_from"] = describe(job.type_source);
  return json;
}

// Sums over all phases: there are no spans outside of phases.
std::uint64_t sum_of(const Outcome& outcome, Stage stage, std::uint64_t StageTotals::*what) {
  std::uint64_t sum = 0;
  for (const PhaseRecord& phase : outcome.phases) sum += phase.stages[stage].*what;
  return sum;
}

Json bytes_object(const Outcome& outcome) {
  Json json = {{"read", sum_of(outcome, Stage::kRead, &StageTotals::bytes)},
               {"written", sum_of(outcome, Stage::kWrite, &StageTotals::bytes)}};
  put(outcome, StatsPart::kBytes, json);
  json["bus_to_device"] = sum_of(outcome, Stage::kCopyIn, &StageTotals::moved_bytes);
  json["bus_from_device"] = sum_of(outcome, Stage::kCopyOut, &StageTotals::moved_bytes);
  return json;
}

// Stages that worked or waited. `best_rates` is null for devices: only a phase has these rates.
Json stages_array(const ByStage<StageTotals>& stages, const ByStage<double>* best_rates) {
  Json array = Json::array();
  for (std::size_t i = 0; i < kStages; ++i) {
    if (stages[i] == StageTotals{}) continue;
    array.push_back({{"name", name_of(static_cast<Stage>(i))},
                     {"busy_seconds", seconds(stages[i].busy_ns)},
                     {"waiting_seconds", seconds(stages[i].waiting_ns)},
                     {"bytes", stages[i].bytes},
                     {"spans", stages[i].spans}});
    if (best_rates == nullptr) continue;
    const double best = (*best_rates)[i];
    array.back()["best_bytes_per_second"] = best > 0 ? Json(std::uint64_t(best)) : Json(nullptr);
  }
  return array;
}

Json phase_devices_array(const PhaseRecord& phase) {
  Json array = Json::array();
  for (const DeviceTotals& totals : phase.devices) {
    array.push_back({{"ordinal", totals.device}, {"stages", stages_array(totals.stages, nullptr)}});
  }
  return array;
}

Json phases_array(const Outcome& outcome) {
  Json array = Json::array();
  for (const PhaseRecord& phase : outcome.phases) {
    array.push_back({{"name", name_of(phase.phase)},
                     {"begin_seconds", seconds(phase.begin_ns)},
                     {"seconds", seconds(phase.end_ns - phase.begin_ns)},
                     {"cpu_seconds", phase.cpu_seconds},
                     {"stages", stages_array(phase.stages, &phase.best_rates)},
                     {"devices", phase_devices_array(phase)}});
  }
  return array;
}

double ratio(double taken, double needed) {
  return taken / std::max(needed, 1e-9);
}

Json busiest_object(const Outcome& outcome, const Plan& plan) {
  const auto busiest = busiest_of(outcome, plan.threads);
  if (!busiest) return nullptr;
  return {{"seconds", busiest->seconds},
          {"ratio", ratio(outcome.seconds, busiest->seconds)},
          {"stage", busiest->stage ? Json(words_for(*busiest->stage)) : Json(nullptr)}};
}

Json limit_object(const Outcome& outcome, const Machine& machine) {
  const auto seconds = limit_seconds(outcome, machine.rates.limits);
  if (!seconds) return nullptr;
  return {{"seconds", *seconds}, {"ratio", ratio(outcome.seconds, *seconds)}};
}

const char* name_of(DoneAgain again) {
  constexpr const char* kNames[] = {"sort", "sort_with_less", "chunks", "parts"};
  return kNames[static_cast<std::size_t>(again)];
}

Json lost_devices_array(const Outcome& outcome) {
  Json array = Json::array();
  for (const LostDevice& lost : outcome.lost_devices) {
    array.push_back({{"ordinal", or_null(lost.ordinal)},
                     {"failure", lost.failure},
                     {"again", name_of(lost.again)}});
  }
  return array;
}

}  // namespace

std::string stats_json(const Outcome& outcome, const Plan& plan, const FileNames& names,
                       const Machine& machine) {
  Json json;
  json["version"] = kStatsVersion;
  json["program"] = version_text();
  json["input"] = input_object(outcome, plan.job, names);
  json["output"] = or_null(names.output);
  put(outcome, StatsPart::kOutput, json);
  json["engine"] = plan.engine == EngineKind::kCuda ? "cuda" : "cpu";
  json["engine_reason"] = plan.engine_reason;
  put(outcome, StatsPart::kTime, json);
  json["bytes_per_second"] =
      outcome.seconds > 0 ? Json(double(outcome.bytes) / outcome.seconds) : Json(nullptr);
  json["busiest"] = busiest_object(outcome, plan);
  json["limit"] = limit_object(outcome, machine);
  put(outcome, StatsPart::kRuns, json);
  json["bytes"] = bytes_object(outcome);
  json["phases"] = phases_array(outcome);
  put(outcome, StatsPart::kMemory, json["memory"]);
  json["memory"]["budget_bytes"] = plan.host_budget_bytes;
  json["memory"]["device_budget_bytes"] = plan.device_budget_bytes();
  json["verified"] = outcome.verified;
  json["fingerprint"] = outcome.verified ? Json(to_string(outcome.fingerprint)) : Json(nullptr);
  json["lost_devices"] = lost_devices_array(outcome);
  json["notes"] = outcome.notes;
  json["plan"] = plan_object(plan, machine);
  return json_text(json);
}

}  // namespace gsort
