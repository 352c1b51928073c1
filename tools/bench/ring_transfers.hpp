// Moves the blocks of a file through io_uring, another way to keep a disk busy. `ceilings` prints
// it beside threads that each wait for their own transfer.
#pragma once

#include <cstdint>
#include <string>

#include "io/system/bytes.hpp"
#include "io/system/file.hpp"

namespace gsort::bench {

enum class RingDirection : std::uint8_t { kRead, kWrite };

// The reason why this process may not use io_uring; "" if it may.
[[nodiscard]] std::string why_no_ring();

// Moves all `file_bytes` of the file in blocks of `block_bytes`, a divisor of them, with as many
// transfers in flight as `buffers` holds blocks. The buffers are registered first.
// Throws: Error(kTemporary).
void move_through_ring(const io::File& file, std::uint64_t file_bytes, std::uint64_t block_bytes,
                       io::ByteSpan buffers, RingDirection direction);

}  // namespace gsort::bench
