// Scratch: temporary memory for one call that sorts the caller's memory. Its content is undefined.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/units.hpp"
#include "io/system/memory.hpp"

namespace gsort::io {

// Less than a huge page comes from the heap, because an Arena takes system calls; more is an Arena.
class Scratch {
 public:
  // Throws: std::bad_alloc if it comes from the heap; otherwise as Arena.
  Scratch(std::size_t bytes, std::string_view purpose)
      : few_(bytes == 0 || bytes >= kHugePageBytes ? nullptr
                                                   : new Line[div_up(bytes, sizeof(Line))]),
        many_(few_ ? 0 : bytes, purpose, "give fewer at once, or end other programs"),
        bytes_(few_ ? ByteSpan(few_[0].bytes, bytes) : many_.bytes()) {}

  [[nodiscard]] ByteSpan bytes() const noexcept { return bytes_; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  std::unique_ptr<Line[]> few_;
  Arena many_;
  ByteSpan bytes_;
};

}  // namespace gsort::io
