// Proof of encoded output: before text or compressed data is written, it is parsed or decompressed
// again and compared with its source.
//
// It costs more than a twentieth of a sort's time in every form (tools/bench/results/
// encoding-proof.txt), so it is made only on request.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "element/key.hpp"
#include "form/decimal.hpp"
#include "form/file_form.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

using LineFormatter = decltype(&format_lines);

// The Error for output in `form` ("text", "gzip") that does not decode to the elements it was made
// from.
[[nodiscard]] Error encoded_otherwise(std::string_view form);

// Like format_lines with `formatter`, but a few lines at a time, each parsed again while it is in
// the cache. NaNs, whose payloads text does not hold, must come back as NaNs of the same sign.
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
