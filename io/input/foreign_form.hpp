// What an input plainly is instead of raw keys: text, a table, an archive, data of a codec. It is
// looked for only where nobody gave the type of the keys, so that the default is a guess: such
// files are hardly ever meant to be sorted by it, and a user who means it gives a type.
//
// Raw keys may begin with anything, and must not be refused by accident: 47 bits or more have to be
// right, which random keys have once in 10^14 files. Magic numbers that are shorter, as zip's,
// count only together with fields behind them that allow few values. Those of gzip and zstd are no
// longer than one key: of data that is compressed twice, only names tell. Text is 48 bytes or more
// that are all printable, with an end of line among them; of numbers alone 13 suffice. Where
// integers are small for their type, some of their bytes are zero, which no text holds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/input/source.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

struct ForeignForm {
  std::string_view name;     // "a CSV table"
  std::string_view way_out;  // half a sentence: how what it holds can be sorted
  bool is_compressed = false;
};

// How much of an input's beginning is looked at.
inline constexpr std::size_t kForeignFormBytes = 4096;

// By the suffix of a name, behind that of a codec. With `is_plain`, what it holds is known not to
// be compressed, though its name may be that of a codec.
[[nodiscard]] std::optional<ForeignForm> foreign_form_of_path(std::string_view path, bool is_plain);

// By the first bytes, kForeignFormBytes of them unless there are no more.
[[nodiscard]] std::optional<ForeignForm> foreign_form_of_bytes(ConstByteSpan first_bytes);

// Both, where `form` has a type that nobody gave. Throw: Error(kInput) with the way out.
void refuse_foreign_name(const std::string& path, const ElementForm& form, bool is_plain);
void refuse_foreign_bytes(const std::string& path, const ElementForm& form,
                          ConstByteSpan first_bytes);

}  // namespace gsort::io
