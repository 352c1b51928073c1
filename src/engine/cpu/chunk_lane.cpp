#include "engine/cpu/chunk_lane.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "element/key_loops.hpp"
#include "engine/cpu/cache_sort.hpp"
#include "engine/cpu/in_place/halve.hpp"
#include "engine/key_map_of.hpp"

namespace gsort::cpu {
namespace {

// If fewer than one key in this many is kept, the kept ones are dealt out, too: finding kept keys
// among a bucket's range reads all its other keys once more.
constexpr std::uint64_t kLeastKeptShare = 32;

template <class Key>
std::span<Key> keys_in(ByteSpan bytes) {
  return {reinterpret_cast<Key*>(bytes.data()), bytes.size() / sizeof(Key)};
}

// The first keys of `sorted`, up to the last one that is not greater than `bound`.
template <class Key>
std::span<const Key> keys_up_to(Key bound, std::span<const Key> sorted) {
  const auto end = std::ranges::upper_bound(sorted, bound);
  return sorted.first(static_cast<std::size_t>(end - sorted.begin()));
}

}  // namespace

template <class Key>
CpuChunkLane<Key>::CpuChunkLane(const EngineShape& shape, ByteSpan memory,
                                std::uint64_t most_cached_bytes)
    : footprint_(CpuChunkFootprint::of(shape.chunk_elements, sizeof(Key), shape.threads,
                                       shape.block_bytes)),
      most_cached_bytes_(most_cached_bytes),
      tasks_(footprint_.workers),
      meter_(shape.meter),
      map_(map_of<Key>(shape)),
      keys_are_records_(shape.records.has_value()),
      pool_(LaneMemory(memory).take(footprint_.pool_bytes()), footprint_.page_bytes,
            footprint_.pages_at_once),
      kept_(footprint_.block_bytes / sizeof(Key), map_) {
  LaneMemory layout(memory);
  layout.take(footprint_.pool_bytes());
  for (unsigned worker = 0; worker < footprint_.workers; ++worker) {
    pieces_.push_back(layout.take(footprint_.piece_bytes()));
    pieces_.push_back(layout.take(footprint_.piece_bytes()));
  }
  free_pages();
}

template <class Key>
void CpuChunkLane<Key>::free_pages() {
  kept_.clear();
  dealt_out_ = 0;
  buckets_.clear();
  pool_.reset();
  blocks_.clear();
  for (unsigned worker = 0; worker < footprint_.workers; ++worker) blocks_.push_back(new_block());
}

template <class Key>
ByteSpan CpuChunkLane<Key>::new_block() {
  return pool_.take_stretch(static_cast<PagePool::Page>(footprint_.block_pages()))
      .first(footprint_.block_bytes);
}

template <class Key>
void CpuChunkLane<Key>::begin(ConstByteSpan sample) {
  std::vector<Key> keys(sample.size() / sizeof(Key));
  if (!keys.empty()) std::memcpy(keys.data(), sample.data(), keys.size() * sizeof(Key));
  map_to_ordered<Key>(keys, keys, map_);
  free_partitioners_.clear();
  partitioners_ = 0;
  bucket_map_ = std::make_unique<BucketMap<Key>>(keys, footprint_.buckets);
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
    const auto own =
        std::ranges::find(free_partitioners_, std::this_thread::get_id(), &FreePartitioner::user);
    const bool may_make_one = partitioners_ < footprint_.workers;
    const auto taken =
        own == free_partitioners_.end() && !may_make_one ? free_partitioners_.begin() : own;
    if (taken != free_partitioners_.end()) {
      auto partitioner = std::move(taken->partitioner);
      free_partitioners_.erase(taken);
      return partitioner;
    }
    ++partitioners_;
  }
  return std::make_unique<Partitioner<Key>>(*bucket_map_, pool_);
}

