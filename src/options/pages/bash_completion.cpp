#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "options/option_spec.hpp"
#include "options/pages/generate.hpp"
#include "options/pages/help.hpp"
#include "options/pages/value_hint.hpp"

namespace gsort {
namespace {

// Readline splits "--type=u" into "--type", "=", "u". Then `before` becomes "--type="; otherwise it
// is the last word. @ is the program.
constexpr std::string_view kHead = R"(# bash completion for @; made by @ --generate=bash
_@() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  if [[ $word == = ]]; then
    word='' before+='='
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}=
  fi
  COMPREPLY=()
  case $before in
)";

constexpr std::string_view kMiddle = R"(  esac
  if [[ $word != -* ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    return
  fi
)";

// The names that are offered after one dash, then those after two.
constexpr std::string_view kNames = R"(  local names='{}'
  [[ $word == --* ]] && names='{}'
)";

constexpr std::string_view kTail = R"(  mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
  # The value comes at once behind the '='.
  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _@ @
)";

std::string with_name(std::string_view text, Program program) {
  std::string out;
  for (const char letter : text) {
    out += letter == '@' ? name_of(program) : std::string_view(&letter, 1);
  }
  return out;
}

// "-t | --type | --type=": the words before a value.
std::string names_of(const OptionSpec& spec) {
  std::vector<std::string> names;
  if (spec.letter != '\0') names.push_back(fmt::format("-{}", spec.letter));
  if (!spec.name.empty() && !spec.value_is_optional()) {
    names.push_back(fmt::format("--{}", spec.name));
  }
  if (!spec.name.empty()) names.push_back(fmt::format("--{}=", spec.name));
  return fmt::format("{}", fmt::join(names, " | "));
}

std::string case_of(const OptionSpec& spec) {
  const ValueHint hint = hint_of(spec);
  if (hint == ValueHint::kNone) return fmt::format("    {}) return ;;\n", names_of(spec));
  const bool is_word = hint == ValueHint::kChoices;
  return fmt::format(
      "    {})\n{}      mapfile -t COMPREPLY < <(compgen {} -- \"$word\")\n      return ;;\n",
      names_of(spec), is_word ? "" : "      compopt -o filenames 2>/dev/null\n",
      is_word                    ? fmt::format("-W '{}'", choice_words(spec))
      : hint == ValueHint::kFile ? "-f"
                                 : "-d");
}

// Words, joined by blanks: the letters and the common options, or all long names.
std::string offered_names(Program program, bool only_long) {
  std::vector<std::string> names;
  for (const OptionSpec& spec : option_table(program)) {
    const char* const joint = spec.takes_value() && !spec.value_is_optional() ? "=" : "";
    if (spec.letter != '\0' && !only_long) names.push_back(fmt::format("-{}", spec.letter));
    if (!spec.name.empty() && (only_long || is_offered_at_dash(spec))) {
      names.push_back(fmt::format("--{}{}", spec.name, joint));
    }
  }
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

std::string bash_completion(Program program) {
  std::string text = with_name(kHead, program);
  for (const OptionSpec& spec : option_table(program)) {
    if (spec.takes_value()) text += case_of(spec);
  }
  text += kMiddle;
  text += fmt::format(kNames, offered_names(program, false), offered_names(program, true));
  return text + with_name(kTail, program);
}

}  // namespace gsort
