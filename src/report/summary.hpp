// What the user reads when a job has ended.
#pragma once

#include <string>

#include "options/options.hpp"
#include "plan/machine.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

// One line: "sorted 1.07 GB in 1.4 s (0.77 GB/s), verified".
[[nodiscard]] std::string summary_line(const Outcome& outcome);

// What -v adds: keys, engine, phases; with `decisions` (-vv) also the notes of the stages.
[[nodiscard]] std::string phase_lines(const Outcome& outcome, const Plan& plan,
                                      const Options& options, const Machine& machine,
                                      bool decisions);

// What -c prints: count, order, fingerprint, distinct; or where the order ends.
[[nodiscard]] std::string check_lines(const CheckOutcome& outcome, const Options& options,
                                      const std::string& name);

}  // namespace gsort
