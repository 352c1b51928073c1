#include "io/name_list.hpp"

#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/file.hpp"

namespace gsort::io {
namespace {

std::string read_all(const File& file) {
  std::string text;
  std::array<char, 65536> buffer{};
  std::size_t bytes = buffer.size();
  while (bytes == buffer.size()) {
    bytes = file.read_full(std::as_writable_bytes(std::span(buffer)));
    text.append(buffer.data(), bytes);
  }
  return text;
}

Error bad_list(const File& file, std::string reason, std::string_view hint) {
  return Error(ErrorKind::kInput, "reading the names in", std::move(reason))
      .path(file.path())
      .hint(hint);
}

}  // namespace

std::vector<std::string> read_name_list(const std::string& path) {
  const File file = path == "-" ? open_standard_input() : open_input(path);
  const std::string text = read_all(file);
  std::vector<std::string> names;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (name.empty()) {
      throw bad_list(file, fmt::format("name {} is empty", names.size() + 1),
                     "one NUL stands between two names, as find -print0 writes them");
    }
    if (name == "-" && path == "-") {
      throw bad_list(file, "'-' is among them, but the names come from there",
                     "put the names into a file");
    }
    names.emplace_back(name);
  }
  if (names.empty()) {
    throw bad_list(file, "there are none", "write them with find -print0, or printf '%s\\0'");
  }
  return names;
}

}  // namespace gsort::io
