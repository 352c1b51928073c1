// Whether bytes go around the page cache (O_DIRECT), and how much is written at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gsort {

enum class DirectIo : std::uint8_t {
  kAuto,  // where it pays: uncached large inputs, large outputs, runs
  kOn,    // wherever the file system accepts it
  kOff,   // never
};

// The buffers through which a file is written around the page cache: each takes one window of it.
struct WriteWindows {
  std::size_t bytes = std::size_t{1} << 20;  // a power of two, whole pages
  unsigned count = 8;
};

}  // namespace gsort
