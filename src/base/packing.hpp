// Whether runs are kept as packed differences, as --pack-runs asks for it.
#pragma once

#include <cstdint>

namespace gsort {

enum class Packing : std::uint8_t {
  kAuto,  // where it saves at least a tenth
  kOn,    // where it saves anything
  kOff,
};

}  // namespace gsort
