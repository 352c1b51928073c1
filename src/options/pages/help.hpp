// The texts of -h, --help and -V. Plain text, at most 80 columns, made from the option table.
#pragma once

#include <string>
#include <string_view>

#include "options/request.hpp"

namespace gsort {

enum class Show : std::uint8_t;

[[nodiscard]] std::string_view name_of(Program program);                    // "gsort-mpi"
[[nodiscard]] std::string version_text(Program program = Program::kGsort);  // "gsort 1.0.0"

// The text for `show`. Requires: show is not kNone.
[[nodiscard]] std::string text_of(Show show, Program program = Program::kGsort);

}  // namespace gsort
