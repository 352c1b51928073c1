// CpuChunkLane sorts a chunk. While it is read, see partition.hpp and, for keys that are in order,
// kept_blocks.hpp; while it is written, chunk_groups.hpp and cache_sort.hpp.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/tasks.hpp"
#include "engine/cpu/bucket_split.hpp"
#include "engine/cpu/chunk_groups.hpp"
#include "engine/cpu/kept_blocks.hpp"
#include "engine/cpu/lane_memory.hpp"
#include "engine/engine.hpp"
#include "engine/footprint.hpp"

namespace gsort::cpu {

template <class Key>
class CpuChunkLane final : public ChunkLane {
 public:
  // Buckets of more than `most_cached_bytes` are halved before they are sorted.
  CpuChunkLane(const EngineShape& shape, ByteSpan memory,
               std::uint64_t most_cached_bytes = CpuChunkFootprint::kMostCachedBytes);

  void begin(ConstByteSpan sample) override;
  [[nodiscard]] ByteSpan acquire_block() override;
  void add(ByteSpan block, std::size_t bytes, std::uint64_t position) override;
  void sort(KeyForm form) override;
  void emit(PieceSink& sink) override;

 private:
  void free_pages();
  ByteSpan new_block();
  void deal_out(std::span<const Key> keys, const KeyMap<Key>& to_ordered);
  void deal_out_kept();
  std::unique_ptr<Partitioner<Key>> take_partitioner();

  struct FreePartitioner {
    std::unique_ptr<Partitioner<Key>> partitioner;
    std::thread::id user;  // the last one: its core has the lines in its cache
  };

  // The memory from which a worker emits.
  struct WorkerState {
    std::span<Key> keys;
    std::span<Key> scratch;
    PieceSink& sink;
  };
  WorkerState state_of(unsigned worker, PieceSink& sink) const;
  void emit_group(const Group& group, const WorkerState& state);
  void emit_uniform(const Group& group, const WorkerState& state);
  void emit_sorted(const Group& group, const WorkerState& state);
  void sort(std::span<Key> keys, std::span<Key> scratch) const;
  void emit_merged(const Group& group, const WorkerState& state);
  std::span<Key> gather_dealt(const Group& group, std::span<Key> to) const;
  template <class F>
  void for_each_kept(const Group& group, const F& f) const;
  [[nodiscard]] bool becomes_raw() const { return form_ == KeyForm::kRaw && !map_.is_identity(); }
  void put(std::uint64_t position, std::span<Key> keys, PieceSink& sink) const;

  CpuChunkFootprint footprint_;
  const std::uint64_t most_cached_bytes_;
  TaskArena tasks_;
  Meter* meter_;
  KeyMap<Key> map_;
  bool keys_are_records_;  // the elements are records, which leave in the form in which they came
  KeyForm form_ = KeyForm::kRaw;
  PagePool pool_;
  KeptBlocks<Key> kept_;
  std::uint64_t dealt_out_ = 0;   // the number of keys that are not kept
  std::vector<ByteSpan> blocks_;  // block buffers that are free, of the pool
  std::vector<ByteSpan> pieces_;  // two a worker: keys and scratch
  std::unique_ptr<BucketMap<Key>> bucket_map_;
  std::vector<FreePartitioner> free_partitioners_;
  unsigned partitioners_ = 0;  // free ones and those in use
  std::vector<Bucket> buckets_;
  std::mutex mutex_;
  std::condition_variable block_freed_;
};

extern template class CpuChunkLane<std::uint32_t>;
extern template class CpuChunkLane<std::uint64_t>;
extern template class CpuChunkLane<UInt128>;

}  // namespace gsort::cpu
