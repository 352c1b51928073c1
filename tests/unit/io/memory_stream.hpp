// A ByteStream over bytes in memory, for tests of its readers.
#pragma once

#include <algorithm>
#include <utility>

#include "form/byte_stream.hpp"
#include "unit/io/support.hpp"

namespace gsort::io::test {

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(Bytes bytes) : bytes_(std::move(bytes)) {}

  std::size_t read(ByteSpan to) override {
    const std::size_t count = std::min(to.size(), bytes_.size() - position_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(position_), count, to.begin());
    position_ += count;
    return count;
  }

  [[nodiscard]] std::size_t left() const { return bytes_.size() - position_; }

 private:
  Bytes bytes_;
  std::size_t position_ = 0;
};

// All bytes of `stream`, in reads of `step` bytes.
inline Bytes drain(ByteStream& stream, std::size_t step = 1000) {
  Bytes all;
  Bytes piece(step);
  for (std::size_t bytes = step; bytes == step;) {
    bytes = stream.read(piece);
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  return all;
}

}  // namespace gsort::io::test
