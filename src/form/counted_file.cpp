#include "form/counted_file.hpp"

#include <span>

#include <fmt/format.h>

#include "base/checked.hpp"

namespace gsort::io {

std::uint64_t read_sosd_header(ByteStream& from, const std::string& path) {
  std::uint64_t elements = 0;
  const auto header = std::as_writable_bytes(std::span(&elements, 1));
  if (const std::size_t read = from.read(header); read < header.size()) {
    throw Error(ErrorKind::kInput, "reading the SOSD header of",
                fmt::format("the file has {} of its {} bytes", read, header.size()))
        .path(path)
        .hint("is the file complete? a SOSD file begins with the number of its keys, in 64 bits");
  }
  return elements;
}

std::vector<std::byte> make_sosd_header(std::uint64_t elements) {
  const auto header = std::as_bytes(std::span(&elements, 1));
  return {header.begin(), header.end()};
}

std::uint64_t promised_bytes(const std::string& path, std::uint64_t elements,
                             std::size_t element_bytes) {
  if (elements <= kMostFileBytes / element_bytes) return elements * element_bytes;
  throw Error(ErrorKind::kInput, "reading",
              fmt::format("the header promises {} elements, more than any file holds", elements))
      .path(path)
      .hint("is it a SOSD file? it begins with the number of its keys, in 64 bits");
}

Error wrong_array_size(const std::string& path, std::uint64_t promised_bytes,
                       std::uint64_t found_bytes, bool type_is_stored) {
  const bool more = found_bytes > promised_bytes;
  return Error(ErrorKind::kInput, "reading",
               fmt::format("the header promises {} bytes of elements, {} follow", promised_bytes,
                           more ? "more" : std::to_string(found_bytes)))
      .path(path)
      .hint(type_is_stored ? more ? "a file holds one array; save each in a file of its own"
                                  : "is the file complete?"
            : more ? "likely -t is wrong, and the keys have more bytes; a file holds one array"
                   : "likely -t is wrong, and the keys have fewer bytes; else the file is not "
                     "complete");
}

}  // namespace gsort::io
