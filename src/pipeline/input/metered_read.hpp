// Reading the input under the eyes of the meter.
#pragma once

#include <optional>

#include "base/meter.hpp"
#include "io/input/reader.hpp"

namespace gsort {

// As reader.next(). `meter` may be null.
[[nodiscard]] inline std::optional<io::InputBlock> read_next(
    io::Reader& reader, Meter* meter, io::ByteSpan buffer,
    std::uint64_t limit_position = io::Reader::kNoLimit) {
  Span span(meter, Stage::kRead);
  const auto block = reader.next(buffer, limit_position);
  if (block) span.add_bytes(block->bytes);
  return block;
}

}  // namespace gsort
