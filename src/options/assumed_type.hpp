// The assumed type: the default, if the user gave no type. The keys may have another type, which no
// proof can detect, so gsort prints a note, and reports an error where a wrong type could cost
// data.
#pragma once

#include <string>

#include "options/job.hpp"
#include "options/request.hpp"

namespace gsort {

// Whether the result depends on a type that comes from the default. Text into text does not: a line
// that is not a number of the type is an error, and numbers have one order in all types.
[[nodiscard]] bool type_is_assumed(const Request& request, const Job& job);

// How to give the type, for the hint of an Error.
[[nodiscard]] std::string how_to_give_the_type(const ElementFormat& element);

// One line for standard error, "gsort: in.bin: no type given, read as i32 (-t TYPE)"; empty if the
// type is not assumed.
[[nodiscard]] std::string assumed_type_note(const Request& request, const Job& job);

}  // namespace gsort
