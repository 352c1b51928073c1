// The texts of --generate, made from the option table: the manual page, and a completion for each
// of three shells. A completion offers the names of options, the values of options that take one of
// a few words, and files or folders where an option takes these.
#pragma once

#include <string>

#include "options/options.hpp"

namespace gsort {

[[nodiscard]] std::string manual_page();          // roff, man macros
[[nodiscard]] std::string cluster_manual_page();  // of gsort-mpi
[[nodiscard]] std::string bash_completion(Program program = Program::kGsort);
[[nodiscard]] std::string zsh_completion(Program program = Program::kGsort);
[[nodiscard]] std::string fish_completion(Program program = Program::kGsort);

}  // namespace gsort
