// Decompression of gzip, bzip2, xz and zstd streams, of one member or of many.
//
// A stream must be whole: one that is empty, ends early, is damaged, or is followed by anything but
// another member is an Error in every codec.
#pragma once

#include <memory>
#include <string>

#include "base/file_form.hpp"
#include "io/byte_stream.hpp"

namespace gsort::io {

// The codec whose streams begin with these bytes; kNone if none does. As strict as the formats
// allow, since raw keys may begin with anything.
[[nodiscard]] Codec codec_of_bytes(ConstByteSpan first_bytes);

// A stream of what `from` holds compressed. `path` names the input in errors; `from` outlives the
// decoder.
// Requires: codec is not kNone.
[[nodiscard]] std::unique_ptr<ByteStream> make_decoder(Codec codec, ByteStream& from,
                                                       const std::string& path);

}  // namespace gsort::io
