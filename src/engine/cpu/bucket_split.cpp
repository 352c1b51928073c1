#include "engine/cpu/bucket_split.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "base/units.hpp"
#include "engine/cpu/cache_sort.hpp"
#include "engine/footprint.hpp"

namespace gsort::cpu {
namespace {

// The range of a bucket, and a sample for the next map.
template <class Key>
struct Look {
  Key least = static_cast<Key>(~Key{0});
  Key greatest = 0;
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

// The range of the keys, and of each page about `from_each`.
template <class Key>
Look<Key> look_at(std::span<const PageOfKeys> pages, std::size_t from_each, const PagePool& pool) {
  Look<Key> look;
  for (const PageOfKeys& page : pages) {
    const std::span<const Key> keys = keys_of<Key>(page, pool);
    const auto range = range_of(keys);
    look.least = std::min(look.least, range.least);
    look.greatest = std::max(look.greatest, range.greatest);
    const std::size_t stride = div_up(keys.size(), from_each);
    for (std::size_t at = 0; at < keys.size(); at += stride) look.sample.push_back(keys[at]);
  }
  return look;
}

// Large buckets are split at the same time, and the parts of each as soon as they exist. Several
// cores share a bucket that would keep one core busy after the others have finished.
template <class Key>
class BucketSplit {
 public:
  BucketSplit(const std::vector<Bucket>& buckets, std::uint64_t limit, PagePool& pool,
              TaskArena& tasks)
      : limit_(limit), pool_(pool), tasks_(tasks) {
    std::uint64_t total = 0;
    for (const Bucket& bucket : buckets) total += bucket.count;
    share_ = std::max<std::uint64_t>(total / (4 * std::uint64_t{tasks.workers()}), 1);
  }

  [[nodiscard]] std::vector<Bucket> split_all(std::vector<Bucket> buckets) {
    const auto is_large = [this](const Bucket& bucket) { return is_too_large(bucket); };
    if (std::ranges::none_of(buckets, is_large)) return buckets;
    std::vector<std::vector<Bucket>> parts(buckets.size());
    tasks_.for_each(buckets.size(), [&](std::size_t i) {
      if (is_too_large(buckets[i])) {
        parts[i] = split_all(split_once(std::move(buckets[i])));
      } else {
        parts[i].push_back(std::move(buckets[i]));
      }
    });
    std::vector<Bucket> all;
    for (auto& some : parts) std::ranges::move(some, std::back_inserter(all));
    return all;
  }

 private:
  using Pages = std::span<const PageOfKeys>;

  [[nodiscard]] bool is_too_large(const Bucket& bucket) const {
    return bucket.count > limit_ && !bucket.uniform;
  }

  // Deals the keys of one bucket out once; its pages go back to the pool one by one.
  std::vector<Bucket> split_once(Bucket bucket) {
    const auto pages = pages_of(bucket, pool_, pool_.page_bytes() / sizeof(Key));
    const auto cores = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(bucket.count / share_, 1, tasks_.workers()));
    Look<Key> look = look_at_all(pages, cores);
    if (look.least == look.greatest) {
      bucket.uniform = true;
      std::vector<Bucket> whole;
      whole.push_back(std::move(bucket));
      return whole;
    }
    const std::size_t wanted = std::clamp<std::uint64_t>(2 * div_up(bucket.count, limit_), 2,
                                                         CpuChunkFootprint::kMostSplit);
    const auto map = bucket.unsampled ? BucketMap<Key>::even(look.least, look.greatest, wanted)
                                      : BucketMap<Key>(look.sample, wanted);
    std::vector<Bucket> parts(wanted);
    std::mutex mutex;
    for_each_stretch(pages, cores, [&](std::size_t /*stretch*/, Pages some) {
      Partitioner<Key> partitioner(map, pool_);
      for (const PageOfKeys& page : some) {
        partitioner.add(keys_of<Key>(page, pool_));
        partitioner.reuse(page.page);
      }
      const std::scoped_lock lock(mutex);
      partitioner.finish(parts);
    });
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].uniform = map.holds_one_key(i);
    std::erase_if(parts, [](const Bucket& part) { return part.count == 0; });
    for (Bucket& part : parts) part.unsampled = part.count > bucket.count / 2;
    return parts;
  }

  Look<Key> look_at_all(Pages pages, std::size_t cores) {
    constexpr std::size_t kSampleKeys = std::size_t{1} << 14;
    const std::size_t from_each = div_up(kSampleKeys, pages.size());
    std::vector<Look<Key>> looks(cores);
    for_each_stretch(pages, cores, [&](std::size_t stretch, Pages some) {
      looks[stretch] = look_at<Key>(some, from_each, pool_);
    });
    Look<Key> all;
    for (const Look<Key>& look : looks) {
      all.least = std::min(all.least, look.least);
      all.greatest = std::max(all.greatest, look.greatest);
      all.sample.insert(all.sample.end(), look.sample.begin(), look.sample.end());
    }
    return all;
  }

  template <class F>
  void for_each_stretch(Pages pages, std::size_t stretches, const F& f) {
    tasks_.for_each(stretches, [&](std::size_t stretch) {
      const std::size_t begin = pages.size() * stretch / stretches;
      const std::size_t end = pages.size() * (stretch + 1) / stretches;
      f(stretch, pages.subspan(begin, end - begin));
    });
  }

  std::uint64_t limit_;
  std::uint64_t share_;  // of all keys for each core
  PagePool& pool_;
  TaskArena& tasks_;
};

}  // namespace

template <class Key>
void split_large_buckets(std::vector<Bucket>& buckets, std::uint64_t limit, PagePool& pool,
                         TaskArena& tasks) {
  BucketSplit<Key> split(buckets, limit, pool, tasks);
  buckets = split.split_all(std::move(buckets));
}

template void split_large_buckets<std::uint32_t>(std::vector<Bucket>&, std::uint64_t, PagePool&,
                                                 TaskArena&);
template void split_large_buckets<std::uint64_t>(std::vector<Bucket>&, std::uint64_t, PagePool&,
                                                 TaskArena&);
template void split_large_buckets<UInt128>(std::vector<Bucket>&, std::uint64_t, PagePool&,
                                           TaskArena&);

}  // namespace gsort::cpu
