#include "io/system/kernel_text.hpp"

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>

#include <fcntl.h>

#include "io/system/file.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {

std::string kernel_text(const std::string& path) {
  const int fd = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY, 0);
  if (fd < 0) return {};
  File file(fd, path, ErrorKind::kResource);
  std::string text(std::size_t{64} << 10, '\0');
  try {
    text.resize(file.read_full(std::as_writable_bytes(std::span(text))));
  } catch (const Error&) {
    text.clear();
  }
  return text;
}

std::optional<std::uint64_t> number_at_start(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> number_in_line(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(name)) return number_at_start(line.substr(name.size()));
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace gsort::io
