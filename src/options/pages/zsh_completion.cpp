#include <string>
#include <string_view>

#include <fmt/format.h>

#include "options/option_spec.hpp"
#include "options/pages/generate.hpp"
#include "options/pages/help.hpp"
#include "options/pages/value_hint.hpp"

namespace gsort {
namespace {

// `text` within a specification of _arguments in single quotes.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') out += '\\';
    out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return out;
}

// ":TYPE:(u8 i8)", "::MODE:(text json)", ":FILE:_files".
std::string value_of(const OptionSpec& spec) {
  if (!spec.takes_value()) return "";
  const ValueHint hint = hint_of(spec);
  const std::string action = hint == ValueHint::kChoices  ? fmt::format("({})", choice_words(spec))
                             : hint == ValueHint::kFile   ? "_files"
                             : hint == ValueHint::kFolder ? "_files -/"
                                                          : " ";  // nothing can be offered
  const char* const colons = spec.value_is_optional() ? "::" : ":";
  return fmt::format("{}{}:{}", colons, escaped(spec.value_name), action);
}

// `joint` says how the value joins the name: with '=', a long name takes it after '=' or as the
// next word, with '=-' after '=' only; '+' is the same for a letter. $long before a name hides it
// until -- is typed.
std::string line_of(std::string_view name, std::string_view joint, const OptionSpec& spec) {
  const bool hidden = name.starts_with("--") && !is_offered_at_dash(spec);
  return fmt::format("  {}'*{}{}[{}]{}' \\\n", hidden ? "$long" : "", name, joint,
                     escaped(spec.help), value_of(spec));
}

std::string lines_of(const OptionSpec& spec) {
  std::string lines;
  if (spec.letter != '\0') {
    lines += line_of(fmt::format("-{}", spec.letter), spec.takes_value() ? "+" : "", spec);
  }
  if (!spec.name.empty()) {
    const char* const joint = spec.value_is_optional() ? "=-" : "=";
    lines += line_of(fmt::format("--{}", spec.name), spec.takes_value() ? joint : "", spec);
  }
  return lines;
}

}  // namespace

std::string zsh_completion(Program program) {
  std::string text = fmt::format(
      "#compdef {0}\n"
      "# zsh completion for {0}; made by {0} --generate=zsh\n"
      "# Every option may repeat. Names that begin with ! are known, but not offered.\n"
      "local long='!'\n"
      "[[ $PREFIX == --* ]] && long=\n"
      "_arguments -s -S \\\n",
      name_of(program));
  for (const OptionSpec& spec : option_table(program)) text += lines_of(spec);
  return text + "  '*:FILE:_files'\n";
}

}  // namespace gsort
