// RunStore: storage for sorted runs: in device memory and host memory, as far as it was given some,
// then in temporary files in one or several folders.
//
// Runs are kept as blocks, packed where that pays (run_format.hpp), collected in write buffers
// (write_buffers.hpp). Writes go to unnamed files in the folders, to which all runs append, striped
// by buffer, so that one run reads and writes at the speed of all folders. Nothing is left behind,
// not even after SIGKILL. Each block carries a checksum bound to store, run and position, which
// every read checks, also in memory: data that a disk loses or mixes up causes an Error, never a
// wrong result. If a sort can be resumed, one file with a name takes the place of these files
// (PersistentStore).
//
// Life of a run: RunWriter takes sorted pieces in any order from any threads; finish() gives the
// Run, with its fences in memory (32 bytes a block); blocks and ranges are read by any threads;
// release_before() gives consumed space back; the destructor gives back the rest.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/tier_memory.hpp"
#include "element/packing.hpp"
#include "element/record.hpp"
#include "element/stored_keys.hpp"
#include "io/runs/block_entry.hpp"
#include "io/runs/manifest.hpp"
#include "io/runs/run_fences.hpp"
#include "io/system/bytes.hpp"
#include "io/system/file.hpp"

namespace gsort::io {

struct RunSpace;  // files and buffers; run_space.hpp
struct BlockCheck;
struct BlockIdentity;

// A store whose runs outlast the process: they lie in a named file, are always synced, and stay
// until they are dropped.
struct PersistentStore {
  const File* file = nullptr;   // outlives the opening of the store
  std::uint64_t end_bytes = 0;  // the end of the bytes in use
  std::uint64_t store = 0;      // as in the blocks' headers
  std::uint64_t next_run = 0;   // the number of the next run
};

struct RunStoreOptions {
  std::uint64_t block_elements = 0;  // the most keys of a block
  DirectIo direct_io = DirectIo::kAuto;
  // Runs are written through the page cache, whatever direct_io says, and not synced: if the cache
  // has room for them, they are gone before they reach the disk. The blocks' checksums find data
  // that the system loses.
  bool left_in_page_cache = false;
  Packing packing = Packing::kAuto;
  // Elements are records in this order instead of keys.
  std::optional<RecordOrder> records;
  // Buffers in which blocks are collected before they are written: memory of the store,
  // write_buffer_bytes each, one for every put() that runs at the same time; further calls wait for
  // a buffer. A buffer is written by one call and is the unit of striping. write_buffer_bytes is
  // raised to hold one block.
  std::uint64_t write_buffer_bytes = std::uint64_t{1} << 20;
  unsigned write_buffers = 2;
  // Further buffers that may stay in memory; only blocks that do not fit are written. The tier is
  // filled first; it holds tier_buffers of write_buffer_bytes each.
  std::uint64_t kept_buffers = 0;
  std::shared_ptr<TierMemory> tier = nullptr;
  std::uint64_t tier_buffers = 0;
  // Used instead of unnamed files; left_in_page_cache, kept_buffers and the tier are then not used.
  // There is then one folder, for messages.
  std::optional<PersistentStore> persistent;
};

class Run;
class RunWriter;

// Outlives its writers and runs. Thread-safe.
class RunStore {
 public:
  // Requires: element_bytes is 1, 2, 4 or 8, or the size of options.records; options.block_elements
  // >= 1. Throws: Error(kTemporary) if a folder is missing, is not a folder, or may not be written;
  // Error(kUsage) if `folders` is empty.
  RunStore(const std::vector<std::string>& folders, std::size_t element_bytes,
           const RunStoreOptions& options);
  ~RunStore();
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  // Starts the next run. `expected_elements` sizes the index; a wrong guess costs time or memory
  // only.
  [[nodiscard]] RunWriter begin_run(std::uint64_t expected_elements);

  // For persistent stores. keep() writes the index of a run behind it; on return both are on the
  // disk. find() gives another process the run again. drop() gives its space back. Throws:
  // Error(kTemporary), find() also if the index is not the one that was kept; Error(kCorrupt) if
  // the index is not that of a whole run.
  [[nodiscard]] IndexPlace keep(const Run& run);
  [[nodiscard]] Run find(const ManifestRun& kept);
  void drop(Run run, const IndexPlace& index);

  // The smallest scratch for reading.
  [[nodiscard]] std::uint64_t scratch_bytes() const;

  [[nodiscard]] std::uint64_t key_bytes_put() const;  // so far, as they were before packing
  [[nodiscard]] std::uint64_t bytes_kept() const;     // so far, in host memory
  [[nodiscard]] std::uint64_t bytes_in_tier() const;  // so far
  [[nodiscard]] std::uint64_t bytes_written() const;  // so far, headers and padding included
  [[nodiscard]] std::uint64_t bytes_read() const;     // so far
  [[nodiscard]] std::uint64_t bytes_in_use() const;   // on disk now
  [[nodiscard]] std::uint64_t peak_bytes_in_use() const;