template <class Key>
void CpuChunkLane<Key>::add(ByteSpan block, std::size_t bytes, std::uint64_t /*position*/) {
  const std::span<Key> keys = keys_in<Key>(block.first(bytes));
  if (bytes == footprint_.block_bytes && footprint_.can_keep_blocks() && kept_.keep(keys)) {
    block = new_block();
  } else {
    deal_out(keys, map_);
  }
  const std::scoped_lock lock(mutex_);
  blocks_.push_back(block);
  block_freed_.notify_one();
}

template <class Key>
void CpuChunkLane<Key>::deal_out(std::span<const Key> keys, const KeyMap<Key>& to_ordered) {
  if (keys.empty()) return;
  auto partitioner = take_partitioner();
  partitioner->add(keys, to_ordered);
  const std::scoped_lock lock(mutex_);
  free_partitioners_.push_back({std::move(partitioner), std::this_thread::get_id()});
  dealt_out_ += keys.size();
}

// Page by page, so that it never takes more pages than it gives back.
template <class Key>
void CpuChunkLane<Key>::deal_out_kept() {
  const std::uint64_t page_keys = pool_.page_bytes() / sizeof(Key);
  for (std::uint64_t at = 0; at < kept_.count(); at += page_keys) {
    const std::span<const Key> keys = kept_.stretch(at, at + page_keys);
    deal_out(keys, {});
    const PagePool::Page page = pool_.page_at(std::as_bytes(keys).data());
    pool_.give_back({&page, 1});
  }
  kept_.clear();
}

template <class Key>
void CpuChunkLane<Key>::sort(KeyForm form) {
  form_ = keys_are_records_ ? KeyForm::kRaw : form;
  kept_.finish();
  if (kept_.count() * kLeastKeptShare < dealt_out_) deal_out_kept();
  buckets_.assign(bucket_map_->buckets(), Bucket{});
  for (const FreePartitioner& free : free_partitioners_) free.partitioner->finish(buckets_);
  free_partitioners_.clear();
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    buckets_[i].uniform = bucket_map_->holds_one_key(i);
  }
  split_large_buckets<Key>(buckets_, footprint_.bucket_elements, pool_, tasks_);
}

template <class Key>
void CpuChunkLane<Key>::emit(PieceSink& sink) {
  const std::uint64_t wanted =
      std::min(CpuChunkFootprint::kBucketTarget, footprint_.bucket_elements);
  const std::vector<Group> groups = group_chunk<Key>(buckets_, kept_, pool_, wanted, tasks_);
  tasks_.for_each_in_order(
      groups.size(),
      [&](std::size_t group, unsigned worker) {
        emit_group(groups[group], state_of(worker, sink));
      },
      putting_steps(sink));
  free_pages();
}

template <class Key>
auto CpuChunkLane<Key>::state_of(unsigned worker, PieceSink& sink) const -> WorkerState {
  return {keys_in<Key>(pieces_[std::size_t{2} * worker]),
          keys_in<Key>(pieces_[std::size_t{2} * worker + 1]), sink};
}

template <class Key>
void CpuChunkLane<Key>::emit_group(const Group& group, const WorkerState& state) {
  Span span(meter_, Stage::kSort);
  span.add_bytes(group.count * sizeof(Key));
  if (group.is_kept()) {
    put(group.position, kept_.stretch(group.kept_begin, group.kept_end), state.sink);
  } else if (buckets_[group.first_bucket].uniform) {
    emit_uniform(group, state);
  } else if (group.count <= state.keys.size()) {
    emit_sorted(group, state);
  } else {
    emit_merged(group, state);
  }
}

template <class Key>
void CpuChunkLane<Key>::emit_uniform(const Group& group, const WorkerState& state) {
  const PageChain& chain = buckets_[group.first_bucket].chains.front();
  const Key ordered = *reinterpret_cast<const Key*>(pool_.address_of(chain.first));
  std::ranges::fill(state.keys, form_ == KeyForm::kRaw ? map_.to_raw(ordered) : ordered);
  for (std::uint64_t done = 0; done < group.count;) {
    const std::uint64_t count = std::min<std::uint64_t>(state.keys.size(), group.count - done);
    state.sink.put(group.position + done, std::as_bytes(state.keys.first(count)));
    done += count;
  }
}

