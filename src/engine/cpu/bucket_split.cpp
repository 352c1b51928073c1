#include "engine/cpu/bucket_split.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <utility>

#include "base/parallel.hpp"
#include "base/units.hpp"
#include "engine/cpu/piece_sort.hpp"
#include "engine/footprint.hpp"

namespace gsort::cpu {
namespace {

// What a look at a bucket tells: its range, and a sample for the next map.
template <class Key>
struct Look {
  Key least;
  Key greatest;
  std::vector<Key> sample;
};

struct PageOfKeys {
  PagePool::Page page;
  std::size_t count;
};

std::vector<PageOfKeys> pages_of(const Bucket& bucket, const PagePool& pool, std::size_t per_page) {
  std::vector<PageOfKeys> pages;
  for (const PageChain& chain : bucket.chains) {
    std::uint64_t left = chain.count;
    for (PagePool::Page page = chain.first; left > 0; page = pool.next(page)) {
      pages.push_back({page, static_cast<std::size_t>(std::min<std::uint64_t>(left, per_page))});
      left -= pages.back().count;
    }
  }
  return pages;
}

template <class Key>
std::span<const Key> keys_of(const PageOfKeys& page, const PagePool& pool) {
  return {reinterpret_cast<const Key*>(pool.address_of(page.page)), page.count};
}

// The range of all keys, and about kSampleKeys of them.
template <class Key>
Look<Key> look_at(std::span<const PageOfKeys> pages, const PagePool& pool, unsigned workers) {
  constexpr std::size_t kSampleKeys = std::size_t{1} << 14;
  Look<Key> look{static_cast<Key>(~Key{0}), 0, {}};
  const std::size_t from_each = div_up(kSampleKeys, pages.size());
  std::mutex mutex;
  std::atomic<std::size_t> next{0};
  run_workers(workers, [&](unsigned) {
    Look<Key> mine{static_cast<Key>(~Key{0}), 0, {}};
    for (std::size_t i = next++; i < pages.size(); i = next++) {
      const std::span<const Key> keys = keys_of<Key>(pages[i], pool);
      const KeyRange range = range_of(keys);
      mine.least = std::min(mine.least, static_cast<Key>(range.least));
      mine.greatest = std::max(mine.greatest, static_cast<Key>(range.greatest));
      const std::size_t stride = div_up(keys.size(), from_each);
      for (std::size_t at = 0; at < keys.size(); at += stride) mine.sample.push_back(keys[at]);
    }
    const std::scoped_lock lock(mutex);
    look.least = std::min(look.least, mine.least);
    look.greatest = std::max(look.greatest, mine.greatest);
    look.sample.insert(look.sample.end(), mine.sample.begin(), mine.sample.end());
  });
  return look;
}

// Deals the keys of one bucket out once; its pages go back to the pool one by one.
template <class Key>
std::vector<Bucket> split_once(Bucket bucket, std::uint64_t limit, PagePool& pool,
                               unsigned workers) {
  const auto pages = pages_of(bucket, pool, pool.page_bytes() / sizeof(Key));
  Look<Key> look = look_at<Key>(pages, pool, workers);
  if (look.least == look.greatest) {
    bucket.uniform = true;
    std::vector<Bucket> whole;
    whole.push_back(std::move(bucket));
    return whole;
  }
  const std::size_t wanted =
      std::clamp<std::uint64_t>(2 * div_up(bucket.count, limit), 2, CpuChunkFootprint::kMostSplit);
  const auto map = bucket.unsampled ? BucketMap<Key>::even(look.least, look.greatest, wanted)
                                    : BucketMap<Key>(look.sample, wanted);
  std::vector<Bucket> parts(wanted);
  std::mutex mutex;
  std::atomic<std::size_t> next{0};
  run_workers(workers, [&](unsigned) {
    Partitioner<Key> partitioner(map, pool);
    for (std::size_t i = next++; i < pages.size(); i = next++) {
      partitioner.add(keys_of<Key>(pages[i], pool));
      pool.give_back(pages[i].page);
    }
    const std::scoped_lock lock(mutex);
    partitioner.finish(parts);
  });
  std::erase_if(parts, [](const Bucket& part) { return part.count == 0; });
  for (Bucket& part : parts) part.unsampled = part.count > bucket.count / 2;
  return parts;
}

bool is_too_large(const Bucket& bucket, std::uint64_t limit) {
  return bucket.count > limit && !bucket.uniform;
}

// Splits `bucket` as often as needed, on one core, and appends the result to `done`.
template <class Key>
void split_fully(Bucket bucket, std::uint64_t limit, PagePool& pool, std::vector<Bucket>& done) {
  if (!is_too_large(bucket, limit)) {
    done.push_back(std::move(bucket));
    return;
  }
  for (Bucket& part : split_once<Key>(std::move(bucket), limit, pool, 1)) {
    split_fully<Key>(std::move(part), limit, pool, done);
  }
}

// All cores share one bucket after the other, as long as there are some so large that one core
// would still be busy with it when the others have nothing left.
template <class Key>
void split_giants(std::vector<Bucket>& buckets, std::uint64_t limit, PagePool& pool,
                  unsigned workers) {
  std::uint64_t total = 0;
  for (const Bucket& bucket : buckets) total += bucket.count;
  const std::uint64_t giant = std::max(limit, total / (4 * std::uint64_t{workers}));
  std::vector<Bucket> waiting(std::make_move_iterator(buckets.rbegin()),
                              std::make_move_iterator(buckets.rend()));
  buckets.clear();
  while (!waiting.empty()) {
    Bucket bucket = std::move(waiting.back());
    waiting.pop_back();
    if (!is_too_large(bucket, giant)) {
      buckets.push_back(std::move(bucket));
      continue;
    }
    auto parts = split_once<Key>(std::move(bucket), limit, pool, workers);
    std::move(parts.rbegin(), parts.rend(), std::back_inserter(waiting));
  }
}

}  // namespace

template <class Key>
void split_large_buckets(std::vector<Bucket>& buckets, std::uint64_t limit, PagePool& pool,
                         unsigned workers) {
  const auto large = [limit](const Bucket& bucket) { return is_too_large(bucket, limit); };
  if (std::ranges::none_of(buckets, large)) return;
  if (workers > 1) split_giants<Key>(buckets, limit, pool, workers);
  std::vector<std::vector<Bucket>> parts(buckets.size());
  std::atomic<std::size_t> next{0};
  run_workers(workers, [&](unsigned) {
    for (std::size_t i = next++; i < buckets.size(); i = next++) {
      split_fully<Key>(std::move(buckets[i]), limit, pool, parts[i]);
    }
  });
  buckets.clear();
  for (auto& some : parts) std::ranges::move(some, std::back_inserter(buckets));
}

template void split_large_buckets<std::uint32_t>(std::vector<Bucket>&, std::uint64_t, PagePool&,
                                                 unsigned);
template void split_large_buckets<std::uint64_t>(std::vector<Bucket>&, std::uint64_t, PagePool&,
                                                 unsigned);

}  // namespace gsort::cpu
