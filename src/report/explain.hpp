// --explain: the plan in words or JSON, against what the machine has.
#pragma once

#include <string>

#include "options/options.hpp"
#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

[[nodiscard]] std::string explain_text(const Plan& plan, const Options& options,
                                       const Machine& machine);
[[nodiscard]] std::string explain_json(const Plan& plan, const Options& options,
                                       const Machine& machine);

// The one that options.explain asks for.
[[nodiscard]] std::string explain(const Plan& plan, const Options& options, const Machine& machine);

}  // namespace gsort
