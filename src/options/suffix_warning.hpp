// Suffixes that say another type than what is read from a second input, or written.
#pragma once

#include <string>

#include "options/job.hpp"
#include "options/options.hpp"

namespace gsort {

// One line for standard error; empty if no suffix says another type, or if -t overrules what the
// inputs' suffixes say. Records have no type; positions have one, and keys with counts never do.
[[nodiscard]] std::string suffix_warning(const Options& options, const Job& job);

}  // namespace gsort
