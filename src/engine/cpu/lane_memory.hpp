// LaneMemory: hands out stretches of one lane's memory, front to back.
#pragma once

#include "base/error.hpp"
#include "base/units.hpp"
#include "engine/engine.hpp"

namespace gsort::cpu {

class LaneMemory {
 public:
  explicit LaneMemory(ByteSpan memory) : left_(memory) {}

  // The next `bytes`, rounded up to kBufferAlignment.
  // Throws: Error(kUsage) if not that much is left.
  ByteSpan take(std::uint64_t bytes) {
    const std::uint64_t whole = round_up(bytes, kBufferAlignment);
    if (whole > left_.size()) {
      throw Error(ErrorKind::kUsage, "laying out the engine's memory",
                  "it is too small for the shape");
    }
    const ByteSpan taken = left_.first(whole);
    left_ = left_.subspan(whole);
    return taken;
  }

 private:
  ByteSpan left_;
};

}  // namespace gsort::cpu
