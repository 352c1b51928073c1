#include "engine/cpu/chunk_groups.hpp"

#include <algorithm>

#include "engine/cpu/cache_sort.hpp"

namespace gsort::cpu {
namespace {

// Kept keys [begin, end): those between the least and the greatest key of a bucket. Keys that equal
// either may also come out before or after the bucket.
struct KeptRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

template <class Key>
KeptRange kept_among(const Bucket& bucket, const KeptBlocks<Key>& kept, const PagePool& pool) {
  if (bucket.count == 0) return {};
  Key least = static_cast<Key>(~Key{0});
  Key greatest = 0;
  for (const PageChain& chain : bucket.chains) {
    for_each_page<Key>(pool, chain, [&](PagePool::Page, std::span<const Key> page) {
      const auto range = range_of(page);
      least = std::min(least, range.least);
      greatest = std::max(greatest, range.greatest);
    });
  }
  const std::uint64_t begin = kept.up_to(least);
  return {begin, std::max(begin, kept.below(greatest))};
}

template <class Key>
std::vector<KeptRange> kept_ranges(const std::vector<Bucket>& buckets, const KeptBlocks<Key>& kept,
                                   const PagePool& pool, TaskArena& tasks) {
  std::vector<KeptRange> ranges(buckets.size());
  if (kept.count() == 0) return ranges;
  tasks.for_each(buckets.size(),
                 [&](std::size_t i) { ranges[i] = kept_among(buckets[i], kept, pool); });
  return ranges;
}

// Makes groups, front to back.
class Grouping {
 public:
  Grouping(const std::vector<Bucket>& buckets, std::uint64_t wanted)
      : buckets_(buckets), wanted_(wanted) {}

  void add_bucket(std::size_t bucket, KeptRange kept) {
    const std::uint64_t count = buckets_[bucket].count + kept.end - kept.begin;
    groups_.push_back({bucket, bucket + 1, kept.begin, kept.end, position_, count});
    position_ += count;
  }

  // Adds `bucket` and all kept keys before kept.end to the last group, if they fit; returns whether
  // they do.
  bool join_bucket(std::size_t bucket, KeptRange kept) {
    if (groups_.empty() || groups_.back().is_kept()) return false;
    Group& last = groups_.back();
    if (buckets_[bucket].uniform || buckets_[last.first_bucket].uniform) return false;
    const std::uint64_t more = buckets_[bucket].count + kept.end - last.kept_end;
    if (last.count + more > wanted_) return false;
    last.last_bucket = bucket + 1;
    last.kept_end = kept.end;
    last.count += more;
    position_ += more;
    return true;
  }

  // Block by block, so that all workers can take part.
  void add_kept(KeptRange kept, std::uint64_t block_keys) {
    for (std::uint64_t begin = kept.begin; begin < kept.end;) {
      const std::uint64_t end = std::min(kept.end, begin - begin % block_keys + block_keys);
      groups_.push_back({0, 0, begin, end, position_, end - begin});
      position_ += end - begin;
      begin = end;
    }
  }

  [[nodiscard]] std::vector<Group> take() { return std::move(groups_); }

 private:
  const std::vector<Bucket>& buckets_;
  std::uint64_t wanted_;
  std::uint64_t position_ = 0;
  std::vector<Group> groups_;
};

}  // namespace

template <class Key>
std::vector<Group> group_chunk(const std::vector<Bucket>& buckets, const KeptBlocks<Key>& kept,
                               const PagePool& pool, std::uint64_t wanted, TaskArena& tasks) {
  const std::vector<KeptRange> ranges = kept_ranges(buckets, kept, pool, tasks);
  Grouping grouping(buckets, wanted);
  std::uint64_t kept_end = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i].count == 0) continue;
    if (!grouping.join_bucket(i, ranges[i])) {
      grouping.add_kept({kept_end, ranges[i].begin}, kept.block_keys());
      grouping.add_bucket(i, ranges[i]);
    }
    kept_end = ranges[i].end;
  }
  grouping.add_kept({kept_end, kept.count()}, kept.block_keys());
  return grouping.take();
}

template std::vector<Group> group_chunk(const std::vector<Bucket>&,
                                        const KeptBlocks<std::uint32_t>&, const PagePool&,
                                        std::uint64_t, TaskArena&);
template std::vector<Group> group_chunk(const std::vector<Bucket>&, const KeptBlocks<UInt128>&,
                                        const PagePool&, std::uint64_t, TaskArena&);
template std::vector<Group> group_chunk(const std::vector<Bucket>&,
                                        const KeptBlocks<std::uint64_t>&, const PagePool&,
                                        std::uint64_t, TaskArena&);

}  // namespace gsort::cpu
