// CpuChunkLane: see partition.hpp for what happens while a chunk is read, piece_sort.hpp for what
// happens while it is written.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/footprint.hpp"
#include "engine/cpu/bucket_split.hpp"
#include "engine/cpu/lane_memory.hpp"
#include "engine/engine.hpp"

namespace gsort::cpu {

template <class Key>
class CpuChunkLane final : public ChunkLane {
 public:
  CpuChunkLane(const EngineShape& shape, ByteSpan memory);

  void begin(ConstByteSpan sample) override;
  [[nodiscard]] ByteSpan acquire_block() override;
  void add(ByteSpan block, std::size_t bytes, std::uint64_t position) override;
  void sort(KeyForm form) override;
  void emit(PieceSink& sink) override;

 private:
  // Buckets that are sorted and put together, because each alone would be a small write.
  struct Group {
    std::size_t first_bucket;
    std::size_t last_bucket;  // one past
    std::uint64_t position;
    std::uint64_t count;
  };

  std::unique_ptr<Partitioner<Key>> take_partitioner();
  std::vector<Group> group_buckets() const;
  void emit_group(const Group& group, unsigned worker, PieceSink& sink);
  void emit_uniform(const Group& group, std::span<Key> piece, PieceSink& sink);

  CpuChunkFootprint footprint_;
  Meter* meter_;
  KeyMap<Key> map_;
  KeyForm form_ = KeyForm::kRaw;
  PagePool pool_;
  std::vector<ByteSpan> blocks_;  // block buffers that are free
  std::vector<ByteSpan> pieces_;  // two a worker: keys and scratch
  std::unique_ptr<BucketMap<Key>> bucket_map_;
  std::vector<std::unique_ptr<Partitioner<Key>>> partitioners_;  // those no thread is using
  std::vector<Bucket> buckets_;
  std::mutex mutex_;
  std::condition_variable block_freed_;
};

extern template class CpuChunkLane<std::uint32_t>;
extern template class CpuChunkLane<std::uint64_t>;

}  // namespace gsort::cpu
