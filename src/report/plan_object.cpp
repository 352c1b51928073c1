#include "report/plan_object.hpp"

#include "element/record_text.hpp"
#include "report/words.hpp"

namespace gsort {

nlohmann::ordered_json devices_array(const Plan& plan) {
  auto devices = nlohmann::ordered_json::array();
  for (const DevicePlan& device : plan.devices) {
    devices.push_back({{"ordinal", device.ordinal},
                       {"name", device.name},
                       {"budget_bytes", device.budget_bytes},
                       {"run_bytes", plan.run.device_bytes(device.more_buffers)},
                       {"link_bytes_per_second", or_null(device.link_bytes_per_second)},
                       {"numa_node", or_null(device.node)}});
  }
  return devices;
}

nlohmann::ordered_json plan_object(const Plan& plan, const Machine& machine) {
  const ElementFormat& element = plan.job.input_element();
  const auto* const merge = std::get_if<InputMergePlan>(&plan.strategy);
  nlohmann::ordered_json json;
  json["input_bytes"] = or_null(machine.input_bytes);
  json["elements"] = machine.input_bytes ? nlohmann::ordered_json(plan.elements) : nullptr;
  json["type"] = element_words(element);
  if (const auto records = element.shown_records()) json["record_keys"] = describe_keys(*records);
  json["big_endian"] = element.key.big_endian;
  json["descending"] = element.key.descending;
  const std::string floats = order_of_floats(element);
  json["order_of_floats"] =
      floats.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(floats);
  json["positions"] = plan.job.argsort;
  json["shuffle_seed"] = or_null(plan.job.shuffle);
  json["unique"] = plan.job.is_distinct();
  json["counts"] = plan.job.count;
  json["adds_counts"] = plan.job.adds_counts();
  json["min_count"] = plan.job.min_count.value_or(1);
  json["top"] = or_null(plan.job.top);
  json["output_parts"] = plan.job.output_parts;
  json["part_elements"] = or_null(plan.job.part_elements);
  json["engine"] = plan.engine == EngineKind::kCuda ? "cuda" : "cpu";
  json["engine_reason"] = plan.engine_reason;
  json["strategy"] = strategy_name(plan);
  json["array_elements"] = plan.job.array_elements;
  json["merged_inputs"] = plan.job.merged_inputs;
  json["inputs_merged_at_once"] = merge != nullptr ? merge->fan_in : 0;
  json["threads"] = plan.threads;
  json["host_budget_bytes"] = plan.host_budget_bytes;
  json["arena_bytes"] = plan.arena_bytes;
  json["device_budget_bytes"] = plan.device_budget_bytes();
  json["devices"] = devices_array(plan);
  json["block_bytes"] = plan.chunk.block_bytes;
  json["chunk_elements"] = plan.chunk.chunk_elements;
  json["chunk_lanes"] = plan.chunk.lanes;
  json["chunk_is_shared"] = plan.chunk.is_shared;
  json["runs"] = plan.run.count;
  json["runs_to_resume"] = plan.resumed.runs;
  json["elements_to_resume"] = plan.resumed.elements;
  json["run_block_elements"] = plan.run.block_elements;
  json["device_run_bytes"] = plan.device_run_bytes();
  json["kept_run_bytes"] = plan.run.kept_bytes();
  json["runs_through_page_cache"] = plan.run.through_page_cache;
  json["fan_in"] = plan.run.fan_in;
  json["rounds_before_the_last_merge"] = plan.run.rounds.size();
  json["temporary_bytes"] = plan.temporary_bytes;
  auto& folders = json["temporary"] = nlohmann::ordered_json::array();
  for (const Folder& folder : machine.temporary) {
    const std::uint64_t free_bytes = folder.problem == 0 ? folder.free_bytes : 0;
    folders.push_back({{"path", folder.path}, {"free_bytes", free_bytes}});
  }
  return json;
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gsort
