// The options of a program that uses the library: words of the command line, or an Options that was
// filled in by hand.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/options.hpp"

namespace gsort {

// One call: what the caller's words must not change.
struct CallOfWords {
  std::vector<std::string> inputs;
  std::optional<std::string> output = {};
  CheckMode check = CheckMode::kNone;
  bool merge = false;
  std::span<const std::string_view> refused =
      {};  // options that the call does not take, as "--output"
};

// The options of a call with `words`, which name no files. The environment is not read.
// Throws: Error(kUsage), as parse_options(), and for what the call does not take.
[[nodiscard]] Options options_of_call(const CallOfWords& call,
                                      const std::vector<std::string>& words);

// For Options that a program has filled in. `call` is its name in the error, as "sort_file".
// Throws: Error(kUsage) for a number out of the bounds that the command line has for it.
void require_bounded(const Options& options, std::string_view call);

// The same for the number of threads of a call, where 0 is as many as there are cores.
void require_bounded_threads(unsigned threads, std::string_view call);

}  // namespace gsort
