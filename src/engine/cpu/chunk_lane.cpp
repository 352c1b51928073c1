#include "engine/cpu/chunk_lane.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/key_loops.hpp"
#include "base/parallel.hpp"
#include "engine/cpu/piece_sort.hpp"

namespace gsort::cpu {
namespace {

template <class Key>
std::span<Key> keys_in(ByteSpan bytes) {
  return {reinterpret_cast<Key*>(bytes.data()), bytes.size() / sizeof(Key)};
}

}  // namespace

template <class Key>
CpuChunkLane<Key>::CpuChunkLane(const EngineShape& shape, ByteSpan memory)
    : footprint_(CpuChunkFootprint::of(shape.chunk_elements, sizeof(Key), shape.threads,
                                       shape.block_bytes)),
      meter_(shape.meter),
      map_(KeyMap<Key>::of(shape.format)),
      pool_(LaneMemory(memory).take(footprint_.pages_bytes()), footprint_.page_bytes) {
  LaneMemory layout(memory);
  layout.take(footprint_.pages_bytes());
  for (unsigned worker = 0; worker < footprint_.workers; ++worker) {
    blocks_.push_back(layout.take(footprint_.block_bytes));
    pieces_.push_back(layout.take(footprint_.piece_bytes()));
    pieces_.push_back(layout.take(footprint_.piece_bytes()));
  }
}

template <class Key>
void CpuChunkLane<Key>::begin(ConstByteSpan sample) {
  std::vector<Key> keys(sample.size() / sizeof(Key));
  if (!keys.empty()) std::memcpy(keys.data(), sample.data(), keys.size() * sizeof(Key));
  map_to_ordered<Key>(keys, keys, map_);
  partitioners_.clear();
  bucket_map_ = std::make_unique<BucketMap<Key>>(keys, footprint_.buckets);
  buckets_.clear();
  pool_.reset();
}

template <class Key>
ByteSpan CpuChunkLane<Key>::acquire_block() {
  std::unique_lock lock(mutex_);
  block_freed_.wait(lock, [&] { return !blocks_.empty(); });
  const ByteSpan block = blocks_.back();
  blocks_.pop_back();
  return block;
}

template <class Key>
std::unique_ptr<Partitioner<Key>> CpuChunkLane<Key>::take_partitioner() {
  {
    const std::scoped_lock lock(mutex_);
    if (!partitioners_.empty()) {
      auto partitioner = std::move(partitioners_.back());
      partitioners_.pop_back();
      return partitioner;
    }
  }
  return std::make_unique<Partitioner<Key>>(*bucket_map_, pool_);
}

template <class Key>
void CpuChunkLane<Key>::add(ByteSpan block, std::size_t bytes, std::uint64_t /*position*/) {
  const std::span<Key> keys = keys_in<Key>(block.first(bytes));
  if (!keys.empty()) {
    auto partitioner = take_partitioner();
    if (!map_.is_identity()) map_to_ordered<Key>(keys, keys, map_);
    partitioner->add(keys);
    const std::scoped_lock lock(mutex_);
    partitioners_.push_back(std::move(partitioner));
  }
  const std::scoped_lock lock(mutex_);
  blocks_.push_back(block);
  block_freed_.notify_one();
}

template <class Key>
void CpuChunkLane<Key>::sort(KeyForm form) {
  form_ = form;
  buckets_.assign(bucket_map_->buckets(), Bucket{});
  for (const auto& partitioner : partitioners_) partitioner->finish(buckets_);
  partitioners_.clear();
  split_large_buckets<Key>(buckets_, footprint_.bucket_elements, pool_, footprint_.workers);
}

template <class Key>
auto CpuChunkLane<Key>::group_buckets() const -> std::vector<Group> {
  std::vector<Group> groups;
  std::uint64_t position = 0;
  const std::uint64_t wanted =
      std::min(CpuChunkFootprint::kBucketTarget, footprint_.bucket_elements);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const std::uint64_t count = buckets_[i].count;
    const bool joins = !groups.empty() && !buckets_[i].uniform &&
                       !buckets_[groups.back().first_bucket].uniform &&
                       groups.back().count + count <= wanted;
    if (joins) {
      groups.back().last_bucket = i + 1;
      groups.back().count += count;
    } else if (count > 0) {
      groups.push_back({i, i + 1, position, count});
    }
    position += count;
  }
  return groups;
}

template <class Key>
void CpuChunkLane<Key>::emit(PieceSink& sink) {
  const std::vector<Group> groups = group_buckets();
  const auto workers =
      static_cast<unsigned>(std::clamp<std::size_t>(groups.size(), 1, footprint_.workers));
  std::atomic<std::size_t> next{0};
  run_workers(workers, [&](unsigned worker) {
    try {
      for (std::size_t i = next++; i < groups.size(); i = next++) {
        emit_group(groups[i], worker, sink);
      }
    } catch (...) {
      next = groups.size();
      sink.abandon();
      throw;
    }
  });
}

template <class Key>
void CpuChunkLane<Key>::emit_group(const Group& group, unsigned worker, PieceSink& sink) {
  Span span(meter_, Stage::kSort);
  span.add_bytes(group.count * sizeof(Key));
  const std::span<Key> piece = keys_in<Key>(pieces_[std::size_t{2} * worker]);
  if (buckets_[group.first_bucket].uniform) return emit_uniform(group, piece, sink);
  const std::span<Key> keys = piece.first(group.count);
  std::size_t at = 0;
  for (std::size_t i = group.first_bucket; i < group.last_bucket; ++i) {
    for (const PageChain& chain : buckets_[i].chains) {
      for_each_page<Key>(pool_, chain, [&](PagePool::Page, std::span<const Key> page) {
        std::memcpy(keys.data() + at, page.data(), page.size_bytes());
        at += page.size();
      });
    }
  }
  piece_sort(keys, keys_in<Key>(pieces_[std::size_t{2} * worker + 1]).first(group.count));
  if (form_ == KeyForm::kRaw && !map_.is_identity()) map_to_raw<Key>(keys, keys, map_);
  sink.put(group.position, std::as_bytes(keys));
}

template <class Key>
void CpuChunkLane<Key>::emit_uniform(const Group& group, std::span<Key> piece, PieceSink& sink) {
  const PageChain& chain = buckets_[group.first_bucket].chains.front();
  const Key ordered = *reinterpret_cast<const Key*>(pool_.address_of(chain.first));
  std::ranges::fill(piece, form_ == KeyForm::kRaw ? map_.to_raw(ordered) : ordered);
  for (std::uint64_t done = 0; done < group.count;) {
    const std::uint64_t count = std::min<std::uint64_t>(piece.size(), group.count - done);
    sink.put(group.position + done, std::as_bytes(piece.first(count)));
    done += count;
  }
}

template class CpuChunkLane<std::uint32_t>;
template class CpuChunkLane<std::uint64_t>;

}  // namespace gsort::cpu
