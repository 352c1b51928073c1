// Keys in the form in which runs keep them: blocks, packed if that pays (packed_keys.hpp). An
// engine that packs and unpacks keys itself gives and gets blocks instead of plain keys, so that
// only these cross the bus; it never sees the data around them on the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gsort {

// The payloads of blocks begin at multiples of this.
inline constexpr std::size_t kPayloadAlignment = 32;

// Keys that leave an engine in blocks. A block that takes fewer bytes than its keys is packed.
struct StoredBlocks {
  std::uint64_t count = 0;                     // keys of all of them
  std::span<const std::uint32_t> block_bytes;  // of each payload
  std::span<const std::byte> payloads;         // one after the other
};

// Keys [begin, end) of a block of `count` keys in an engine's buffer, and their place in the merged
// part. Engines read tables of this struct from memory.
struct StoredKeys {
  std::uint64_t payload = 0;   // in bytes from the start of the buffer
  std::uint64_t position = 0;  // in keys from the start of the part
  std::uint32_t count = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t packed = 0;  // or plain, if 0
};
static_assert(sizeof(StoredKeys) == kPayloadAlignment);

}  // namespace gsort
