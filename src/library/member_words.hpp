// Errors in the words of a caller who has filled in Options: messages name options of the program,
// and such a caller has members.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace gsort::library {

// "add -u" -> "add Options::unique". Commands for a shell and quoted parts stay as they are.
[[nodiscard]] std::string in_members(std::string_view text);

// The same for all texts of an error.
[[nodiscard]] Error in_members(const Error& error);

}  // namespace gsort::library
