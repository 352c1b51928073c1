// Compression of one stretch of bytes into one whole member of a stream. Members behind each other
// are one stream to every tool, so that stretches can be compressed at the same time.
#pragma once

#include <cstddef>
#include <vector>

#include "form/file_form.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

// Appends the member to `to`. Thread-safe. Requires: codec is not kNone; level is one of
// levels_of(codec). Throws: Error(kOutput) when the codec fails.
void compress(Codec codec, int level, ConstByteSpan from, std::vector<std::byte>& to);

}  // namespace gsort::io
