// Decompression of gzip, bzip2, xz and zstd streams, of one member or of many.
//
// A stream must be whole: one that is empty, ends early, is damaged, or is followed by anything but
// another member is an Error in every codec. gzip files may end with zeros, and xz files with what
// their format allows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "form/byte_stream.hpp"
#include "form/decoding.hpp"
#include "form/file_form.hpp"

namespace gsort::io {

// The codec whose streams begin with these bytes; kNone if there is none. As strict as the formats
// allow, since raw keys may begin with anything. A zstd stream must not begin with a skippable
// frame: see skippable_frame_bytes().
[[nodiscard]] Codec codec_of_bytes(ConstByteSpan first_bytes);

// The memory that one decoder may take.
struct DecoderBudget {
  std::uint64_t most_bytes = UINT64_MAX;
  DecoderLimit limit = {};  // the origin of the limit, for messages
};

inline const DecoderBudget kAnyMemory;

// A stream of the decompressed content of `from`. `path` names the input in errors; `from` and
// `budget` outlive the decoder; the budget may change between two reads. Requires: codec is not
// kNone.
[[nodiscard]] std::unique_ptr<ByteStream> make_decoder(Codec codec, ByteStream& from,
                                                       const std::string& path,
                                                       const DecoderBudget& budget = kAnyMemory);

}  // namespace gsort::io
