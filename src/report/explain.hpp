// --explain: the plan in words or JSON, against what the machine has.
#pragma once

#include <string>

#include "options/request.hpp"
#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

[[nodiscard]] std::string explain_text(const Plan& plan, const Machine& machine);
[[nodiscard]] std::string explain_json(const Plan& plan, const Machine& machine);

// The one that `mode` asks for.
[[nodiscard]] std::string explain(ExplainMode mode, const Plan& plan, const Machine& machine);

}  // namespace gsort
