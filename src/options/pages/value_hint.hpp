// The words that a shell may offer: names after a dash, and values of options.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "options/option_spec.hpp"

namespace gsort {

enum class ValueHint : std::uint8_t {
  kNone,     // a switch, or a value that cannot be guessed
  kChoices,  // one of choices_of()
  kFile,
  kFolder,
};

[[nodiscard]] ValueHint hint_of(const OptionSpec& spec);

// "auto", "cuda", "cpu". Empty unless hint_of() is kChoices.
[[nodiscard]] std::vector<std::string_view> choices_of(const OptionSpec& spec);

// The same in one string, "auto cuda cpu".
[[nodiscard]] std::string choice_words(const OptionSpec& spec);

// Whether a long name is offered after one dash, among the letters. After two dashes all are.
[[nodiscard]] bool is_offered_at_dash(const OptionSpec& spec);

}  // namespace gsort
