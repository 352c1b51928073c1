// Partitioning: keys are dealt out to buckets by value while they are being read, so that each
// bucket can be sorted in the cache and the chunk can be written bucket by bucket.
//
// Each worker keeps a line of keys for every bucket and writes a line to memory when it is full,
// past the cache (the keys are not needed before the chunk is complete). A line is one to four
// cache lines: each full line is a branch that the processor predicts wrongly, and long lines have
// fewer, but all lines should fit in the core's own cache. The memory of a bucket is a chain of
// small pages for each worker, because the final size of a bucket is not known in advance.
//
// If neighbours mostly go to the same bucket, as in sorted or equal keys, they are moved together.
//
// Cost: one read and one write of every key; a page of slack for each bucket of each
// worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/bucket_map.hpp"
#include "engine/cpu/page_pool.hpp"

namespace gsort::cpu {

// Keys in a linked list of pages; all pages but the last are full.
struct PageChain {
  PagePool::Page first = PagePool::kNone;
  PagePool::Page last = PagePool::kNone;
  std::uint64_t count = 0;
};

// One bucket of a chunk: a chain of each worker that found keys for it.
struct Bucket {
  std::vector<PageChain> chains;
  std::uint64_t count = 0;
  bool uniform = false;    // all keys are equal: nothing to sort, however many there are
  bool unsampled = false;  // a sample did not help to split it: divide its range evenly
};

// Deals out the keys of one worker. Not thread-safe; several partitioners share a pool.
template <class Key>
class Partitioner {
 public:
  // Requires: map and pool outlive it.
  Partitioner(const BucketMap<Key>& map, PagePool& pool);

  // Maps raw keys and deals them out.
  void add(std::span<const Key> raw, const KeyMap<Key>& to_ordered = {});

  // Takes a page of the pool that is no longer in use, for keys to come.
  void reuse(PagePool::Page page) { own_pages_.push_back(page); }

  // Writes out the rest of the lines and appends this worker's chains to `buckets`, which has
  // map.buckets() entries. No key may be added afterwards.
  void finish(std::span<Bucket> buckets);

 private:
  static constexpr std::size_t kCacheLineKeys = 64 / sizeof(Key);
  struct alignas(64) CacheLine {
    Key keys[kCacheLineKeys];
  };

  [[nodiscard]] Key* line_of(std::size_t bucket) {
    return reinterpret_cast<Key*>(lines_.data()) + bucket * line_keys_;
  }
  void deal_out(std::span<const Key> keys, const std::uint16_t* cells);
  void deal_out_repeats(std::span<const Key> keys, std::span<const std::uint16_t> cells);
  void append(std::size_t bucket, std::span<const Key> keys);
  void write_line(std::size_t bucket, const Key* keys);
  void add_page(std::size_t bucket);
  void end_chain(std::size_t bucket);
  PagePool::Page take_page();

  const BucketMap<Key>& map_;
  PagePool& pool_;
  std::size_t line_keys_;
  std::vector<CacheLine> lines_;
  std::vector<std::uint8_t> filled_;  // keys in each line
  std::vector<Key*> ends_;  // where the bucket's next line goes; at a page's border: needs a page
  std::vector<PageChain> chains_;          // those of the last page are counted at the end
  std::vector<PagePool::Page> own_pages_;  // taken, but not used yet
};

// Calls f(span of keys) for every page of a chain, in order.
template <class Key, class F>
void for_each_page(const PagePool& pool, const PageChain& chain, const F& f) {
  const std::size_t per_page = pool.page_bytes() / sizeof(Key);
  std::uint64_t left = chain.count;
  for (PagePool::Page page = chain.first; left > 0;) {
    const std::size_t here = left < per_page ? static_cast<std::size_t>(left) : per_page;
    const PagePool::Page next = pool.next(page);
    f(page, std::span<const Key>(reinterpret_cast<const Key*>(pool.address_of(page)), here));
    left -= here;
    page = next;
  }
}

extern template class Partitioner<std::uint32_t>;
extern template class Partitioner<std::uint64_t>;
extern template class Partitioner<UInt128>;

}  // namespace gsort::cpu
