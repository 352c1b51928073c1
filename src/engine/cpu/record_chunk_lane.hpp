// RecordChunkLane: records stay where they were read until they are written. While blocks come in,
// an entry is made for each record (record_entries.hpp), at the place of its position; then the
// entries are dealt out to buckets that fit the cache; each bucket is sorted and its records are
// gathered while the one before it is being written.
//
//   blocks   | r0 r1 r2 .. | r3 r4 .. |  ...   as they were read
//   entries  | e0 e1 e2 e3 ...                 by position
//   dealt    | bucket 0 | bucket 1 | ...       by prefix, within a bucket by position
//   pieces   one a worker: sorted records on their way out
//
// If the keys of all records of the sample begin alike, the prefix is the first word of the keys in
// which they differ: else there would be one bucket, for one worker. If a later record begins
// differently, all entries take the first word after all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/tasks.hpp"
#include "element/record.hpp"
#include "engine/cpu/bucket_map.hpp"
#include "engine/cpu/record_entries.hpp"
#include "engine/engine.hpp"
#include "engine/record_footprint.hpp"

namespace gsort::cpu {

class RecordChunkLane final : public ChunkLane {
 public:
  // Requires: shape.records; memory of CpuRecordChunkFootprint.
  RecordChunkLane(const EngineShape& shape, ByteSpan memory);

  void begin(ConstByteSpan sample) override;
  [[nodiscard]] ByteSpan acquire_block() override;
  void add(ByteSpan block, std::size_t bytes, std::uint64_t position) override;
  void sort(KeyForm form) override;
  void emit(PieceSink& sink) override;

 private:
  [[nodiscard]] std::size_t number_of(ByteSpan block) const;
  void free_all_blocks();
  void choose_word(ConstByteSpan sample);
  [[nodiscard]] bool begins_as_sampled(const std::byte* record) const;
  void take_first_word();
  void collect(ByteSpan block, std::size_t records, std::uint64_t position);
  void enter(std::size_t block, std::size_t first, std::size_t records, std::uint64_t position);
  void deal_out();
  void emit_bucket(std::size_t bucket, ByteSpan piece, PieceSink& sink);

  const RecordOrder order_;
  const CpuRecordChunkFootprint footprint_;
  TaskArena tasks_;
  Meter* const meter_;
  ByteSpan records_;  // the blocks
  std::span<RecordEntry> entries_;
  std::span<RecordEntry> dealt_;
  std::vector<ByteSpan> pieces_;
  std::vector<std::uint64_t> alike_;      // the words of the keys that all records have
  std::atomic<bool> begin_alike_ = true;  // do they?
  std::unique_ptr<BucketMap<std::uint64_t>> bucket_map_;
  std::vector<std::uint64_t> bucket_begins_;  // and the end of the last one

  std::mutex mutex_;  // guards the members below
  std::condition_variable block_freed_;
  std::vector<std::size_t> free_;
  std::uint64_t count_ = 0;
  std::size_t collector_ = 0;  // the block that short blocks are copied to
  std::size_t collected_ = 0;  // records in it
  bool has_collector_ = false;
};

}  // namespace gsort::cpu
