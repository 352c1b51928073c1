#include "options/pages/value_hint.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gsort {

ValueHint hint_of(const OptionSpec& spec) {
  if (!choices_of(spec).empty()) return ValueHint::kChoices;
  if (spec.value_name == "FILE") return ValueHint::kFile;
  if (spec.value_name == "DIR") return ValueHint::kFolder;
  return ValueHint::kNone;
}

std::vector<std::string_view> choices_of(const OptionSpec& spec) {
  std::string_view rest = spec.choices;
  if (rest.empty() && spec.value_name.find('|') != std::string_view::npos) rest = spec.value_name;
  std::vector<std::string_view> choices;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    choices.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return choices;
}

std::string choice_words(const OptionSpec& spec) {
  return fmt::format("{}", fmt::join(choices_of(spec), " "));
}

bool is_offered_at_dash(const OptionSpec& spec) {
  return spec.common && spec.letter == '\0';
}

}  // namespace gsort
