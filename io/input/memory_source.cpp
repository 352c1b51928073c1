#include "io/input/memory_source.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace gsort::io {

MemorySource::MemorySource(MemoryInput memory)
    : Source(std::make_unique<Input>(memory.name, memory.bytes)), memory_(std::move(memory)) {
  set_stored(std::move(memory_.array));
}

void MemorySource::begin(const ElementForm& form) {
  if (memory_.bytes % form.bytes != 0) throw odd_tail(path(), 0, memory_.bytes, form);
}

Claim MemorySource::claim(ByteSpan /*room*/, std::size_t wanted_bytes) {
  const std::size_t bytes = std::min<std::uint64_t>(wanted_bytes, memory_.bytes - taken_);
  return {std::exchange(taken_, taken_ + bytes), bytes};
}

void MemorySource::skip(std::uint64_t bytes) {
  taken_ += std::min(bytes, memory_.bytes - taken_);
}

void MemorySource::fill(ByteSpan room, const Claim& claim) {
  memory_.read(room.first(claim.bytes), claim.begin);
}

}  // namespace gsort::io
