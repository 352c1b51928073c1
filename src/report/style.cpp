#include "report/style.hpp"

#include <fmt/format.h>

namespace gsort {
namespace {

constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string in(std::string_view hue, std::string_view text) {
  return fmt::format("{}{}{}", hue, text, kPlain);
}

}  // namespace

bool wants_color(ColorMode mode, const char* no_color, const char* term, bool is_terminal) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  const bool refused = no_color != nullptr && *no_color != '\0';
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  return is_terminal && !refused && !dumb;
}

std::string error_text(std::string_view what, bool color) {
  if (!color) return fmt::format("gsort: {}\n", what);
  const std::size_t end = what.find('\n');
  std::string text = fmt::format("{} {}\n", in(kRed, "gsort:"), what.substr(0, end));
  if (end != std::string_view::npos) text += in(kDim, what.substr(end + 1)) + '\n';
  return text;
}

std::string colored_summary(std::string line, bool color) {
  const bool proved = !line.ends_with("not verified\n");
  const std::string_view words = proved ? "verified" : "not verified";
  const std::size_t at = line.rfind(words);
  if (color && at != std::string::npos)
    line.replace(at, words.size(), in(proved ? kGreen : kYellow, words));
  return line;
}

}  // namespace gsort
