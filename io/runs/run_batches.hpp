// RunBatches: the buffers in which the blocks of runs are put together, and the part of them that
// stays: the tier of host memory. The tier of a device's memory comes before it (run_tier.hpp).
//
// Blocks are small, so that a part of the output can be cut out of a run with little waste; disks
// want large transfers. So blocks of a run are collected in a batch, by whichever thread comes with
// a piece that lies further behind, and a full batch is stored: copied to the device while that has
// room, or left in its buffer while enough others are there, or written by one call. Pieces come
// nearly in order, so a batch holds nearly a stretch of the run; where threads overtook each other,
// a few together do.
//
// Life of a batch: open() gives one to a thread, alone; the thread appends blocks; put_back() makes
// it available for the next piece, or stores it when it is full; close() stores those of a run.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "io/runs/block_entry.hpp"
#include "io/runs/run_files.hpp"
#include "io/runs/run_tier.hpp"
#include "io/system/bytes.hpp"
#include "io/system/memory.hpp"

namespace gsort::io {

// The blocks of a run in the making that have been stored. Thread-safe.
class RunIndex {
 public:
  void add(const std::vector<BlockEntry>& entries);
  // All entries so far; the index is empty afterwards.
  [[nodiscard]] std::vector<BlockEntry> take();
  void reserve(std::size_t blocks) { entries_.reserve(blocks); }

 private:
  std::mutex mutex_;
  std::vector<BlockEntry> entries_;
};

// Blocks of one run, in the order of their positions; mostly they follow each other in the run.
struct RunBatch {
  std::uint64_t run = 0;
  RunIndex* index = nullptr;
  std::uint64_t next_position = 0;  // behind the last key; what is appended begins there or later
  std::vector<BlockEntry> entries;  // offsets from the start of the buffer
  std::size_t used_bytes = 0;
  ByteSpan buffer;
  bool is_open = false;  // in the hands of a thread

  [[nodiscard]] ByteSpan room() const { return buffer.subspan(used_bytes); }
};

struct RunBatchSizes {
  std::uint64_t batch_bytes = 0;   // a multiple of kDirectAlignment
  std::uint64_t block_bytes = 0;   // the most a block takes
  unsigned open_buffers = 1;       // for batches in the making
  std::uint64_t kept_buffers = 0;  // the tier
};

// Thread-safe. Outlived by `files` and `tier`.
class RunBatches {
 public:
  // Memory is reserved, not touched. Throws: Error(kResource).
  RunBatches(RunFiles& files, RunTier& tier, const RunBatchSizes& sizes);

  // A batch of `run` with room for a block, to which the block at `position` may be appended. Waits
  // while all buffers are in other hands; may store an older batch to get a buffer.
  // Requires: a thread holds one batch at most, and gives it back by put_back or drop; `index`
  // outlives the run's batches.
  // Throws: Error(kTemporary) when an older batch cannot be written, Error(kDevice) when it cannot
  // be copied; its run lacks it then.
  [[nodiscard]] RunBatch& open(std::uint64_t run, RunIndex& index, std::uint64_t position);

  // Throws: as open(), when the batch is full.
  void put_back(RunBatch& batch);

  // Gives up an open batch whose blocks could not be put together.
  void drop(RunBatch& batch) noexcept;

  // Stores all batches of a run. Requires: none is open.
  // Throws: as open().
  void close(std::uint64_t run);

  // Forgets the batches of a run that were not stored. Requires: none is open.
  void discard(std::uint64_t run) noexcept;

  // The bytes of a block in memory, and giving them back.
  [[nodiscard]] ConstByteSpan kept(std::uint64_t offset, std::size_t bytes) const;
  void release(std::uint64_t offset, std::uint64_t bytes) noexcept;

  [[nodiscard]] std::uint64_t bytes_kept() const { return bytes_kept_; }  // so far, all in all

 private:
  using Lock = std::unique_lock<std::mutex>;

  RunBatch* idle_batch_before(std::uint64_t run, std::uint64_t position);
  RunBatch* oldest_idle_batch();
  void wait_for_others(std::uint64_t run, Lock& lock);
  void store(RunBatch& batch, Lock& lock);
  void keep(RunBatch& batch);
  bool keep_in_tier(RunBatch& batch);
  void write(RunBatch& batch);
  static void add_to_index(RunBatch& batch, std::uint32_t folder, std::uint64_t offset);
  void free_buffer(ByteSpan buffer);
  void remove(RunBatch& batch);

  RunFiles& files_;
  RunTier& tier_;
  RunBatchSizes sizes_;
  Arena memory_;
  std::mutex mutex_;
  std::condition_variable changed_;  // waited for by threads that want different things
  std::vector<ByteSpan> free_;
  std::vector<std::unique_ptr<RunBatch>> batches_;
  std::vector<std::uint64_t> live_bytes_;  // of each buffer that is kept
  std::uint64_t kept_count_ = 0;
  std::atomic<std::uint64_t> bytes_kept_{0};
};

}  // namespace gsort::io
