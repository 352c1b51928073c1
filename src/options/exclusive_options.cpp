#include "options/exclusive_options.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace gsort {
namespace {

// `option` as in "--top", with a value or words behind it at will. Of those that GSORT_OPTIONS gave
// it says so: they are not on the command line that the user sees.
std::string with_origin(const Options& options, std::string_view option) {
  const std::string_view name = option.substr(0, option.find_first_of(" ="));
  const bool is_there =
      std::ranges::find(options.from_environment, name) != options.from_environment.end();
  return fmt::format("{}{}", option, is_there ? " in GSORT_OPTIONS" : "");
}

}  // namespace

Error exclude_each_other(const Options& options, std::string_view one, std::string_view other,
                         std::string_view hint) {
  return Error(ErrorKind::kUsage,
               fmt::format("options {} and {}", with_origin(options, one),
                           with_origin(options, other)),
               "cannot be combined")
      .hint(hint);
}

std::string_view reading_option(const Options& options) {
  if (options.fingerprint) return "--fingerprint";
  return options.check != CheckMode::kNone ? "--check" : "";
}

}  // namespace gsort
