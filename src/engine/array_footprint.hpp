// The memory of lanes that sort many separate arrays; see footprint.hpp.
#pragma once

#include <cstdint>

#include "base/page.hpp"
#include "base/units.hpp"
#include "engine/footprint.hpp"
#include "engine/record_footprint.hpp"

namespace gsort {

// One lane of the CPU engine. Keys are sorted in the block into which they were read, with scratch
// for an array behind it. Records have an entry each while their array is sorted, and are copied to
// a second block.
struct CpuArrayFootprint {
  std::uint64_t block_bytes = 0;  // with the room that reading may overwrite
  std::uint64_t scratch_bytes = 0;
  std::uint64_t entries_bytes = 0;
  std::uint64_t result_bytes = 0;

  static constexpr CpuArrayFootprint of_keys(std::uint64_t array_bytes, std::uint64_t block_bytes) {
    return {round_up(block_bytes, kMemoryPageBytes) + kMemoryPageBytes,
            round_up(array_bytes, kMemoryPageBytes), 0, 0};
  }
  static constexpr CpuArrayFootprint of_records(std::uint64_t array_elements,
                                                std::uint64_t block_bytes) {
    const std::uint64_t entries = array_elements * CpuRecordChunkFootprint::kEntryBytes;
    const std::uint64_t block = round_up(block_bytes, kMemoryPageBytes);
    return {block + kMemoryPageBytes, 0, round_up(entries, kMemoryPageBytes), block};
  }

  [[nodiscard]] constexpr std::uint64_t arena_bytes() const {
    return block_bytes + scratch_bytes + entries_bytes + result_bytes;
  }
};

// One lane of the CUDA engine: on the host, pinned, the block, which crosses the bus both ways; on
// the device the block, and a second one with samples and cuts.
struct CudaArrayFootprint {
  [[nodiscard]] static constexpr std::uint64_t host_bytes(std::uint64_t block_bytes) {
    return round_up(block_bytes, kMemoryPageBytes) + kMemoryPageBytes;
  }
  [[nodiscard]] static constexpr std::uint64_t scratch_bytes(std::uint64_t block_bytes) {
    return block_bytes + block_bytes / 8 + kMiB;
  }
  [[nodiscard]] static constexpr std::uint64_t device_bytes(std::uint64_t block_bytes) {
    return CudaFootprint::allocated_bytes(block_bytes) +
           CudaFootprint::allocated_bytes(scratch_bytes(block_bytes));
  }
};

}  // namespace gsort
