#include "engine/cpu/partition.hpp"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gsort::cpu {
namespace {

// Copies one aligned cache line past the cache.
void store_line_past_cache(const void* from, void* to) {
#if defined(__SSE2__)
  const auto* const source = static_cast<const __m128i*>(from);
  auto* const target = static_cast<__m128i*>(to);
  for (int i = 0; i < 4; ++i) _mm_stream_si128(target + i, _mm_load_si128(source + i));
#else
  std::memcpy(to, from, 64);
#endif
}

void finish_stores_past_cache() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace

template <class Key>
Partitioner<Key>::Partitioner(const BucketMap<Key>& map, PagePool& pool)
    : map_(map),
      pool_(pool),
      lines_(map.buckets()),
      filled_(map.buckets()),
      ends_(map.buckets()),
      chains_(map.buckets()) {}

template <class Key>
void Partitioner<Key>::add(std::span<const Key> keys) {
  constexpr std::size_t kStretch = 256;  // bucket numbers first, so that the table look-ups overlap
  std::uint16_t bucket_of[kStretch];
  while (!keys.empty()) {
    const std::size_t count = keys.size() < kStretch ? keys.size() : kStretch;
    for (std::size_t i = 0; i < count; ++i) bucket_of[i] = map_(keys[i]);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t bucket = bucket_of[i];
      const std::size_t at = filled_[bucket];
      lines_[bucket].keys[at] = keys[i];
      filled_[bucket] = static_cast<std::uint8_t>(at + 1);
      if (at + 1 == kLineKeys) write_line(bucket);
    }
    keys = keys.subspan(count);
  }
}

template <class Key>
void Partitioner<Key>::write_line(std::size_t bucket) {
  const auto end = reinterpret_cast<std::uintptr_t>(ends_[bucket]);
  if ((end & (pool_.page_bytes() - 1)) == 0) add_page(bucket);
  store_line_past_cache(lines_[bucket].keys, ends_[bucket]);
  ends_[bucket] += kLineKeys;
  chains_[bucket].count += kLineKeys;
  filled_[bucket] = 0;
}

template <class Key>
void Partitioner<Key>::add_page(std::size_t bucket) {
  PageChain& chain = chains_[bucket];
  const PagePool::Page page = pool_.take();
  pool_.link(page, PagePool::kNone);
  if (chain.first == PagePool::kNone) {
    chain.first = page;
  } else {
    pool_.link(chain.last, page);
  }
  chain.last = page;
  ends_[bucket] = reinterpret_cast<Key*>(pool_.address_of(page));
}

template <class Key>
void Partitioner<Key>::finish(std::span<Bucket> buckets) {
  for (std::size_t bucket = 0; bucket < chains_.size(); ++bucket) {
    if (const std::size_t left = filled_[bucket]; left > 0) {
      const auto end = reinterpret_cast<std::uintptr_t>(ends_[bucket]);
      if ((end & (pool_.page_bytes() - 1)) == 0) add_page(bucket);
      std::memcpy(ends_[bucket], lines_[bucket].keys, left * sizeof(Key));
      chains_[bucket].count += left;
    }
    if (chains_[bucket].count > 0) {
      buckets[bucket].chains.push_back(chains_[bucket]);
      buckets[bucket].count += chains_[bucket].count;
    }
  }
  finish_stores_past_cache();
}

template class Partitioner<std::uint32_t>;
template class Partitioner<std::uint64_t>;

}  // namespace gsort::cpu
