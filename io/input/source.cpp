#include "io/input/source.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "form/file_form.hpp"

namespace gsort::io {

void Source::forget_fields() {
  if (stored_->records) stored_->records->fields = std::vector<StoredField>();
  stored_->dtype.reset();
}

Error odd_tail(const std::string& path, std::uint64_t offset, std::uint64_t size,
               const ElementForm& form, const std::optional<ForeignForm>& looks_like) {
  const std::uint64_t tail = size % form.bytes;
  const bool is_of_keys = form.bytes == bytes_of(form.key);
  return Error(ErrorKind::kInput, "reading",
               fmt::format("the size, {} bytes, is not a multiple of the element size, {}{}", size,
                           form.bytes, form.type_is_assumed ? ", and no type was given" : ""))
      .path(path)
      .at(offset + size - tail)
      .hint(
          looks_like && is_of_keys
              ? fmt::format("it looks like {}: {}", looks_like->name, way_out_of(*looks_like, path))
              : "likely elements have another size (-t, --record), or a header comes first "
                "(--skip); else the file is not complete");
}

Error shorter_than_header(const std::string& path, std::uint64_t size, std::uint64_t header_bytes,
                          std::uint64_t end_bytes) {
  const std::string end = end_bytes > 0 ? fmt::format(" and the end of {}", end_bytes) : "";
  return Error(ErrorKind::kInput, "reading",
               fmt::format("has {} bytes, fewer than the header of {}{}", size, header_bytes, end))
      .path(path)
      .hint(end.empty() ? "every input must begin with a header of --skip bytes"
                        : "every input must have --skip and --skip-end bytes around its elements");
}

std::uint64_t bytes_of_elements(const std::string& path, std::uint64_t elements,
                                std::size_t element_bytes, std::uint64_t found_bytes, bool is_all) {
  const std::uint64_t wanted = capped_product(elements, element_bytes);
  const std::uint64_t behind = found_bytes - std::min(found_bytes, wanted);
  if (wanted <= found_bytes && behind <= (is_all ? 0 : kMostSkipBytes)) return wanted;
  const bool is_long = wanted <= found_bytes && !is_all;
  throw Error(ErrorKind::kInput, "reading",
              is_long
                  ? fmt::format("more than {} follow the elements", format_bytes(kMostSkipBytes))
                  : fmt::format("{} elements have {} bytes, {} are there", elements, wanted,
                                behind > 0 ? "more" : std::to_string(found_bytes)))
      .path(path)
      .hint(is_long ? "copy the elements into a file of their own first"
                    : "likely elements have another size (-t, --record), or --elements, --skip or "
                      "--skip-end is wrong");
}

}  // namespace gsort::io
