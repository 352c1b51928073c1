// --explain: the plan in words or JSON, compared with the machine.
#pragma once

#include <string>

#include "options/request.hpp"
#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

[[nodiscard]] std::string explain(ExplainMode mode, const Plan& plan, const Machine& machine);

}  // namespace gsort
