#include "report/explain.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/quoted.hpp"
#include "base/units.hpp"
#include "plan/disk_space.hpp"
#include "plan/rates.hpp"
#include "report/plan_object.hpp"
#include "report/words.hpp"

namespace gsort {
namespace {

std::string line(std::string_view label, const std::string& text) {
  return fmt::format("{:<10} {}\n", label, text);
}

std::string input_words(const Plan& plan, const Machine& machine) {
  if (!machine.input_bytes)
    return "its size is not known before its end: a pipe, text, or compressed";
  const std::string all = format_bytes(*machine.input_bytes);
  const std::string elements = counted(plan.elements, "element");
  if (!plan.job.numbered) return fmt::format("{}, {}", all, elements);
  return fmt::format("{}, {}; {} with positions",
                     format_bytes(plan.elements * plan.job.input_bytes()), elements, all);
}

// The steps of the plan, in words.
struct Steps {
  const Plan& plan;

  std::string operator()(const CountKeys&) const {
    return "count every value, then write them in order: one read, one write";
  }
  std::string operator()(const BatchPlan& batch) const {
    return fmt::format("sort {} of whole arrays at once {}: one read, one write",
                       format_bytes(batch.block_elements * plan.element_bytes),
                       plan.engine == EngineKind::kCuda
                           ? fmt::format("in each of {}", counted(batch.lanes, "lane"))
                           : fmt::format("on each of {}", counted(batch.lanes, "core")));
  }
  std::string operator()(const InputMergePlan& merge) const {
    std::string words = "merge " + counted(plan.job.merged_inputs, "sorted input");
    if (plan.run.count == 0) return words + ": one read, one write, no temporary files";
    return words + fmt::format(", {} at once, into {}; then merge these",
                               format_count(merge.fan_in), counted(plan.run.count, "run"));
  }
  std::string operator()(const SetPlan&) const {
    return fmt::format("compare {}: one read, one write, no temporary files",
                       counted(plan.job.merged_inputs, "sorted input"));
  }
  std::string operator()(const SelectPlan&) const {
    return "keep what may be among the first elements while reading: one read, no temporary files";
  }
  std::string operator()(const OneChunk&) const {
    const std::string_view holders =
        plan.chunk.is_shared ? ", which the devices hold together" : "";
    return fmt::format("everything fits one chunk{}: one read, one write, no temporary files",
                       holders);
  }
  std::string operator()(const UnknownSize&) const {
    return fmt::format("one chunk if {} are enough, else runs of that size, then merging",
                       format_bytes(plan.chunk.chunk_elements * plan.element_bytes));
  }
  std::string operator()(const Spill&) const {
    const std::string merges = plan.run.rounds.empty() ? "one merge"
                                                       : counted(plan.run.rounds.size(), "round") +
                                                             " of merging and a last merge";
    if (plan.job.part_elements) {
      return fmt::format("{} of {}: {}", counted(*plan.job.part_elements, "element"),
                         counted(plan.run.count, "existing run"), merges);
    }
    const std::string runs =
        fmt::format("{} of {}", counted(plan.run.count, "run"),
                    format_bytes(plan.chunk.chunk_elements * plan.element_bytes));
    return plan.job.forms_share ? runs : runs + ", then " + merges;
  }
};

std::string place_of_runs(const Plan& plan) {
  if (!plan.job.resumable) {
    std::string words;
    if (plan.device_run_bytes() > 0) {
      words =
          fmt::format("up to {} stay on the device{}, then ", format_bytes(plan.device_run_bytes()),
                      plan.devices.size() == 1 ? "" : "s");
    }
    return words + fmt::format("up to {} stay in memory", format_bytes(plan.run.kept_bytes()));
  }
  if (plan.job.part_elements) return "those of the shares are kept, others are temporary";
  if (plan.job.forms_share) return "kept for --take";
  if (plan.resumed.runs == 0) return "kept, to resume from";
  return fmt::format("kept, to resume from; {} of {} elements are there",
                     format_count(plan.resumed.runs), format_count(plan.resumed.elements));
}

// ", link of 59.6 GiB/s, NUMA node 1"
std::string bus_words(const DevicePlan& device) {
  std::string words;
  if (device.link_bytes_per_second) {
    words += ", link of " + rate_words(*device.link_bytes_per_second);
  }
  if (device.node) words += fmt::format(", NUMA node {}", *device.node);
  return words;
}

std::string free_words(const Folder& folder) {
  const std::string words = format_bytes(folder.free_bytes) + " free";
  return folder.is_memory() ? fmt::format("{} in memory ({})", words, folder.memory_kind) : words;
}

// The size of the output, as far as it is known: "8 B to 600 MiB" for one of each key.
std::string output_bytes_words(const Plan& plan) {
  const Job& job = plan.job;
  const std::string least = format_bytes(plan.output.least_bytes);
  const bool is_text = job.output_form.format == FileFormat::kText;
  if (is_text || job.compares_inputs() || plan.elements == 0) return "at least " + least;
  if (!job.is_distinct()) return least;
  const std::uint64_t most = std::min(plan.elements, job.top.value_or(plan.elements));
  return fmt::format("{} to {}", least, format_bytes(most * job.result_bytes()));
}

std::string disk_words(const Plan& plan, const Machine& machine) {
  std::string words = plan.temporary_bytes == 0 ? "no temporary files"
                                                : fmt::format("up to {} of temporary files",
                                                              format_bytes(plan.temporary_bytes));
  if (plan.run.through_page_cache) words += " (through the page cache)";
  if (plan.is<UnknownSize>()) words = "temporary files if one chunk is not enough";
  for (const Folder& folder : machine.temporary) {
    words += folder.problem == 0
                 ? fmt::format("; folder {} has {}", printable(folder.path), free_words(folder))
                 : fmt::format("; folder {} cannot be used", printable(folder.path));
  }
  if (machine.output) {
    if (plan.output.least_bytes > 0) {
      words += fmt::format("; the output takes {} as a new file, even if it replaces one",
                           output_bytes_words(plan));
    }
    words += "; the output's folder has " + free_words(*machine.output);
    if (machine.written_into) {
      words += fmt::format("; all of it is then written into {}, which takes {} more of {} free",
                           printable(machine.written_into->path),
                           format_bytes(needed_beside_copy(plan, machine)),
                           format_bytes(machine.written_into->free_bytes));
    }
    if (plan.output.makes_room_early) words += "; the output is allocated while input is read";
  }
  return words;
}

std::string explain_text(const Plan& plan, const Machine& machine) {
  std::string text;
  text += line("input", input_words(plan, machine));
  text += line("keys", key_words(plan.job));
  if (const std::string words = result_words(plan); !words.empty()) text += line("result", words);
  text += line("engine", engine_words(plan));
  text += line("steps", std::visit(Steps{plan}, plan.strategy));
  text += line(
      "memory",
      fmt::format("{} of at most {} (available now: {})", format_bytes(plan.arena_bytes),
                  format_bytes(plan.host_budget_bytes), format_bytes(machine.available_bytes)));
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    text += line(plan.devices.size() == 1 ? std::string("device")
                                          : fmt::format("device {}", plan.devices[i].ordinal),
                 fmt::format("at most {} of {} free{}", format_bytes(plan.devices[i].budget_bytes),
                             format_bytes(machine.gpus[i].free_bytes), bus_words(plan.devices[i])));
  }
  if (plan.is<Spill>() || plan.is<UnknownSize>()) {
    text += line("merging",
                 fmt::format("up to {} runs at once, blocks of {}", format_count(plan.run.fan_in),
                             format_bytes(plan.run.block_elements * plan.element_bytes)));
    text += line("runs", fmt::format("packed where that saves space; {}", place_of_runs(plan)));
  }
  text += line("disk", disk_words(plan, machine));
  return text;
}

std::string explain_json(const Plan& plan, const Machine& machine) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json.update(plan_object(plan, machine));
  return json_text(json);
}

}  // namespace

std::string explain(ExplainMode mode, const Plan& plan, const Machine& machine) {
  return mode == ExplainMode::kJson ? explain_json(plan, machine) : explain_text(plan, machine);
}

}  // namespace gsort
