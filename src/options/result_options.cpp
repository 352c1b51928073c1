#include "options/result_options.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/error.hpp"

namespace gsort {
namespace {

std::uint64_t parse_elements(std::string_view text, std::string_view option) {
  std::uint64_t elements = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), elements);
  if (problem != std::errc() || end != text.data() + text.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} '{}'", option, text),
                "is not a number of elements")
        .hint("give a whole number in digits, as in 1000");
  }
  return elements;
}

Error exclude_each_other(std::string_view one, std::string_view other, std::string_view hint) {
  return Error(ErrorKind::kUsage, fmt::format("options {} and {}", one, other),
               "exclude each other")
      .hint(hint);
}

}  // namespace

void set_top(Options& options, std::string_view value) {
  options.top = parse_elements(value, "--top");
}

void refuse_result_contradictions(const Options& options) {
  const bool checks = options.check != CheckMode::kNone;
  if (checks && options.merge) {
    throw exclude_each_other("--check", "--merge",
                             "--merge checks the order of its inputs; leave out one of them");
  }
  if (checks && options.top) {
    throw exclude_each_other("--check", "--top",
                             "--check looks at all elements; leave out one of them");
  }
}

}  // namespace gsort
