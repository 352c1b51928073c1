// How an output takes the place of a file that is there.
#pragma once

#include <cstdint>

namespace gsort {

enum class Replacing : std::uint8_t {
  kRename,  // a new file gets the name: the old one, or the whole new one is there
  kWrite,   // the bytes of a complete copy are written into the file that is there
};

}  // namespace gsort
