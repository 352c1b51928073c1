// Any words as a command line, one a line; and the first of them as a size: options, or an Error.
#include "options/options.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/units.hpp"
#include "fuzz/require.hpp"

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

template <class Act>
void expect_success_or_error(const Act& act) {
  try {
    act();
  } catch (const gsort::Error& error) {
    gsort::fuzz::require(!error.operation().empty() && !error.hint().empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find('\0') != std::string::npos) return 0;  // no argument can hold one
  const std::vector<std::string> lines = lines_of(text);
  expect_success_or_error([&] {
    if (!lines.front().empty()) (void)gsort::parse_size(lines.front(), 1 << 30, "-S");
  });
  std::vector<const char*> words = {"gsort"};
  for (const std::string& line : lines) words.push_back(line.c_str());
  // The first line is what GSORT_OPTIONS says, too.
  const auto environment = [&](const char* name) -> const char* {
    return std::string(name) == "GSORT_OPTIONS" ? lines.front().c_str() : nullptr;
  };
  expect_success_or_error([&] {
    (void)gsort::parse_options(static_cast<int>(words.size()), words.data(), environment,
                               [](const std::string&) { return std::vector<std::string>{"in"}; });
  });
  return 0;
}
