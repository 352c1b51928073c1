// Memory for runs that the host cannot address, such as a GPU's: bytes are copied there and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gsort {

// Thread-safe.
class TierMemory {
 public:
  virtual ~TierMemory() = default;

  // Copies bytes to `offset`, and back from there; done on return. Requires: the range lies within
  // the memory. Throws: Error(kDevice).
  virtual void put(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  virtual void get(std::uint64_t offset, std::span<std::byte> bytes) = 0;
};

}  // namespace gsort