  // Choices and fallbacks for -v: "/tmp: O_DIRECT is refused, runs are written through the page
  // cache".
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  std::shared_ptr<RunSpace> space_;
};

// A run in the making. Movable.
class RunWriter {
 public:
  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) noexcept;
  ~RunWriter();  // without finish(): gives the space back

  // Adds the keys [position, position + n) of the run: ordered (element/key.hpp), ascending;
  // records as they are, in order. Cuts them into blocks of at most block_elements keys, counted
  // from `position`; `keys` may be reused on return. Thread-safe; pieces in any order. When a
  // folder is full, the blocks go to the next one. Throws: Error(kTemporary) with run, folder and
  // offset. Requires: keys, but not records, are aligned to their size.
  void put(std::uint64_t position, ConstByteSpan keys);

  // The same for keys in stored form, cut into blocks of block_elements(), except the last block.
  // Requires: takes_blocks(), which is true for keys of 4 and 8 bytes.
  // Throws: also Error(kCorrupt) if a payload does not hold the number of keys it should.
  void put_blocks(std::uint64_t position, const StoredBlocks& blocks);
  [[nodiscard]] bool takes_blocks() const;
  [[nodiscard]] std::uint64_t block_elements() const;
  [[nodiscard]] std::size_t element_bytes() const;
  [[nodiscard]] Packing packing() const;

  // Call it when all pieces have been put. Ensures: the bytes have been given to the disk (direct
  // writes, or fdatasync). Throws: Error(kTemporary) if that fails; Error(kCorrupt) if pieces are
  // missing or overlap.
  [[nodiscard]] Run finish();

  [[nodiscard]] std::uint64_t number() const;

 private:
  friend class RunStore;
  class Impl;
  explicit RunWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A finished run. Movable; all const functions are thread-safe. `scratch` is memory of the caller,
// aligned to kDirectAlignment, one for each thread; its contents do not matter before or after.
class Run {
 public:
  Run() = default;  // empty: no elements, no blocks
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();  // gives all space back

  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::uint64_t elements() const { return elements_; }

  // The fences stay valid while the run lives, also if it is moved.
  [[nodiscard]] RunFences fences() const { return {blocks_, elements_}; }

  // Reads one block into `out` and returns its keys. Requires: out holds block_elements keys,
  // scratch.size() >= RunStore::scratch_bytes(). Throws: Error(kTemporary) if reading fails;
  // Error(kCorrupt) with run, block, folder and offset if the bytes are not the intact block.
  [[nodiscard]] ConstByteSpan read_block(std::size_t block, ByteSpan out, ByteSpan scratch) const;

  // Reads the keys [begin, end) into `out` and checks every block that it touches. Neighbouring
  // blocks on disk are read in one transfer, as large as `scratch` allows. Requires: begin <= end
  // <= elements(); room in `out` for these keys; scratch as for read_block. Throws: as read_block.
  void read_range(std::uint64_t begin, std::uint64_t end, ByteSpan out, ByteSpan scratch) const;

  // Reads the keys in stored form: payloads into `out`, and for each block its wanted keys into
  // `pieces`, payloads counted from `out` and positions from `begin`; both in any order. Requires:
  // as read_range; out.size() >= fences().stored_bytes(begin, end), pieces.size() ==
  // fences().blocks_of(begin, end); keys, no records.
  void read_stored(std::uint64_t begin, std::uint64_t end, ByteSpan out,
                   std::span<StoredKeys> pieces, ByteSpan scratch) const;

  // Gives back the space of all blocks that end at or before `position`. They must not be read
  // again; no thread may be reading them. Only one thread at a time may call it.
  void release_before(std::uint64_t position);

 private:
  friend class RunStore;
  friend class RunWriter;
  Run(std::shared_ptr<RunSpace> space, std::uint64_t number, std::uint64_t elements,
      std::vector<BlockEntry> blocks);
  [[nodiscard]] BlockIdentity identity_of(std::size_t block) const;
  // The block with these stored bytes, which are empty if they could not all be read. Throws:
  // Error(kCorrupt).
  [[nodiscard]] BlockCheck checked(std::size_t block, ConstByteSpan stored) const;
  // Reads the blocks of [begin, end) in storage order and calls f(block, check, from, to) for each,
  // with the wanted range of its keys.
  template <class F>
  void for_each_block(std::uint64_t begin, std::uint64_t end, ByteSpan scratch, const F& f) const;
  [[nodiscard]] bool is_whole() const;  // no pieces are missing, and none overlap
  void release_blocks(std::size_t end) noexcept;

  std::shared_ptr<RunSpace> space_;
  std::uint64_t number_ = 0;
  std::uint64_t elements_ = 0;
  std::size_t released_ = 0;  // blocks [0, released_) have been given back
  std::vector<BlockEntry> blocks_;
};

}  // namespace gsort::io
