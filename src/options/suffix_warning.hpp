// Warnings about suffixes that name another type than the one that is read or written, or that do
// not show its byte order.
#pragma once

#include <optional>
#include <string>

#include "options/job.hpp"
#include "options/request.hpp"

namespace gsort {

// The first input whose suffix names another type, also if -t overrules it. Records have no type.
[[nodiscard]] std::optional<std::string> input_of_other_type(const Request& request,
                                                             const Job& job);

// The line for standard error about such an input.
[[nodiscard]] std::string input_warning(const Job& job, const std::string& input);

// One line for standard error; empty if no suffix names another type, or if -t overrules those of
// the inputs. Records have no type; positions have one; keys with counts differ from every type.
// Also names a raw output whose suffix is right, but whose keys are big endian because of a header.
[[nodiscard]] std::string suffix_warning(const Request& request, const Job& job);

}  // namespace gsort
