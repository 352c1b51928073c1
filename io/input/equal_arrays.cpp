#include "io/input/equal_arrays.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "element/record_text.hpp"
#include "form/npy.hpp"

namespace gsort::io {
namespace {

// The elements of a row, which may be 0; nullopt for everything but an array of two dimensions.
std::optional<std::uint64_t> row_of(const Source& source) {
  if (!source.stored() || !has_rows(*source.stored())) return std::nullopt;
  return source.row_elements();
}

const char* byte_order(bool big_endian) {
  return big_endian ? "big-endian" : "little-endian";
}

std::string words_for(const StoredArray& array) {
  return fmt::format("elements of dtype {}",
                     array.dtype ? array.dtype->descr : npy_dtype_of(*array.key).descr);
}

}  // namespace

Error disagrees(const Source& source, const std::string& holds, const std::string& but,
                std::string_view hint) {
  return Error(ErrorKind::kInput, "reading", fmt::format("holds {}, but {}", holds, but))
      .path(source.path())
      .hint(hint);
}

Error has_other_type(const Source& source, const std::string& holds, const KeyFormat& wanted) {
  return disagrees(source, holds, fmt::format("{} is to be sorted", type_text(wanted)),
                   "its header says so; the type comes from -t, a suffix, or the input before");
}

Error has_other_order(const Source& source, const KeyFormat& wanted) {
  return disagrees(source, fmt::format("{} numbers", byte_order(!wanted.big_endian)),
                   fmt::format("{} numbers are to be sorted", byte_order(wanted.big_endian)),
                   "its header says so; leave out --endian, or sort such files separately");
}

void require_type_of_texts(const Source& source, const ReaderOptions& options) {
  const StoredArray& array = *source.stored();
  const bool has_offsets = options.whole_rows == WholeRows::kOfTexts && !has_rows(array);
  if (!holds_texts(array) || has_offsets) return;
  if (options.type_is_asked && string_bytes(options.key) == 0) {
    throw has_other_type(source, words_for(array), options.key);
  }
  const auto& keys = array.records->fields.front().keys;
  const bool has_order = !keys.empty() && keys.front().type;
  if (has_order && options.byte_order_is_asked &&
      keys.front().big_endian != options.key.big_endian) {
    throw has_other_order(source, options.key);
  }
}

void require_equal_dtype(const Source& first, const Source& source) {
  if (!source.stored()) return;
  const auto dtype_of = [](const Source& of) {
    return of.stored() ? of.stored()->dtype : std::nullopt;
  };
  const std::optional<StoredDtype> wanted = dtype_of(first);
  const std::optional<StoredDtype> dtype = dtype_of(source);
  if (dtype && wanted ? is_same_dtype(*dtype, *wanted) : dtype.has_value() == wanted.has_value()) {
    return;
  }
  throw disagrees(
      source, words_for(*source.stored()),
      "the first input holds " + (first.stored() ? words_for(*first.stored()) : "no array"),
      "sort such arrays separately");
}

void join_rows(std::span<const std::unique_ptr<Source>> sources) {
  const auto words_for = [](std::optional<std::uint64_t> elements) {
    return elements ? fmt::format("rows of {} elements", *elements) : "no rows";
  };
  const std::optional<std::uint64_t> wanted = row_of(*sources.front());
  std::uint64_t empty_rows = 0;
  for (const auto& source : sources) {
    const std::optional<std::uint64_t> found = row_of(*source);
    if (found != wanted) {
      throw disagrees(*source, words_for(found),
                      fmt::format("the first input holds {}", words_for(wanted)),
                      "sort such arrays separately");
    }
    if (found) empty_rows = checked_sum(empty_rows, source->stored()->empty_rows.value_or(0));
  }
  if (wanted != 0) return;
  StoredArray all = *sources.front()->stored();
  all.empty_rows = empty_rows;
  sources.front()->set_stored(std::move(all));
}

}  // namespace gsort::io
