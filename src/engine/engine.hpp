// The interface between the pipeline and the engines, which sort chunks and merge parts. The
// pipeline does not know whether there is a GPU; an engine knows no files, tiers or other chunks.
//
// Life of a chunk                                Life of a part
//   lane.begin(sample)                             fill lane.input() with the part's slices
//   acquire_block, fill, add   (many threads)      lane.merge(counts, position, form, sink), or
//   lane.sort(form)                                lane.stored_merger()->merge_stored(...)
//   lane.emit(sink)                              Life of a block of arrays
//                                                  fill lane.input(), lane.sort(bytes), write
//
// A lane is one set of buffers (and one CUDA stream); two or more lanes overlap: while one is
// filled, another sorts, and a third is emitted. Lanes of one engine may be used from different
// threads at once; the user of a lane orders the calls on it, except calls that are documented as
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/meter.hpp"
#include "base/page.hpp"
#include "base/tasks.hpp"
#include "element/key.hpp"
#include "element/packing.hpp"
#include "element/record.hpp"
#include "element/stored_keys.hpp"

namespace gsort {

class DeviceError;
class DeviceLosses;

// Buffers handed out by an engine are aligned for O_DIRECT on any common disk.
inline constexpr std::size_t kBufferAlignment = kMemoryPageBytes;

// The form of keys in memory: as in the files, or as ordered unsigned numbers (key.hpp). Runs hold
// ordered keys, so that fences and slices compare without a map; outputs hold raw keys.
enum class KeyForm : std::uint8_t { kRaw, kOrdered };

// Takes keys that are kept in blocks.
class BlockSink {
 public:
  virtual ~BlockSink() = default;

  // The number of keys in each block of a call to put_blocks, except the last one, and whether to
  // pack them if most_packed_bytes() allows it.
  [[nodiscard]] virtual std::uint64_t block_elements() const = 0;
  [[nodiscard]] virtual Packing packing() const = 0;

  // As PieceSink::put().
  virtual void put_blocks(std::uint64_t position, const StoredBlocks& blocks) = 0;
};

// Takes pieces that wait in memory for their turn, in two steps.
class ProofSink {
 public:
  virtual ~ProofSink() = default;

  // Proves a piece now, before or after any others. Thread-safe. Throws: as PieceSink::put().
  virtual void prove(std::uint64_t position, ConstByteSpan keys) = 0;

  // As PieceSink::put(). Requires: prove() has seen each of these keys in this memory, in any
  // pieces, and the memory has not changed since.
  virtual void put_proven(std::uint64_t position, ConstByteSpan keys) = 0;
};

// Takes sorted keys: the output, or a run.
class PieceSink {
 public:
  virtual ~PieceSink() = default;

  // Takes the keys of the sorted sequence from element `position` on; `keys` may be reused on
  // return. Pieces are disjoint and cover the sequence. Thread-safe. The caller starts pieces in
  // the order of their positions, but may finish them in any order: a sink may therefore hold a
  // call back until all earlier pieces have been put. Throws: Error if the keys cannot be kept, or
  // the proof fails.
  virtual void put(std::uint64_t position, ConstByteSpan keys) = 0;

  // The sink that takes ordered keys in blocks instead, for engines that pack; null for records,
  // for keys of less than 4 bytes, and for keys that are not kept in blocks.
  [[nodiscard]] virtual BlockSink* block_sink() { return nullptr; }

  // Takes pieces in two steps instead. Null if the proof of a piece depends on earlier pieces, or
  // if nothing is proven.
  [[nodiscard]] virtual ProofSink* proof_sink() { return nullptr; }

  // An engine that fails midway calls this, so that calls held back end with an Error instead of
  // waiting for pieces that will never come.
  virtual void abandon() noexcept {}

  // A thread begins, or ends, to put pieces; see PuttingThread.
  virtual void enter() noexcept {}
  virtual void leave() noexcept {}
};

// Held by a thread that puts pieces at the same time as others: from before it takes its first
// piece until it has put its last one, or has reported its failure. A sink that holds calls back
// then knows when all threads wait for a piece that none of them will put.
class PuttingThread {
 public:
  explicit PuttingThread(PieceSink& sink) : sink_(sink) { sink_.enter(); }
  ~PuttingThread() { sink_.leave(); }
  PuttingThread(const PuttingThread&) = delete;
  PuttingThread& operator=(const PuttingThread&) = delete;

 private:
  PieceSink& sink_;
};

// The same for tasks begun in order, each of which puts its own pieces.
[[nodiscard]] inline TaskArena::Steps putting_steps(PieceSink& sink) {
  return {[&sink] { sink.enter(); }, [&sink] { sink.abandon(); }, [&sink] { sink.leave(); }};
}

// Forms one chunk.
class ChunkLane {
 public:
  virtual ~ChunkLane() = default;

  // Starts a new chunk. `sample` holds raw keys drawn evenly from the keys to be added, or is
  // empty; a bad sample costs time, never correctness.
  virtual void begin(ConstByteSpan sample) = 0;

  // A block buffer of block_bytes to read raw keys into. Waits until one is free. Thread-safe.
  [[nodiscard]] virtual ByteSpan acquire_block() = 0;

