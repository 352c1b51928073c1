// WriteBuffers: the buffers in which blocks of runs are collected. Some of them stay in memory: the
// tier of host memory. The tier of device memory comes before it (run_tier.hpp).
//
// Blocks are small, so that a part of the output can be cut out of a run with little waste; disks
// want large transfers. So each thread appends the blocks of its piece to a buffer of that run. A
// full buffer is copied to the device while the device has room; else it stays in memory while
// enough others are free, or is written by one call. Pieces come nearly in order, so a buffer
// nearly holds one stretch of the run; if threads overtook each other, a few buffers together hold
// one.
//
// Life of a buffer: open() gives it to one thread; the thread appends blocks; put_back() makes it
// available for the next piece, or stores it when it is full; close() stores those of a run.
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
struct WriteBuffer {
  std::uint64_t run = 0;
  RunIndex* index = nullptr;
  std::uint64_t next_position = 0;  // behind the last key; what is appended begins there or later
  std::vector<BlockEntry> entries;  // offsets from the start of `memory`
  std::size_t used_bytes = 0;
  ByteSpan memory;
  bool is_open = false;  // used by a thread

  [[nodiscard]] ByteSpan room() const { return memory.subspan(used_bytes); }
  // Whether there is no room for another block like the last one.
  [[nodiscard]] bool is_full() const {
    return !entries.empty() && room().size() < entries.back().stored_bytes;
  }
};

struct WriteBufferSizes {
  std::uint64_t buffer_bytes = 0;  // a multiple of kDirectAlignment
  unsigned open_buffers = 1;       // for buffers in the making
  std::uint64_t kept_buffers = 0;  // the tier
};

// Thread-safe. Outlived by `files` and `tier`.
class WriteBuffers {
 public:
  // Memory is reserved, not touched. Throws: Error(kResource).
  WriteBuffers(RunFiles& files, RunTier& tier, const WriteBufferSizes& sizes);

  // A buffer of `run` to which the block at `position` may be appended, if it has room for it.
  // Waits while other threads use all buffers; may store an older one to get its memory. Requires:
  // a thread holds at most one buffer, and gives it back by put_back or drop; `index` outlives the
  // run's buffers. Throws: Error(kTemporary) if an older buffer cannot be written, Error(kDevice)
  // if it cannot be copied; its blocks are then missing from their run.
  [[nodiscard]] WriteBuffer& open(std::uint64_t run, RunIndex& index, std::uint64_t position);

  // Stores the buffer if it is full. Throws: as open() in that case.
  void put_back(WriteBuffer& buffer, bool is_full);

  // Discards an open buffer after its blocks could not be collected.
  void drop(WriteBuffer& buffer) noexcept;

  // Stores all buffers of a run. Requires: none is open.
  // Throws: as open().
  void close(std::uint64_t run);

  // Forgets the buffers of a run that were not stored. Requires: none is open.
  void discard(std::uint64_t run) noexcept;

  // kept() returns the bytes of a block in memory; release() gives them back.
  [[nodiscard]] ConstByteSpan kept(std::uint64_t offset, std::size_t bytes) const;
  void release(std::uint64_t offset, std::uint64_t bytes) noexcept;

  [[nodiscard]] std::uint64_t bytes_kept() const { return bytes_kept_; }  // so far, all in all

 private:
  using Lock = std::unique_lock<std::mutex>;

  WriteBuffer* idle_buffer_before(std::uint64_t run, std::uint64_t position);
  WriteBuffer* oldest_idle_buffer();
  void wait_for_others(std::uint64_t run, Lock& lock);
  void store(WriteBuffer& buffer, Lock& lock);
  void keep(WriteBuffer& buffer);
  bool keep_in_tier(WriteBuffer& buffer);
  void write(WriteBuffer& buffer);
  static void add_to_index(WriteBuffer& buffer, std::uint32_t folder, std::uint64_t offset);
  void free_memory(ByteSpan memory);
  void remove(WriteBuffer& buffer);

  RunFiles& files_;
  RunTier& tier_;
  WriteBufferSizes sizes_;
  Arena memory_;
  std::mutex mutex_;
  std::condition_variable changed_;  // waited for by threads that want different things
  std::vector<ByteSpan> free_;
  std::vector<std::unique_ptr<WriteBuffer>> buffers_;
  std::vector<std::uint64_t> live_bytes_;  // of each buffer that is kept
  std::uint64_t kept_count_ = 0;
  std::atomic<std::uint64_t> bytes_kept_{0};
};

}  // namespace gsort::io
