// Proof of what an output is made into: text is read again, compressed data decompressed again, and
// compared with what it was made of, before it is written.
//
// It costs more than a twentieth of a sort's time in every form (tools/bench/results/
// encoding-proof.txt), so it is made only when it is asked for.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "element/key.hpp"
#include "form/decimal.hpp"
#include "form/file_form.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

using LineFormatter = decltype(&format_lines);

// For what `form` ("text", "gzip") is made of elements and does not decode to them.
[[nodiscard]] Error encoded_otherwise(std::string_view form);

// As format_lines, by `formatter`, a few lines at a time, each read again while it is near. NaNs,
// whose payload text does not hold, must come back as NaNs of their sign.
// Throws: Error(kCorrupt).
std::size_t format_proven(LineFormatter formatter, ConstByteSpan raw_keys, const KeyFormat& format,
                          char* out);

// Whether `text` is the lines of these keys. kTextSlack bytes behind it are readable.
[[nodiscard]] bool reads_back(std::string_view text, ConstByteSpan raw_keys,
                              const KeyFormat& format);

// `member` must be a whole member of `codec` that holds `content`; `scratch` is where it is
// decompressed to, and not empty.
// Throws: Error(kCorrupt).
void require_decompresses(Codec codec, ConstByteSpan member, ConstByteSpan content,
                          ByteSpan scratch);

}  // namespace gsort::io
