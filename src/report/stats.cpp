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

std::string program() {
  std::string line = version_text();
  line.pop_back();  // its newline
  return line;
}

double seconds(std::uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

Json input_object(const Outcome& outcome, const Job& job, const FileNames& names) {
  return {{"files", names.inputs},
          {"bytes", outcome.bytes},
          {"elements", outcome.elements},
          {"type", element_words(job.input_element())},
          {"type_from", describe(job.type_source)}};
}

Json bytes_object(const Outcome& outcome, const ByStage<StageTotals>& totals) {
  return {{"read", totals[Stage::kRead].bytes},
          {"written", totals[Stage::kWrite].bytes},
          {"run_keys", outcome.run_key_bytes},
          {"kept_on_device", outcome.device_bytes},
          {"kept_in_memory", outcome.kept_bytes},
          {"spilled", outcome.spilled_bytes},
          {"loaded", outcome.loaded_bytes},
          {"most_spilled_at_once", outcome.peak_spilled_bytes},
          {"bus_to_device", totals[Stage::kCopyIn].moved_bytes},
          {"bus_from_device", totals[Stage::kCopyOut].moved_bytes}};
}

// Stages that did or waited for something.
Json stages_array(const ByStage<StageTotals>& stages) {
  Json array = Json::array();
  for (std::size_t i = 0; i < kStages; ++i) {
    if (stages[i] == StageTotals{}) continue;
    array.push_back({{"name", name_of(static_cast<Stage>(i))},
                     {"busy_seconds", seconds(stages[i].busy_ns)},
                     {"waiting_seconds", seconds(stages[i].waiting_ns)},
                     {"bytes", stages[i].bytes},
                     {"spans", stages[i].spans}});
  }
  return array;
}

Json stages_array(const PhaseRecord& phase) {
  Json array = stages_array(phase.stages);
  std::size_t next = 0;
  for (std::size_t i = 0; i < kStages; ++i) {
    if (phase.stages[i] == StageTotals{}) continue;
    const double best = phase.best_rates[i];
    array[next++]["best_bytes_per_second"] = best > 0 ? Json(std::uint64_t(best)) : Json(nullptr);
  }
  return array;
}

Json phase_devices_array(const PhaseRecord& phase) {
  Json array = Json::array();
  for (const DeviceTotals& totals : phase.devices) {
    array.push_back({{"ordinal", totals.device}, {"stages", stages_array(totals.stages)}});
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
                     {"stages", stages_array(phase)},
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
          {"ratio", ratio(outcome.total_seconds, busiest->seconds)},
          {"stage", busiest->stage ? Json(words_for(*busiest->stage)) : Json(nullptr)}};
}

Json limit_object(const Outcome& outcome, const Machine& machine) {
  const auto seconds = limit_seconds(outcome, machine.rates.limits);
  if (!seconds) return nullptr;
  return {{"seconds", *seconds}, {"ratio", ratio(outcome.total_seconds, *seconds)}};
}

const char* name_of(DoneAgain again) {
  switch (again) {
    case DoneAgain::kChunks:
      return "chunks";
    case DoneAgain::kParts:
      return "parts";
    case DoneAgain::kSort:
      break;
  }
  return "sort";
}

Json lost_devices_array(const Outcome& outcome) {
  Json array = Json::array();
  for (const LostDevice& lost : outcome.lost_devices) {
    array.push_back({{"ordinal", lost.ordinal ? Json(*lost.ordinal) : Json(nullptr)},
                     {"failure", lost.failure},
                     {"again", name_of(lost.again)}});
  }
  return array;
}

// All phases together: spans outside of phases there are none.
ByStage<StageTotals> sums_of(const Outcome& outcome) {
  ByStage<StageTotals> sums;
  for (const PhaseRecord& phase : outcome.phases) {
    for (std::size_t i = 0; i < kStages; ++i) {
      sums[i].busy_ns += phase.stages[i].busy_ns;
      sums[i].waiting_ns += phase.stages[i].waiting_ns;
      sums[i].bytes += phase.stages[i].bytes;
      sums[i].spans += phase.stages[i].spans;
      sums[i].moved_bytes += phase.stages[i].moved_bytes;
    }
  }
  return sums;
}

}  // namespace

std::string stats_json(const Outcome& outcome, const Plan& plan, const FileNames& names,
                       const Machine& machine) {
  const double total = outcome.total_seconds;
  Json json;
  json["version"] = kStatsVersion;
  json["program"] = program();
  json["input"] = input_object(outcome, plan.job, names);
  json["output"] = names.output ? Json(*names.output) : Json(nullptr);
  json["output_elements"] = outcome.output_elements;
  json["lost_nan_payloads"] = outcome.lost_nan_payloads;
  json["engine"] = plan.engine == EngineKind::kCuda ? "cuda" : "cpu";
  json["engine_reason"] = plan.engine_reason;
  json["seconds"] = total;
  json["bytes_per_second"] =
      total > 0 ? Json(static_cast<double>(outcome.bytes) / total) : Json(nullptr);
  json["busiest"] = busiest_object(outcome, plan);
  json["limit"] = limit_object(outcome, machine);
  json["runs"] = outcome.runs;
  json["resumed_runs"] = outcome.resumed_runs;
  json["bytes"] = bytes_object(outcome, sums_of(outcome));
  json["phases"] = phases_array(outcome);
  json["memory"] = {{"peak_resident_bytes", outcome.peak_memory_bytes},
                    {"budget_bytes", plan.host_budget_bytes},
                    {"device_budget_bytes", plan.device_budget_bytes()}};
  json["verified"] = outcome.verified;
  json["fingerprint"] = outcome.verified ? Json(to_string(outcome.fingerprint)) : Json(nullptr);
  json["lost_devices"] = lost_devices_array(outcome);
  json["notes"] = outcome.notes;
  json["plan"] = plan_object(plan, machine);
  return json_text(json);
}

}  // namespace gsort
