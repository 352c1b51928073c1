// What the decoders of compressed streams take in memory, by what the streams' headers say.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "form/decoding.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

// What a decoder takes for the stream that begins with these bytes, as far as its first header can
// be seen in them; later parts may need more.
// Requires: codec is not kNone.
[[nodiscard]] std::uint64_t decoder_bytes(Codec codec, ConstByteSpan first_bytes);

// The same for a dictionary of xz that its library says needs `library_bytes`.
[[nodiscard]] std::uint64_t xz_decoder_bytes(std::uint64_t library_bytes);

// As much of a stream as decoder_bytes() looks at.
inline constexpr std::size_t kMostHeaderBytes = 4096;

// The size of the frame with which a zstd stream begins, if that holds no content and is to be
// skipped; 0 if it does not.
[[nodiscard]] std::uint64_t skippable_frame_bytes(ConstByteSpan first_bytes);

// Sees that a decoder may take `bytes`.
// Throws: Error(kResource) with the figure and the ways out; of zstd also for windows that are
// larger than any that are read.
void require_decoder_memory(Codec codec, const std::string& path, std::uint64_t bytes,
                            std::uint64_t most_bytes, const DecoderLimit& limit);

}  // namespace gsort::io