// Kept keys are sorted once more: they are part of a piece in the cache.
template <class Key>
void CpuChunkLane<Key>::emit_sorted(const Group& group, const WorkerState& state) {
  const std::span<Key> keys = state.keys.first(group.count);
  auto end = gather_dealt(group, keys).end();
  for_each_kept(group, [&](std::span<const Key> kept) { end = std::ranges::copy(kept, end).out; });
  sort(keys, state.scratch);
  // At once: if pieces go out in order, others wait for it.
  state.sink.put(group.position, std::as_bytes(keys));
}

// Halves keys that do not fit the cache. They leave it in the wanted form.
template <class Key>
void CpuChunkLane<Key>::sort(std::span<Key> keys, std::span<Key> scratch) const {
  while (keys.size_bytes() > most_cached_bytes_) {
    const std::size_t below = halve(keys);
    if (std::min(below, keys.size() - below) < keys.size() / 16) break;
    sort(keys.first(below), scratch);
    keys = keys.subspan(below);
  }
  cache_sort(keys, scratch.first(keys.size()), {nullptr, becomes_raw() ? &map_ : nullptr});
}

// For so many kept keys that they cannot be sorted together with the others.
template <class Key>
void CpuChunkLane<Key>::emit_merged(const Group& group, const WorkerState& state) {
  const std::span<Key> sorted = gather_dealt(group, state.keys);
  cache_sort(sorted, state.scratch.first(sorted.size()));
  std::span<const Key> dealt = sorted;
  std::uint64_t position = group.position;
  const std::size_t half = state.scratch.size() / 2;
  for_each_kept(group, [&](std::span<const Key> kept) {
    while (!kept.empty()) {
      // Both are cut at the same key: no key before the cuts is greater than one after them.
      auto left = kept.first(std::min(half, kept.size()));
      auto right = keys_up_to(left.back(), dealt);
      if (right.size() > half) {
        right = right.first(half);
        left = keys_up_to(right.back(), left);
      }
      const std::span<Key> merged = state.scratch.first(left.size() + right.size());
      std::ranges::merge(left, right, merged.begin());
      put(position, merged, state.sink);
      position += merged.size();
      kept = kept.subspan(left.size());
      dealt = dealt.subspan(right.size());
    }
  });
  if (!dealt.empty()) put(position, sorted.last(dealt.size()), state.sink);
}

// Copies the keys of the group's buckets to the front of `to`.
template <class Key>
std::span<Key> CpuChunkLane<Key>::gather_dealt(const Group& group, std::span<Key> to) const {
  Key* end = to.data();
  for (std::size_t i = group.first_bucket; i < group.last_bucket; ++i) {
    for (const PageChain& chain : buckets_[i].chains) {
      for_each_page<Key>(pool_, chain, [&](PagePool::Page, std::span<const Key> page) {
        std::memcpy(end, page.data(), page.size_bytes());
        end += page.size();
      });
    }
  }
  return to.first(group.dealt_count());
}

template <class Key>
template <class F>
void CpuChunkLane<Key>::for_each_kept(const Group& group, const F& f) const {
  for (std::uint64_t begin = group.kept_begin; begin < group.kept_end;) {
    const std::span<const Key> keys = kept_.stretch(begin, group.kept_end);
    f(keys);
    begin += keys.size();
  }
}

// Converts keys to the wanted form in place, and puts them.
template <class Key>
void CpuChunkLane<Key>::put(std::uint64_t position, std::span<Key> keys, PieceSink& sink) const {
  if (becomes_raw()) map_to_raw<Key>(keys, keys, map_);
  sink.put(position, std::as_bytes(keys));
}

template class CpuChunkLane<std::uint32_t>;
template class CpuChunkLane<std::uint64_t>;
template class CpuChunkLane<UInt128>;

}  // namespace gsort::cpu
