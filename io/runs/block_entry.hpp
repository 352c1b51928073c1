// Where a block of a run is: one entry of the run's index, 32 bytes.
#pragma once

#include <cstdint>

namespace gsort::io {

struct BlockEntry {
  std::uint64_t first_key = 0;
  std::uint64_t position = 0;      // of the first key in the run
  std::uint64_t offset = 0;        // in the file of the folder, or in one of the memories
  std::uint32_t stored_bytes = 0;  // padding included
  std::uint32_t folder = 0;
};
static_assert(sizeof(BlockEntry) == 32, "the plan counts on 32 bytes a block");

// The folders of blocks that stay in memory: in the buffers of the host, or in a RunTier.
inline constexpr std::uint32_t kInMemory = ~std::uint32_t{0};
inline constexpr std::uint32_t kInTier = kInMemory - 1;

}  // namespace gsort::io
