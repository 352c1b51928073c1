// The plan as a JSON object, for --explain=json and --stats.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

[[nodiscard]] nlohmann::ordered_json plan_object(const Plan& plan, const Machine& machine);

// The value as JSON; null if there is none.
template <class Value>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nullptr;
}

// The object as indented text; bytes that are not UTF-8 (in names of files) are replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

}  // namespace gsort
