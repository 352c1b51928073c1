// The Error for two options that do not go together.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "options/options.hpp"

namespace gsort {

// `one` and `other` name options as in "--top", with a value or words behind them at will. Of those
// that GSORT_OPTIONS gave the message says so: they are not on the command line that the user sees.
[[nodiscard]] Error exclude_each_other(const Options& options, std::string_view one,
                                       std::string_view other, std::string_view hint);

}  // namespace gsort
