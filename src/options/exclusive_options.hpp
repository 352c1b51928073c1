// Errors that name options, and say where these were given: the Error for two options that do not
// go together, and the options that many do not go with.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "options/options.hpp"

namespace gsort {

// `option` as in "--top", with a value or words behind it at will. Of those that GSORT_OPTIONS gave
// it says so: they are not on the command line that the user sees.
[[nodiscard]] std::string with_origin(const Options& options, std::string_view option);

// `one` and `other` are named with their origin.
[[nodiscard]] Error exclude_each_other(const Options& options, std::string_view one,
                                       std::string_view other, std::string_view hint);

// "--check" or "--fingerprint", which have inputs read and nothing sorted; empty for a sort.
[[nodiscard]] std::string_view reading_option(const Options& options);

}  // namespace gsort
