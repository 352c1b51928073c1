// Whether runs are kept as packed differences (--pack-runs).
#pragma once

#include <cstddef>
#include <cstdint>

namespace gsort {

enum class Packing : std::uint8_t {
  kAuto,  // if it saves at least a tenth
  kOn,    // if it saves anything
  kOff,
};

// The most bytes that keys of `plain_bytes` may take if packed; keys that would take more stay
// plain.
[[nodiscard]] constexpr std::size_t most_packed_bytes(Packing packing, std::size_t plain_bytes) {
  if (packing == Packing::kOff || plain_bytes == 0) return 0;
  return packing == Packing::kOn ? plain_bytes - 1 : plain_bytes / 10 * 9;
}

}  // namespace gsort