  // Adds the first `bytes` of a block from acquire_block, and takes the buffer back. `position` is
  // the number of its first key in the chunk. Thread-safe; blocks may be added in any order.
  // Requires: bytes is a multiple of the key's size; at most chunk_elements keys in all.
  virtual void add(ByteSpan block, std::size_t bytes, std::uint64_t position) = 0;

  // Sorts, after the last block; keys leave in `form`. May return before the work is done; emit
  // waits for it.
  virtual void sort(KeyForm form) = 0;

  // Puts the sorted chunk into `sink`, positions counted from 0. The lane is free for begin()
  // afterwards.
  virtual void emit(PieceSink& sink) = 0;
};

// Merges parts whose stored keys are in a lane's input(): payloads, and after them, at a multiple
// of kPayloadAlignment, the pieces of the part.
class StoredMerger {
 public:
  virtual ~StoredMerger() = default;

  // Whether merge_stored() merges a part; if not, MergeLane::merge() does. The part has keys of
  // `slices` slices, which take `stored_bytes` with their pieces and `bytes` as plain keys.
  [[nodiscard]] virtual bool takes(std::size_t /*slices*/, std::uint64_t /*stored_bytes*/,
                                   std::uint64_t /*bytes*/) const {
    return true;
  }

  // As MergeLane::merge(). Requires: takes() is true of the part; packed payloads are whole, as
  // is_packed_form() says.
  virtual void merge_stored(std::span<const std::uint64_t> slice_counts,
                            std::span<const StoredKeys> pieces, std::uint64_t position,
                            KeyForm form, PieceSink& sink) = 0;
};

// Merges one part.
class MergeLane {
 public:
  virtual ~MergeLane() = default;

  // Room for part_elements ordered keys: the slices of the part, back to back.
  [[nodiscard]] virtual ByteSpan input() = 0;

  // Merges input(), which holds slice_counts[0] keys, then slice_counts[1] keys, and so on, each
  // ascending; puts the result into `sink`, positions counted from `position`. Returns when all of
  // it has been put; the content of input() is undefined then.
  virtual void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position,
                     KeyForm form, PieceSink& sink) = 0;

  // The merger of stored keys from input(), if the engine unpacks them; else null.
  [[nodiscard]] virtual StoredMerger* stored_merger() { return nullptr; }

  // Call it after a failure: returns true if the lane continues without its device. Then input()
  // and stored_merger() change, and the part must be loaded and merged again.
  [[nodiscard]] virtual bool go_on_without(const DeviceError& /*failure*/) { return false; }

  // Whether the lane works without its device. Call it before each part: another lane may have lost
  // the device.
  [[nodiscard]] virtual bool is_without_device() { return false; }
};

// The arrays that lanes for many independent arrays sort.
struct ArrayShape {
  std::uint64_t array_elements = 0;  // of each array
  std::uint64_t block_elements = 0;  // the most that a lane sorts at once; whole arrays
};

// Sorts a block of arrays.
class ArrayLane {
 public:
  virtual ~ArrayLane() = default;

  // Room for block_elements raw elements, and kBufferAlignment bytes after them, which reading may
  // overwrite.
  [[nodiscard]] virtual ByteSpan input() = 0;

  // Sorts the arrays in the first `bytes` of input() separately; the last one may be shorter.
  // Returns them as raw elements, which stay there until input() is filled again. Equal records
  // keep their order. Requires: bytes is a multiple of the element's size.
  [[nodiscard]] virtual ConstByteSpan sort(std::size_t bytes) = 0;
};

// The sizes of an engine, all chosen by the plan.
struct EngineShape {
  KeyFormat format;
  std::optional<RecordFormat> records;  // the form of elements that are not keys alone; then always
                                        // kRaw
  unsigned threads = 1;                 // the most that the engine may run at once
  std::uint64_t block_bytes = 0;        // one acquire_block buffer
  std::uint64_t chunk_elements = 0;     // the most keys of a chunk
  unsigned chunk_lanes = 1;
  // All devices of the engine hold one chunk together. There is then one chunk lane. It uses the
  // memory of chunk_lanes lanes, one for each device.
  bool shares_chunk = false;
  std::uint64_t device_bytes = 0;  // the limit for all device memory of the engine
  Meter* meter = nullptr;          // outlives the engine; null: no measurement
  // Outlives the engine; null: a device that fails ends the sort.
  DeviceLosses* losses = nullptr;
};

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // "cpu" or "cuda"

  // Lanes are laid out in the engine's memory, which is reserved once: all lanes of an earlier call
  // must be gone before the next call. An engine outlives its lanes. Throws: Error(kUsage) if the
  // engine has too little memory for them; Error(kResource) if device memory cannot be allocated;
  // if the shape has losses, merge() of a merge lane throws it instead.
  [[nodiscard]] virtual std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() = 0;
  [[nodiscard]] virtual std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned lanes, std::uint64_t part_elements) = 0;
  [[nodiscard]] virtual std::vector<std::unique_ptr<ArrayLane>> make_array_lanes(
      unsigned lanes, const ArrayShape& arrays) = 0;
};

}  // namespace gsort
