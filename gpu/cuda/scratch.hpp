// Scratch memory: what a call is lent, and how it is cut into arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.hpp"

namespace gsort::gpu {

inline constexpr std::size_t kScratchAlignment = 256;

// Device memory lent to a call, aligned to kScratchAlignment.
struct ScratchMemory {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

// Cuts one scratch allocation into arrays, each aligned as cudaMalloc would. Run once with no
// memory, it tells how much is needed; run again on the memory, it gives the same arrays.
class ScratchCutter {
 public:
  explicit ScratchCutter(void* memory) : memory_(static_cast<std::byte*>(memory)) {}

  // The next array of `count` T; nullptr when there is no memory.
  template <class T>
  [[nodiscard]] T* take(std::uint64_t count) {
    std::byte* const place = memory_ == nullptr ? nullptr : memory_ + used_bytes_;
    used_bytes_ += round_up(count * sizeof(T), kScratchAlignment);
    return reinterpret_cast<T*>(place);
  }

  [[nodiscard]] std::size_t used_bytes() const { return used_bytes_; }

 private:
  std::byte* memory_;
  std::size_t used_bytes_ = 0;
};

}  // namespace gsort::gpu
