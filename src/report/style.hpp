// Colors of messages, if they are wanted.
#pragma once

#include <string>
#include <string_view>

#include "options/request.hpp"

namespace gsort {

// Whether messages are colored, by --color, $NO_COLOR (any text but none) and $TERM, which are null
// if not set, and whether the stream is a terminal.
[[nodiscard]] bool wants_color(ColorMode mode, const char* no_color, const char* term,
                               bool is_terminal);

// The text of an Error as it is printed: "gsort: WHAT WHERE: WHY" and the line with the hint; with
// color, the name is red and the hint dim.
[[nodiscard]] std::string error_text(std::string_view what, bool color);

// The last line of a sort: with color, "verified" is green, "not verified" yellow.
[[nodiscard]] std::string colored_summary(std::string line, bool color);

}  // namespace gsort
