#include "engine/cpu/bucket_split.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/footprint.hpp"
#include "base/parallel.hpp"
#include "engine/cpu/piece_sort.hpp"

namespace gsort::cpu {
namespace {

// What a look at a bucket tells: its range, and a sample for the next map.
template <class Key>
struct Look {
  Key least;
  Key greatest;
  std::vector<Key> sample;
};

template <class Key>
Look<Key> look_at(const Bucket& bucket, const PagePool& pool) {
  constexpr std::size_t kSampleKeys = std::size_t{1} << 14;
  Look<Key> look{static_cast<Key>(~Key{0}), 0, {}};
  const std::size_t stride = std::max<std::size_t>(1, bucket.count / kSampleKeys);
  std::size_t skip = 0;
  for (const PageChain& chain : bucket.chains) {
    for_each_page<Key>(pool, chain, [&](PagePool::Page, std::span<const Key> keys) {
      const KeyRange range = range_of(keys);
      look.least = std::min(look.least, static_cast<Key>(range.least));
      look.greatest = std::max(look.greatest, static_cast<Key>(range.greatest));
      for (; skip < keys.size(); skip += stride) look.sample.push_back(keys[skip]);
      skip -= keys.size();
    });
  }
  return look;
}

template <class Key>
std::vector<Bucket> deal_out_again(Bucket& bucket, const BucketMap<Key>& map, PagePool& pool) {
  std::vector<Bucket> parts(map.buckets());
  Partitioner<Key> partitioner(map, pool);
  for (const PageChain& chain : bucket.chains) {
    for_each_page<Key>(pool, chain, [&](PagePool::Page page, std::span<const Key> keys) {
      partitioner.add(keys);
      pool.give_back(page);
    });
  }
  partitioner.finish(parts);
  return parts;
}

// Splits `bucket` as often as needed and appends the result to `done`. `sampled` says whether a
// sample may choose the borders: after one that left nearly everything together, the range is
// divided evenly.
template <class Key>
void split(Bucket bucket, std::uint64_t limit, PagePool& pool, bool sampled,
           std::vector<Bucket>& done) {
  if (bucket.count <= limit) {
    if (bucket.count > 0) done.push_back(std::move(bucket));
    return;
  }
  Look<Key> look = look_at<Key>(bucket, pool);
  if (look.least == look.greatest) {
    bucket.uniform = true;
    done.push_back(std::move(bucket));
    return;
  }
  const std::size_t wanted =
      std::clamp<std::uint64_t>(2 * div_up(bucket.count, limit), 2, CpuChunkFootprint::kMostSplit);
  const auto map = sampled ? BucketMap<Key>(look.sample, wanted)
                           : BucketMap<Key>::even(look.least, look.greatest, wanted);
  const std::uint64_t before = bucket.count;
  for (Bucket& part : deal_out_again<Key>(bucket, map, pool)) {
    const bool helped = part.count < before / 2;
    split<Key>(std::move(part), limit, pool, helped, done);
  }
}

}  // namespace

template <class Key>
void split_large_buckets(std::vector<Bucket>& buckets, std::uint64_t limit, PagePool& pool,
                         unsigned workers) {
  std::vector<std::size_t> large;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i].count > limit) large.push_back(i);
  }
  if (large.empty()) return;
  std::vector<std::vector<Bucket>> parts(large.size());
  std::atomic<std::size_t> next{0};
  run_workers(static_cast<unsigned>(std::min<std::size_t>(workers, large.size())), [&](unsigned) {
    for (std::size_t i = next++; i < large.size(); i = next++) {
      split<Key>(std::move(buckets[large[i]]), limit, pool, true, parts[i]);
    }
  });
  std::vector<Bucket> all;
  std::size_t from = 0;
  for (std::size_t i = 0; i < large.size(); ++i) {
    const auto at = buckets.begin();
    std::move(at + static_cast<std::ptrdiff_t>(from), at + static_cast<std::ptrdiff_t>(large[i]),
              std::back_inserter(all));
    std::move(parts[i].begin(), parts[i].end(), std::back_inserter(all));
    from = large[i] + 1;
  }
  std::move(buckets.begin() + static_cast<std::ptrdiff_t>(from), buckets.end(),
            std::back_inserter(all));
  buckets = std::move(all);
}

template void split_large_buckets<std::uint32_t>(std::vector<Bucket>&, std::uint64_t, PagePool&,
                                                 unsigned);
template void split_large_buckets<std::uint64_t>(std::vector<Bucket>&, std::uint64_t, PagePool&,
                                                 unsigned);

}  // namespace gsort::cpu
