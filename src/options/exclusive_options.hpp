// The Error for two options that do not go together, which says where they were given, and the
// options that many do not go with.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "options/options.hpp"

namespace gsort {

// `one` and `other` as in "--top", with a value or words behind it at will; those that
// GSORT_OPTIONS gave are named with it.
[[nodiscard]] Error exclude_each_other(const Options& options, std::string_view one,
                                       std::string_view other, std::string_view hint);

// "--check" or "--fingerprint", which have inputs read and nothing sorted; empty for a sort.
[[nodiscard]] std::string_view reading_option(const Options& options);

}  // namespace gsort
