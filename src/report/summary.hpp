// The lines that the user reads when a job has ended.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/device_error.hpp"
#include "options/job.hpp"
#include "plan/machine.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

// One line: "sorted 8 GiB of u32 in 7.10 s (1.13 GiB/s; bottleneck: writing (6.6 s at best)),
// verified". The bottleneck (busiest.hpp) is left out if it is not known.
[[nodiscard]] std::string summary_line(const Outcome& outcome, const Plan& plan);

// Keys, engine and phases; with `decisions`, also the choices of the stages.
[[nodiscard]] std::string phase_lines(const Outcome& outcome, const Plan& plan, bool decisions);

// The line of -v for temporary files and an output in a tmpfs; empty if there are none.
[[nodiscard]] std::string memory_files_line(const Plan& plan, const Machine& machine);

// The lines of -v for statistics that are not 0.
[[nodiscard]] std::string statistic_lines(std::string_view program, const Statistics& statistics);

// Devices that failed. Shown even without -v, since the user must check them.
[[nodiscard]] std::string lost_device_lines(std::span<const LostDevice> lost_devices);

// The lines for `verbosity`: one line at a terminal or with -v, with -v the phases before it, with
// -vv the choices, too. Empty otherwise: success is silent.
[[nodiscard]] std::string sort_lines(const Outcome& outcome, const Plan& plan, int verbosity,
                                     bool at_terminal);

// The same lines, each with the name of the file, for a job of several files:
// "gsort: FILE: keys: i32", "FILE: sorted 8 GiB".
[[nodiscard]] std::string lines_about(const std::string& file, std::string_view lines);

// The output of -c: count, order, fingerprint, distinct; or the place of the first disorder.
[[nodiscard]] std::string check_lines(const CheckOutcome& outcome, const Job& job,
                                      const std::string& name);

// The message if the fingerprint differs from that of --expect.
[[nodiscard]] std::string difference_line(const Fingerprint& found, const std::string& expected,
                                          const std::vector<std::string>& inputs);

}  // namespace gsort
