// Tells whether a file is in the page cache. A cached file is read several times faster from there;
// an uncached one is read faster around it.
#pragma once

#include <cstdint>

#include "io/system/file.hpp"

namespace gsort::io {

// Whether at least half of 256 pages, evenly spaced over [offset, offset + bytes) of the file, are
// cached. Reads nothing. The kernel answers only users who may write to the file; for others, a
// file smaller than half of the memory is taken to be cached.
[[nodiscard]] bool is_mostly_cached(const File& file, std::uint64_t offset, std::uint64_t bytes);

}  // namespace gsort::io
