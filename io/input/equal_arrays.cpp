#include "io/input/equal_arrays.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "form/npy.hpp"

namespace gsort::io {
namespace {

// The elements of a row, which may be 0; nullopt for everything but an array of two dimensions.
std::optional<std::uint64_t> row_of(const Source& source) {
  if (!source.stored() || !has_rows(*source.stored())) return std::nullopt;
  return source.row_elements();
}

}  // namespace

Error disagrees(const Source& source, const std::string& holds, const std::string& but,
                std::string_view hint) {
  return Error(ErrorKind::kInput, "reading", fmt::format("holds {}, but {}", holds, but))
      .path(source.path())
      .hint(hint);
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
  const auto words_for = [](const StoredArray& array) {
    return fmt::format("elements of dtype {}",
                       array.dtype ? array.dtype->descr : npy_dtype_of(*array.key).descr);
  };
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
