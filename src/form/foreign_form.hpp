// Forms of files that gsort does not read or write, detected by a name's suffix or by the first
// bytes: text that is not only numbers, tables, archives, programs, data of other codecs.
//
// Raw keys may begin with any bytes, and must not be rejected by accident: 46 bits or more must
// match, which happens for random keys once in 10^13 files. Shorter magic numbers, such as zip's,
// count only together with later fields that allow few values. The magic numbers of gzip and zstd
// are not longer than one key: only names show that data is compressed twice. Text is 48 bytes or
// more that are all printable and contain an end of line; 13 bytes suffice if they are only
// numbers. Integers that are small for their type contain zero bytes, which text does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "form/codec.hpp"

namespace gsort {

struct ForeignForm {
  std::string_view name;      // such as "a CSV table"
  std::string_view way_out;   // half a sentence on how to sort its content; or
  std::string_view command;   // for a codec: "lz4 -dc" decompresses the file whose name follows
  bool needs_layout = false;  // an error even with a key type, unless its header is skipped
};

// The bytes at the start of an input that are examined.
inline constexpr std::size_t kForeignFormBytes = 4096;

// The form by the suffix of a name, upper or lower case, before that of a codec. With `is_plain`,
// the content is known not to be compressed, though its name may be that of a codec.
[[nodiscard]] std::optional<ForeignForm> foreign_form_of_path(std::string_view path, bool is_plain);

// The form of data of a codec that gsort reads, if it is not decompressed.
[[nodiscard]] ForeignForm form_of_codec(Codec codec);

// The form by the first kForeignFormBytes bytes, or fewer if there are no more.
[[nodiscard]] std::optional<ForeignForm> foreign_form_of_bytes(std::string_view first_bytes);

// The size of the NumPy header at the start of the bytes, up to the elements.
[[nodiscard]] std::optional<std::uint64_t> npy_header_bytes(std::string_view first_bytes);

// How to sort a file of this form, for the hint of an Error about it: "use: lz4 -dc
// q.u64.lz4 | gsort -t u64".
[[nodiscard]] std::string way_out_of(const ForeignForm& form, std::string_view path);

}  // namespace gsort
