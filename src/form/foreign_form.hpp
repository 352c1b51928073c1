// Forms of files that gsort does not read or write, by a name's suffix or by the first bytes: text
// that is not numbers alone, tables, archives, programs, data of other codecs.
//
// Raw keys may begin with any bytes, and must not be rejected by accident: 46 bits or more must
// match, which happens for random keys once in 10^13 files. Shorter magic numbers, such as zip's,
// count only together with later fields that allow few values. Those of gzip and zstd are not
// longer than one key: only names tell whether data is compressed twice. Text is 48 bytes or more
// that are all printable, with an end of line among them; 13 are enough if all is numbers. Where
// integers are small for their type, some of their bytes are zero, which no text holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "form/codec.hpp"

namespace gsort {

struct ForeignForm {
  std::string_view name;      // such as "a CSV table"
  std::string_view way_out;   // half a sentence: how its content can be sorted; or
  std::string_view command;   // for a codec: "lz4 -dc" decompresses the file whose name follows
  bool needs_layout = false;  // an error even with a key type, unless its header is skipped
};

// How much of an input's beginning is looked at.
inline constexpr std::size_t kForeignFormBytes = 4096;

// By the suffix of a name, in any case, before that of a codec. With `is_plain`, the content is
// known not to be compressed, though its name may be that of a codec.
[[nodiscard]] std::optional<ForeignForm> foreign_form_of_path(std::string_view path, bool is_plain);

// The form of data of a codec that gsort reads, if it is not read as such.
[[nodiscard]] ForeignForm form_of_codec(Codec codec);

// By the first bytes, kForeignFormBytes of them unless there are no more.
[[nodiscard]] std::optional<ForeignForm> foreign_form_of_bytes(std::string_view first_bytes);

// The size of the NumPy header at the beginning of the bytes: all before the elements.
[[nodiscard]] std::optional<std::uint64_t> npy_header_bytes(std::string_view first_bytes);

// How to sort a file of this form, for the hint of an Error about it: "use: lz4 -dc
// q.u64.lz4 | gsort -t u64".
[[nodiscard]] std::string way_out_of(const ForeignForm& form, std::string_view path);

}  // namespace gsort
