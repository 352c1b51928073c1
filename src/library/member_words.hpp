// Errors for a caller that has filled in Options: they name members instead of command-line
// options.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace gsort::library {

// "add -u" -> "add Options::unique". Commands for a shell and quoted parts do not change.
[[nodiscard]] std::string in_members(std::string_view text);

// The same for all texts of an error.
[[nodiscard]] Error in_members(const Error& error);

}  // namespace gsort::library
