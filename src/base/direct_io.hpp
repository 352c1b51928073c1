// Whether bytes go around the page cache (O_DIRECT).
#pragma once

#include <cstdint>

namespace gsort {

enum class DirectIo : std::uint8_t {
  kAuto,  // where it pays: uncached large inputs, large outputs, runs
  kOn,    // wherever the file system accepts it
  kOff,   // never
};

}  // namespace gsort
