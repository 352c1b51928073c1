#include "options/pages/wrapped.hpp"

#include <algorithm>

namespace gsort {

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column != 0 && column + 1 + word.size() > columns) {
      out += '\n';
      column = 0;
    }
    out += column == 0 ? std::string(indent, ' ') : " ";
    column = (column == 0 ? indent : column + 1) + word.size();
    out += word;
  }
  return out.empty() ? out : out + '\n';
}

}  // namespace gsort
