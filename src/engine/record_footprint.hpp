// The memory that records need: as footprint.hpp, for elements that are records.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/page.hpp"
#include "base/units.hpp"
#include "engine/footprint.hpp"

namespace gsort {

// The size of the blocks in which records are read: whole records, and if possible whole pages of
// the disk, so that the next block is aligned, too.
[[nodiscard]] constexpr std::uint64_t record_block_bytes(std::uint64_t record_bytes,
                                                         std::uint64_t wanted_bytes) {
  const std::uint64_t both = std::lcm(record_bytes, kMemoryPageBytes);
  const std::uint64_t unit = both <= 2 * wanted_bytes ? both : record_bytes;
  return std::max(unit, round_down(wanted_bytes, unit));
}

// The memory of one chunk lane of the CPU engine: the records where they were read, two entries for
// each, and for each worker a buffer in which the sorted records are collected.
struct CpuRecordChunkFootprint {
  static constexpr std::uint64_t kEntryBytes = 16;
  static constexpr std::uint64_t kMostElements = ~std::uint32_t{0} / 2;  // slots have 32 bits
  static constexpr std::uint64_t kPieceBytes = 512 * kKiB;
  static constexpr std::uint64_t kMostBuckets = 4096;

  std::uint64_t record_bytes = 0;
  unsigned workers = 1;
  std::uint64_t elements = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t blocks = 0;

  static constexpr CpuRecordChunkFootprint of(std::uint64_t chunk_elements,
                                              std::uint64_t record_bytes, unsigned workers,
                                              std::uint64_t block_bytes) {
    CpuRecordChunkFootprint f;
    f.record_bytes = record_bytes;
    f.workers = workers;
    f.elements = chunk_elements;
    f.block_bytes = block_bytes;
    // Blocks that are not full are copied together into one.
    f.blocks = div_up(chunk_elements, block_bytes / record_bytes) + workers + 1;
    return f;
  }

  [[nodiscard]] constexpr std::uint64_t block_records() const { return block_bytes / record_bytes; }
  [[nodiscard]] constexpr std::uint64_t blocks_bytes() const {
    return round_up(blocks * block_bytes, kMemoryPageBytes);
  }
  [[nodiscard]] constexpr std::uint64_t entries_bytes() const {
    return round_up(elements * kEntryBytes, kMemoryPageBytes);
  }
  [[nodiscard]] constexpr std::uint64_t piece_bytes() const {
    return round_up(std::max(record_bytes, std::min(kPieceBytes, elements * record_bytes)),
                    kMemoryPageBytes);
  }
  // The bucket map and its sample, and each worker's counters.
  [[nodiscard]] constexpr std::uint64_t heap_bytes() const {
    return 256 * kKiB + workers * kMostBuckets * sizeof(std::uint64_t);
  }
  [[nodiscard]] constexpr std::uint64_t arena_bytes() const {
    return blocks_bytes() + 2 * entries_bytes() + workers * piece_bytes();
  }
};

// The memory of one merge lane of the CPU engine: the slices of a part, an entry for each record,
// and a buffer in which the merged records are collected.
struct CpuRecordMergeFootprint {
  std::uint64_t part_bytes = 0;
  std::uint64_t entries_bytes = 0;
  std::uint64_t piece_bytes = 0;

  static constexpr CpuRecordMergeFootprint of(std::uint64_t part_elements,
                                              std::uint64_t record_bytes) {
    const auto chunk = CpuRecordChunkFootprint::of(part_elements, record_bytes, 1, record_bytes);
    return {round_up(part_elements * record_bytes, kMemoryPageBytes), chunk.entries_bytes(),
            chunk.piece_bytes()};
  }
  [[nodiscard]] constexpr std::uint64_t arena_bytes() const {
    return part_bytes + entries_bytes + piece_bytes;
  }
};

// The device memory of one lane of the CUDA engine, for chunks and parts alike: the records twice,
// and for each a word of its key and its number, twice. On the host, CudaFootprint holds.
struct CudaRecordFootprint {
  [[nodiscard]] static constexpr std::uint64_t scratch_bytes(std::uint64_t elements) {
    return elements * 26 + kMiB;
  }
  [[nodiscard]] static constexpr std::uint64_t device_bytes(std::uint64_t elements,
                                                            std::uint64_t record_bytes) {
    return 2 * CudaFootprint::allocated_bytes(elements * record_bytes) +
           CudaFootprint::allocated_bytes(scratch_bytes(elements));
  }
};

}  // namespace gsort
