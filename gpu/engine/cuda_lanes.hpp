// The lanes of the CUDA engine. Each has one stream, one set of pinned buffers, and its device
// arrays.
//
//   chunk   block buffers --in--> elements | sorted --out--> piece buffers --> sink
//   merge   slices --in--> elements | merged --out--> piece buffers --> sink
//   array   block --in--> arrays, sorted in place --out--> the same block
//
// The elements of a run cross the bus packed: they are packed before they go out, and unpacked when
// they have come in (packed_blocks.hpp).
//
// Read next: device_work.hpp.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/engine/device_work.hpp"
#include "gpu/engine/piece_copier.hpp"

namespace gsort::gpu {

class CudaChunkLane final : public ChunkLane {
 public:
  // `pinned` holds CudaFootprint::chunk_host_bytes.
  CudaChunkLane(const EngineShape& shape, int ordinal, ByteSpan pinned);
  ~CudaChunkLane() override;

  void begin(ConstByteSpan sample) override;
  [[nodiscard]] ByteSpan acquire_block() override;
  void add(ByteSpan buffer, std::size_t bytes, std::uint64_t position) override;
  void sort(KeyForm form) override;
  void emit(PieceSink& sink) override;

 private:
  // A block buffer, and when its last copy to the device has been done.
  struct Block {
    ByteSpan buffer;
    Event copied;
    bool in_flight = false;
  };

  [[nodiscard]] Block& block_at(const std::byte* buffer);

  int ordinal_;
  Meter* meter_;
  std::uint64_t element_bytes_;
  std::uint64_t capacity_;
  Stream stream_;
  std::unique_ptr<ChunkSorter> sorter_;
  PieceCopier copier_;
  std::mutex mutex_;
  std::condition_variable block_freed_;
  std::vector<Block> blocks_;
  std::deque<Block*> free_;  // in the order they were freed: the first was copied longest ago
  std::uint64_t count_ = 0;
  SortedElements sorted_;
};

// If the sort can continue without the device, the lane takes device memory only at its first part.
// If the device fails, then or later, the CPU merges from then on, in the same host memory.
class CudaMergeLane final : public MergeLane, public StoredMerger {
 public:
  // `pinned` holds CudaFootprint::part_host_bytes.
  CudaMergeLane(const EngineShape& shape, int ordinal, std::uint64_t part_elements,
                ByteSpan pinned);
  ~CudaMergeLane() override;

  [[nodiscard]] ByteSpan input() override { return host_ ? host_->input() : input_; }
  void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position, KeyForm form,
             PieceSink& sink) override;
  [[nodiscard]] StoredMerger* stored_merger() override;
  void merge_stored(std::span<const std::uint64_t> slice_counts, std::span<const StoredKeys> pieces,
                    std::uint64_t position, KeyForm form, PieceSink& sink) override;
  [[nodiscard]] bool go_on_without(const DeviceError& failure) override;
  [[nodiscard]] bool is_without_device() override;

 private:
  struct OnDevice {
    explicit OnDevice(const CudaMergeLane& lane);

    Stream stream;
    std::unique_ptr<PartMerger> merger;
    PieceCopier copier;
  };

  [[nodiscard]] OnDevice& on_device();
  void leave_device();
  [[nodiscard]] std::uint64_t slice_bytes(std::span<const std::uint64_t> slice_counts) const;
  // Copies the first `bytes` of input() to the device; they stand for
  // `element_bytes` bytes of elements.
  void copy_in(std::byte* to, std::uint64_t bytes, std::uint64_t element_bytes);

  EngineShape shape_;
  int ordinal_;
  std::uint64_t part_elements_;
  std::uint64_t element_bytes_;
  ByteSpan pinned_;
  ByteSpan input_;
  std::unique_ptr<OnDevice> on_device_;  // null before the first part, and without the device
  std::unique_ptr<MergeLane> host_;      // without the device
};

class CudaArrayLane final : public ArrayLane {
 public:
  // `pinned` holds CudaArrayFootprint::host_bytes.
  CudaArrayLane(const EngineShape& shape, int ordinal, const ArrayShape& arrays, ByteSpan pinned);
  ~CudaArrayLane() override;

  [[nodiscard]] ByteSpan input() override { return block_; }
  [[nodiscard]] ConstByteSpan sort(std::size_t bytes) override;

 private:
  int ordinal_;
  Meter* meter_;
  ByteSpan block_;
  Stream stream_;
  std::unique_ptr<ArraySorter> sorter_;
};

}  // namespace gsort::gpu
