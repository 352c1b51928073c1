// The program's standard output, and the abilities of standard error. The observer, warnings before
// a sort, and main when memory runs out also write to standard error.
#pragma once

#include <cstdio>
#include <string>

#include "options/request.hpp"

namespace gsort {

// Throws: Error(kOutput) if not all of it can be written.
void print(std::FILE* stream, const std::string& text);

// Whether messages on standard error are colored.
[[nodiscard]] bool stderr_color(ColorMode mode);

// Whether a line on standard error can be overwritten.
[[nodiscard]] bool stderr_rewrites();

}  // namespace gsort
