// Stored keys (element/stored_keys.hpp) made and read on the host, for engines under test and
// sinks: the reference for keys packed by real engines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "element/packing.hpp"
#include "element/stored_keys.hpp"
#include "support/sorted_copy.hpp"

namespace gsort::test {

struct StoredForm {
  std::uint64_t count = 0;
  std::vector<std::uint32_t> block_bytes;
  Bytes payloads;

  [[nodiscard]] StoredBlocks blocks() const { return {count, block_bytes, payloads}; }
};

// Ordered, ascending keys of 4 or 8 bytes in blocks of `block_elements`.
[[nodiscard]] StoredForm to_stored(std::span<const std::byte> keys, std::size_t key_bytes,
                                   std::uint64_t block_elements, Packing packing);

// The keys again. Throws std::logic_error if sizes contradict each other, or a packed payload is
// not whole.
[[nodiscard]] Bytes from_stored(const StoredBlocks& blocks, std::size_t key_bytes,
                                std::uint64_t block_elements);

// The keys of a piece, from the buffer that holds its payload. Throws: as from_stored.
[[nodiscard]] Bytes keys_of(const StoredKeys& piece, std::span<const std::byte> buffer,
                            std::size_t key_bytes);

}  // namespace gsort::test
