// The current exception as an Error: libraries throw their own exceptions, and a lack of memory
// throws std::bad_alloc.
#pragma once

#include "base/error.hpp"

namespace gsort {

// Requires: an exception is being handled. Returns an Error unchanged; std::bad_alloc and
// std::system_error as Errors of the same meaning; others with their text. Throws: std::bad_alloc
// if there is no memory for the Error.
[[nodiscard]] Error current_error();

}  // namespace gsort
