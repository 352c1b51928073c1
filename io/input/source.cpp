#include "io/input/source.hpp"

#include <fmt/format.h>

namespace gsort::io {

Error odd_tail(const std::string& path, std::uint64_t offset, std::uint64_t size,
               std::size_t element_bytes) {
  const std::uint64_t tail = size % element_bytes;
  return Error(ErrorKind::kInput, "reading",
               fmt::format("the size, {} bytes, is not a multiple of the element size, {}", size,
                           element_bytes))
      .path(path)
      .at(offset + size - tail)
      .hint(
          "likely elements have another size (-t, --record), or a header comes first (--skip); "
          "else the file is not complete");
}

Error shorter_than_header(const std::string& path, std::uint64_t size, std::uint64_t header_bytes) {
  return Error(ErrorKind::kInput, "reading",
               fmt::format("has {} bytes, fewer than the header of {}", size, header_bytes))
      .path(path)
      .hint("every input must begin with a header of --skip bytes");
}

}  // namespace gsort::io
