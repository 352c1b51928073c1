// The current exception as an Error: libraries throw exceptions of their own, and so does memory
// that has run out.
#pragma once

#include "base/error.hpp"

namespace gsort {

// Requires: called while an exception is handled.
// Returns an Error as it is; std::bad_alloc and std::system_error as what they say; others by their
// text. Throws: std::bad_alloc when there is no memory even for that.
[[nodiscard]] Error current_error();

}  // namespace gsort
