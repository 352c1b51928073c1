// The work of lanes on elements that lie on the device, in the lane's own device memory: sorting a
// chunk, merging a part, sorting a block of arrays. Keys and records differ only here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/engine.hpp"
#include "gpu/cuda/cuda_resources.hpp"

namespace gsort::gpu {

// Elements on the device, in order.
struct SortedElements {
  const std::byte* elements = nullptr;
  std::uint64_t count = 0;
  // Device memory that is free until the next call, to pack them in; none if they cannot be packed:
  // ordered keys can.
  ByteSpan room;
};

class ChunkSorter {
 public:
  virtual ~ChunkSorter() = default;

  // Where the raw elements of the chunk go.
  [[nodiscard]] virtual std::byte* input() = 0;

  // Queues the sort of the first `count` elements, and returns where they will lie.
  virtual SortedElements sort(std::uint64_t count, KeyForm form, const Stream& stream) = 0;
};

class PartMerger {
 public:
  virtual ~PartMerger() = default;

  // Where the slices go, one behind the other.
  [[nodiscard]] virtual std::byte* input() = 0;

  // Where the slices go in stored form; nullptr of records, which have none.
  [[nodiscard]] virtual std::byte* stored_input() { return nullptr; }

  // Queues the unpacking of the pieces in the table at stored_input() + `table` to input().
  // Requires: stored_input().
  virtual void unpack(std::uint64_t /*table*/, std::uint64_t /*pieces*/, const Stream& /*stream*/) {
  }

  // Queues the merge, and returns where the elements will lie.
  virtual SortedElements merge(std::span<const std::uint64_t> slice_counts, KeyForm form,
                               const Stream& stream) = 0;
};

class ArraySorter {
 public:
  virtual ~ArraySorter() = default;

  // Where the raw elements of a block of arrays go, and where they lie when they are sorted.
  [[nodiscard]] virtual std::byte* block() = 0;

  // Queues the sort of the arrays in the first `bytes` of the block; the last one may be shorter.
  virtual void sort(std::size_t bytes, const Stream& stream) = 0;
};

// The bytes of an element of `shape`.
[[nodiscard]] std::uint64_t element_bytes_of(const EngineShape& shape);

// For chunks and parts of the sizes that the shape and `part_elements` give, on the current device,
// within CudaFootprint, or CudaRecordFootprint.
// Throws: Error(kResource) when device memory cannot be had.
[[nodiscard]] std::unique_ptr<ChunkSorter> make_chunk_sorter(const EngineShape& shape);
[[nodiscard]] std::unique_ptr<PartMerger> make_part_merger(const EngineShape& shape,
                                                           std::uint64_t part_elements);

// For blocks of arrays, within CudaArrayFootprint. Requires: keys of 4 or 8 bytes.
// Throws: Error(kResource) when device memory cannot be had.
[[nodiscard]] std::unique_ptr<ArraySorter> make_array_sorter(const EngineShape& shape,
                                                             const ArrayShape& arrays);

}  // namespace gsort::gpu
