// Breaks text into lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gsort {

// The words of `text` in indented lines of at most `columns`, each with an end of line; empty for
// an empty text. A word that is longer than a line has its own line.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns,
                                  std::size_t indent = 0);

}  // namespace gsort
