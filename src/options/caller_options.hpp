// The options of a program that uses the library: words of the command line, or an Options object
// that was filled in by hand.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/options.hpp"

namespace gsort {

// One call, and options that the caller must not give.
struct CallOfWords {
  std::vector<std::string> inputs;
  std::optional<std::string> output = {};
  CheckMode check = CheckMode::kNone;
  bool merge = false;
  std::span<const std::string_view> refused =
      {};  // options that the call does not take, as "--output"
};

// Parses the options of a call with `words`, which name no files. The environment is not read.
// Throws: Error(kUsage), as parse_options(), and for options that the call does not take.
[[nodiscard]] Options options_of_call(const CallOfWords& call,
                                      const std::vector<std::string>& words);

// Checks Options that a program has filled in. `call` is its name in the error, as "sort_file".
// Throws: Error(kUsage) for a number outside the bounds that the command line has for it.
void require_bounded(const Options& options, std::string_view call);

// The same for the number of threads of a call; 0 means all cores.
void require_bounded_threads(unsigned threads, std::string_view call);

}  // namespace gsort
