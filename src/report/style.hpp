// Colors of messages, if they are wanted.
#pragma once

#include <string>
#include <string_view>

#include "options/request.hpp"

namespace gsort {

// Facts that decide about color besides --color: $NO_COLOR (any text but none), $TERM, and whether
// the stream is a terminal.
struct ColorFacts {
  const char* no_color = nullptr;
  const char* term = nullptr;
  bool is_terminal = false;
};

[[nodiscard]] bool wants_color(ColorMode mode, const ColorFacts& facts);

// The text of an Error as it is printed: "gsort: WHAT WHERE: WHY" and the line with the hint; with
// color, the name is red and the hint dim.
[[nodiscard]] std::string error_text(std::string_view what, bool color);

// The last line of a sort: with color, "verified" is green, "not verified" yellow.
[[nodiscard]] std::string colored_summary(std::string line, bool color);

}  // namespace gsort
