// Words in lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gsort {

// The words of `text` in lines of at most `columns`, each indented; every line ends, and nothing
// gives nothing. A word that is longer than a line stands alone.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns,
                                  std::size_t indent = 0);

}  // namespace gsort
