// ByteStream: bytes in order, from a file, a pipe, or a decoder over another stream.
#pragma once

#include <cstddef>

#include "base/bytes.hpp"

namespace gsort::io {

class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  // Fills `to`; returns less than asked only at the end of the stream. For one thread at a time.
  // Throws: Error(kInput).
  [[nodiscard]] virtual std::size_t read(ByteSpan to) = 0;
};

}  // namespace gsort::io
