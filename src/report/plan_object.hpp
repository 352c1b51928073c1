// The plan as a JSON object: what --explain=json prints, and a part of --stats.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

[[nodiscard]] nlohmann::ordered_json plan_object(const Plan& plan, const Machine& machine);

// As text: indented, with bytes that are no UTF-8 (in names of files) replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

}  // namespace gsort
