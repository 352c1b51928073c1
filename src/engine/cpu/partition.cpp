#include "engine/cpu/partition.hpp"

#include <algorithm>
#include <cstring>

#include "engine/cpu/in_place/past_cache.hpp"
#include "engine/cpu/in_place/repeats.hpp"
#include "engine/footprint.hpp"

namespace gsort::cpu {
template <class Key>
Partitioner<Key>::Partitioner(const BucketMap<Key>& map, PagePool& pool)
    : map_(map),
      pool_(pool),
      line_keys_(CpuChunkFootprint::line_bytes(map.buckets()) / sizeof(Key)),
      lines_(map.buckets() * line_keys_ / kCacheLineKeys),
      filled_(map.buckets()),
      ends_(map.buckets()),
      chains_(map.buckets()) {}

template <class Key>
void Partitioner<Key>::add(std::span<const Key> raw, const KeyMap<Key>& to_ordered) {
  constexpr std::size_t kStretch = 256;  // cells first, by vector code
  Key ordered[kStretch];
  std::uint16_t cells[kStretch];
  while (!raw.empty()) {
    const std::size_t count = std::min(raw.size(), kStretch);
    const auto keys = map_.find_cells(raw.first(count), to_ordered, ordered, cells);
    if (mostly_repeat({cells, count}, map_.bucket_of_cells())) {
      deal_out_repeats(keys, {cells, count});
    } else {
      deal_out(keys, cells);
    }
    raw = raw.subspan(count);
  }
}

template <class Key>
void Partitioner<Key>::deal_out(std::span<const Key> keys, const std::uint16_t* cells) {
  // Keeps these in registers: for the compiler, a store to a byte may change any member.
  Key* const lines = line_of(0);
  const std::size_t line_keys = line_keys_;
  std::uint8_t* const filled = filled_.data();
  const std::uint16_t* const bucket_of = map_.bucket_of_cells();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t bucket = bucket_of[cells[i]];
    const std::size_t at = filled[bucket];
    Key* const line = lines + bucket * line_keys;
    line[at] = keys[i];
    filled[bucket] = static_cast<std::uint8_t>(at + 1);
    if (at + 1 == line_keys) write_line(bucket, line);
  }
}

// Key by key, each would wait for the count that the one before has just stored.
template <class Key>
void Partitioner<Key>::deal_out_repeats(std::span<const Key> keys,
                                        std::span<const std::uint16_t> cells) {
  const std::uint16_t* const bucket_of = map_.bucket_of_cells();
  if (count_repeats(cells) + 1 == keys.size()) return append(bucket_of[cells.front()], keys);
  for (std::size_t begin = 0; begin < keys.size();) {
    const std::uint16_t bucket = bucket_of[cells[begin]];
    std::size_t end = begin + 1;
    while (end < keys.size() && bucket_of[cells[end]] == bucket) ++end;
    append(bucket, keys.subspan(begin, end - begin));
    begin = end;
  }
}

template <class Key>
void Partitioner<Key>::append(std::size_t bucket, std::span<const Key> keys) {
  while (!keys.empty()) {
    const std::size_t filled = filled_[bucket];
    const std::size_t count = std::min(keys.size(), line_keys_ - filled);
    if (count == line_keys_) {
      write_line(bucket, keys.data());
    } else {
      std::copy_n(keys.begin(), count, line_of(bucket) + filled);
      filled_[bucket] = static_cast<std::uint8_t>(filled + count);
      if (filled + count == line_keys_) write_line(bucket, line_of(bucket));
    }
    keys = keys.subspan(count);
  }
}

// Requires: `keys` has line_keys_ keys: the bucket's line, or keys that would fill it.
template <class Key>
void Partitioner<Key>::write_line(std::size_t bucket, const Key* keys) {
  const auto end = reinterpret_cast<std::uintptr_t>(ends_[bucket]);
  if ((end & (pool_.page_bytes() - 1)) == 0) add_page(bucket);
  store_past_cache(keys, ends_[bucket], line_keys_ * sizeof(Key));
  ends_[bucket] += line_keys_;
  filled_[bucket] = 0;
}

template <class Key>
void Partitioner<Key>::add_page(std::size_t bucket) {
  PageChain& chain = chains_[bucket];
  const PagePool::Page page = take_page();
  pool_.link(page, PagePool::kNone);
  if (chain.first == PagePool::kNone) {
    chain.first = page;
  } else {
    chain.count += pool_.page_bytes() / sizeof(Key);
    pool_.link(chain.last, page);
  }
  chain.last = page;
  ends_[bucket] = reinterpret_cast<Key*>(pool_.address_of(page));
}

template <class Key>
PagePool::Page Partitioner<Key>::take_page() {
  if (own_pages_.empty()) {
    own_pages_.resize(pool_.pages_at_once());
    own_pages_.resize(pool_.take(own_pages_));
    std::ranges::reverse(own_pages_);  // in address order
  }
  const PagePool::Page page = own_pages_.back();
  own_pages_.pop_back();
  return page;
}

// Writes what is left in the bucket's line, and counts the keys of its last page.
template <class Key>
void Partitioner<Key>::end_chain(std::size_t bucket) {
  PageChain& chain = chains_[bucket];
  if (const std::size_t left = filled_[bucket]; left > 0) {
    const auto end = reinterpret_cast<std::uintptr_t>(ends_[bucket]);
    if ((end & (pool_.page_bytes() - 1)) == 0) add_page(bucket);
    std::memcpy(ends_[bucket], line_of(bucket), left * sizeof(Key));
    ends_[bucket] += left;
  }
  if (chain.first == PagePool::kNone) return;
  const auto* const last_page = reinterpret_cast<const Key*>(pool_.address_of(chain.last));
  chain.count += static_cast<std::uint64_t>(ends_[bucket] - last_page);
}

template <class Key>
void Partitioner<Key>::finish(std::span<Bucket> buckets) {
  for (std::size_t bucket = 0; bucket < chains_.size(); ++bucket) {
    end_chain(bucket);
    if (chains_[bucket].count == 0) continue;
    buckets[bucket].chains.push_back(chains_[bucket]);
    buckets[bucket].count += chains_[bucket].count;
  }
  pool_.give_back(own_pages_);
  own_pages_.clear();
  finish_stores_past_cache();
}

template class Partitioner<std::uint32_t>;
template class Partitioner<std::uint64_t>;
template class Partitioner<UInt128>;

}  // namespace gsort::cpu
