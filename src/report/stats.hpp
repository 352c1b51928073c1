// --stats: the report of a sort in JSON, for programs. README.md in this folder describes every
// field; kStatsVersion counts changes that break readers; new fields do not.
#pragma once

#include <string>

#include "options/request.hpp"
#include "plan/machine.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

inline constexpr int kStatsVersion = 2;

[[nodiscard]] std::string stats_json(const Outcome& outcome, const Plan& plan,
                                     const FileNames& names, const Machine& machine);

}  // namespace gsort
