// What --resume asks of the other options, and what of them a sort must keep to go on.
#pragma once

#include <string>

#include "options/options.hpp"

namespace gsort {

// The options that decide what is in the runs, as text: equal for sorts whose runs are the same.
// The output, its form, -u, --top and all resources may differ.
[[nodiscard]] std::string resumable_job(const Options& options);

// Throws: Error(kUsage) for options that --resume does not go with.
void refuse_beside_resume(const Options& options);

}  // namespace gsort
