// A type that nobody gave: the default. It may be another one than the keys have, which no proof
// can see, so that it is said, and never taken for granted where that could cost data.
#pragma once

#include <string>

#include "options/job.hpp"
#include "options/request.hpp"

namespace gsort {

// Whether the result depends on a type that comes from the default. Text into text does not: a line
// that is no number of the type is an error, and numbers have one order in all types.
[[nodiscard]] bool type_is_assumed(const Request& request, const Job& job);

// How the type can be given, for the hint of an Error.
[[nodiscard]] std::string how_to_give_the_type(const ElementFormat& element);

// One line for standard error, "gsort: in.bin: no type given, read as i32 (-t TYPE)"; empty if the
// type is not assumed.
[[nodiscard]] std::string assumed_type_note(const Request& request, const Job& job);

}  // namespace gsort
