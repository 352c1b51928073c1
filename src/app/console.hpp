// The program's standard output, and the abilities of standard error. Standard error is
// also written to by the observer, by warnings before a sort, and by main where memory runs out.
#pragma once

#include <cstdio>
#include <string>

#include "options/request.hpp"

namespace gsort {

// Throws: Error(kOutput) when not all of it can be written.
void print(std::FILE* stream, const std::string& text);

// Whether messages on standard error are colored.
[[nodiscard]] bool stderr_color(ColorMode mode);

// Whether a line on standard error can be written over.
[[nodiscard]] bool stderr_rewrites();

}  // namespace gsort
