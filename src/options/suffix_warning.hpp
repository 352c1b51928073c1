// Suffixes that say another type than the one that is sorted: of a second input, or of the output.
#pragma once

#include <string>

#include "options/job.hpp"
#include "options/options.hpp"

namespace gsort {

// One line for standard error; empty if no suffix says another type, or if -t overrules what the
// inputs' suffixes say. Records have no type.
[[nodiscard]] std::string suffix_warning(const Options& options, const Job& job);

}  // namespace gsort
