// The memory that decoders of compressed streams need, according to the headers of the streams.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "form/decoding.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

// The memory that a decoder needs for the stream that begins with these bytes, as far as they show
// its first header; later parts may need more. Requires: codec is not kNone.
[[nodiscard]] std::uint64_t decoder_bytes(Codec codec, ConstByteSpan first_bytes);

// The same for a dictionary of xz for which the library needs `library_bytes`.
[[nodiscard]] std::uint64_t xz_decoder_bytes(std::uint64_t library_bytes);

// The most bytes of a stream that decoder_bytes() looks at.
inline constexpr std::size_t kMostHeaderBytes = 4096;

// The size of the skippable frame, without content, with which a zstd stream begins; 0 if it begins
// with another frame.
[[nodiscard]] std::uint64_t skippable_frame_bytes(ConstByteSpan first_bytes);

// Checks that a decoder may take `bytes`. Throws: Error(kResource) with the number and the
// remedies; for zstd also if the window is larger than any that gsort reads.
void require_decoder_memory(Codec codec, const std::string& path, std::uint64_t bytes,
                            std::uint64_t most_bytes, const DecoderLimit& limit);

}  // namespace gsort::io
