#include <string>
#include <string_view>

#include <fmt/format.h>

#include "options/option_spec.hpp"
#include "options/pages/generate.hpp"
#include "options/pages/help.hpp"
#include "options/pages/value_hint.hpp"

namespace gsort {
namespace {

// 'text' as a word of fish.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + '\'';
}

std::string value_of(const OptionSpec& spec) {
  // In fish, -x means a required value that is not a file.
  const char* const needed = spec.value_is_optional() ? "-f" : "-x";
  switch (hint_of(spec)) {
    case ValueHint::kChoices:
      return fmt::format(" {} -a {}", needed, in_quotes(choice_words(spec)));
    case ValueHint::kFile:
      return " -r -F";
    case ValueHint::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueHint::kNone:
      break;
  }
  return spec.takes_value() ? fmt::format(" {}", needed) : "";
}

}  // namespace

std::string fish_completion(Program program) {
  std::string text =
      fmt::format("# fish completion for {0}; made by {0} --generate=fish\n", name_of(program));
  for (const OptionSpec& spec : option_table(program)) {
    text += fmt::format("complete -c {}", name_of(program));
    if (spec.letter != '\0') text += fmt::format(" -s {}", spec.letter);
    if (!spec.name.empty()) text += fmt::format(" -l {}", spec.name);
    text += fmt::format("{} -d {}\n", value_of(spec), in_quotes(spec.help));
  }
  return text;
}

}  // namespace gsort
