#include "engine/cpu/in_place/in_place_sort.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/tasks.hpp"
#include "base/units.hpp"
#include "element/key_loops.hpp"
#include "engine/cpu/bucket_map.hpp"
#include "engine/cpu/cache_sort.hpp"
#include "engine/cpu/in_place/block_partition.hpp"
#include "engine/cpu/in_place/bucket_workers.hpp"
#include "engine/cpu/in_place/halve.hpp"
#include "engine/cpu/in_place/whole_array.hpp"

namespace gsort::cpu {
namespace {

constexpr std::size_t kSamplesPerBucket = 16;
constexpr std::size_t kMostSamples = std::size_t{1} << 14;
constexpr std::size_t kMostHalved = 32;  // times what fits the cache; more keys are distributed

template <class Key>
void reverse(std::span<Key> keys, TaskArena& tasks) {
  const std::size_t half = keys.size() / 2;
  const auto swap = [&](std::size_t stretch) {
    const std::size_t begin = stretch * kStretchKeys;
    const std::size_t end = std::min(half, begin + kStretchKeys);
    std::swap_ranges(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                     keys.begin() + static_cast<std::ptrdiff_t>(end),
                     keys.rbegin() + static_cast<std::ptrdiff_t>(begin));
  };
  tasks.for_each(div_up(half, kStretchKeys), std::cref(swap));
}

// Requires: scratch is as long as keys, if they need any; keys of this width have been mapped
// before, so that a map takes no memory. If a sorter cannot get memory of its own, a sorter that
// needs none takes its place.
template <class Key>
void sort_in_cache(std::span<Key> keys, std::span<Key> scratch,
                   const CacheForms<Key>& forms) noexcept {
  try {
    cache_sort(keys, scratch, forms);
  } catch (const std::exception&) {
    std::ranges::sort(keys);
    if (forms.to_raw != nullptr) map_to_raw<Key>(keys, keys, *forms.to_raw);
  }
}

// As many keys as fit the cache, beside their scratch memory if they need it: distributing these
// costs more than it saves.
template <class Key>
std::size_t cache_bytes_of(const InPlaceTuning& tuning) {
  if (tuning.cache_bytes > 0) return tuning.cache_bytes;
  return std::size_t{sizeof(Key) > sizeof(std::uint32_t) ? 768 : 384} << 10;
}

template <class Key>
std::size_t most_buckets_of(const InPlaceTuning& tuning) {
  if (tuning.most_buckets > 0) return tuning.most_buckets;
  return sizeof(Key) > sizeof(std::uint32_t) ? 512 : 256;
}

template <class Key>
std::unique_ptr<Key[]> scratch_for(std::size_t keys) {
  if (keys < kLeastScratchKeys || sizeof(Key) > sizeof(std::uint64_t)) return nullptr;
  return std::make_unique_for_overwrite<Key[]>(keys);
}

// A buffer of kLeastSharedBytes. One is kept from sort to sort: the first use of fresh pages would
// take longer than the sort.
class KeptBuffer {
 public:
  KeptBuffer() : bytes_(kept_.exchange(nullptr)) {
    if (!bytes_) bytes_ = std::make_unique_for_overwrite<std::byte[]>(kLeastSharedBytes);
  }
  ~KeptBuffer() { bytes_.reset(kept_.exchange(bytes_.release())); }
  KeptBuffer(const KeptBuffer&) = delete;
  KeptBuffer& operator=(const KeptBuffer&) = delete;

  template <class Key>
  [[nodiscard]] std::span<Key> first(std::size_t keys) const {
    return {reinterpret_cast<Key*>(bytes_.get()), keys};
  }

 private:
  static inline constinit std::atomic<std::byte*> kept_{nullptr};
  std::unique_ptr<std::byte[]> bytes_;
};

template <class Key>
void sort_few(std::span<Key> raw, const KeyMap<Key>& map, std::span<Key> scratch) {
  const KeyMap<Key>* const used = map.is_identity() ? nullptr : &map;
  // The first map of a process takes memory. If there is none, the keys must be unchanged.
  if (used != nullptr) map_to_ordered<Key>({}, {}, map);
  sort_in_cache(raw, scratch, {used, used});
}

template <class Key>
void sort_few(std::span<Key> raw, const KeyMap<Key>& map) {
  constexpr std::size_t kLeastKept = 64 * kKiB;  // for less, the heap has pages that were used
  const std::size_t bytes = raw.size_bytes();
  if (sizeof(Key) <= sizeof(std::uint64_t) && bytes >= kLeastKept && bytes <= kLeastSharedBytes) {
    return sort_few(raw, map, KeptBuffer().first<Key>(raw.size()));
  }
  const auto scratch = scratch_for<Key>(raw.size());
  sort_few(raw, map, std::span(scratch.get(), scratch == nullptr ? 0 : raw.size()));
}

// Takes the memory of all workers first, so that a sort that has begun can finish.
template <class Key>
class InPlaceSort {
 public:
  InPlaceSort(const KeyMap<Key>& map, std::size_t count, unsigned threads,
              const InPlaceTuning& tuning)
      : map_(map),
        cache_keys_(cache_bytes_of<Key>(tuning) / sizeof(Key)),
        bucket_keys_(tuning.bucket_bytes / sizeof(Key)),
        most_buckets_(most_buckets_of<Key>(tuning)),
        workers_(count, static_cast<unsigned>(std::clamp<std::size_t>(
                            count * sizeof(Key) / tuning.worker_bytes, 1, threads))) {
    workers_.make(tuning.block_bytes / sizeof(Key), buckets_for(count));
    for (std::size_t worker = 0; worker < workers_.count(); ++worker) {
      scratch_.push_back(scratch_for<Key>(cache_keys_));
    }
  }

  void sort(std::span<Key> raw) {
    TaskArena& tasks = workers_.tasks();
    if (are_in_order<Key>(raw, map_, tasks)) return;
    KeyMap<Key> reversed = map_;
    reversed.flip = static_cast<Key>(~map_.flip);
    if (are_in_order<Key>(raw, reversed, tasks)) return reverse(raw, tasks);
    const bool is_halved = workers_.count() == 1 && raw.size() / kMostHalved <= cache_keys_;
    if (is_halved && can_halve(sizeof(Key))) {
      const std::size_t below = halve(raw, map_);
      if (!sort_parts(raw, below, workers_.all())) sort_bucket(raw, false, workers_.all());
      return;
    }
    std::vector<Key> sample = sample_of(raw);
    map_to_ordered<Key>(sample, sample, map_);
    const BucketMap<Key> map(sample, buckets_for(raw.size()));
    BlockPartition<Key> partition(raw, map, workers_.all(), tasks);
    sort_buckets(raw, map, partition.run(map_), workers_.all());
  }

 private:
  using Workers = typename BucketWorkers<BlockBuffers<Key>>::Some;

  // Several for each worker, so that none waits long for the last one.
  [[nodiscard]] std::size_t buckets_for(std::size_t count) const {
    constexpr std::size_t kLeastForEach = 4;
    const std::size_t least = workers_.count() == 1 ? 2 : kLeastForEach * workers_.count();
    return std::min(most_buckets_, std::max<std::size_t>(div_up(count, bucket_keys_), least));
  }

  [[nodiscard]] std::vector<Key> sample_of(std::span<const Key> keys) const {
    std::vector<Key> sample(
        std::min({keys.size(), kMostSamples, kSamplesPerBucket * buckets_for(keys.size())}));
    const std::size_t step = keys.size() / sample.size();
    for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = keys[i * step];
    return sample;
  }

  void sort_buckets(std::span<Key> keys, const BucketMap<Key>& map,
                    std::span<const std::uint64_t> begins, Workers workers) noexcept {
    workers_.for_each_bucket(begins, workers, [&](std::size_t i, Workers those) {
      const auto bucket = keys.subspan(begins[i], begins[i + 1] - begins[i]);
      if (map.holds_one_key(i)) return end_bucket(bucket, those);
      sort_bucket(bucket, bucket.size() > keys.size() / 2, those);
    });
  }

  // Halves keys and sorts both parts. False if they are too many, or the pivot hardly divides them.
  bool sort_halves(std::span<Key> keys, Workers workers) noexcept {
    if (workers.size() > 1 || keys.size() / kMostHalved > cache_keys_) return false;
    return sort_parts(keys, halve(keys), workers);
  }

  // False if one part has hardly any keys.
  bool sort_parts(std::span<Key> keys, std::size_t below, Workers workers) noexcept {
    if (std::min(below, keys.size() - below) < keys.size() / 16) return false;
    sort_bucket(keys.first(below), false, workers);
    sort_bucket(keys.subspan(below), false, workers);
    return true;
  }

  // Sorts ordered keys and makes them raw. `is_unsampled`: a sample did not help to divide the
  // array that they come from.
  void sort_bucket(std::span<Key> keys, bool is_unsampled, Workers workers) noexcept {
    if (keys.size() <= cache_keys_) {
      Key* const scratch = scratch_[workers_.number_of(workers)].get();
      return sort_in_cache(keys, std::span(scratch, scratch == nullptr ? 0 : keys.size()),
                           {nullptr, map_.is_identity() ? nullptr : &map_});
    }
    if (sort_halves(keys, workers)) return;
    const auto [least, greatest] = range_of_all<Key>(keys, workers.size(), workers_.tasks());
    if (least == greatest) return end_bucket(keys, workers);
    std::optional<BucketMap<Key>> map;
    std::optional<BlockPartition<Key>> partition;
    try {
      const std::size_t buckets = buckets_for(keys.size());
      std::vector<Key> sample = sample_of(keys);
      map = is_unsampled ? BucketMap<Key>::even(least, greatest, buckets)
                         : BucketMap<Key>(sample, buckets);
      partition.emplace(keys, *map, workers, workers_.tasks());
    } catch (const std::exception&) {
      std::ranges::sort(keys);
      return end_bucket(keys, workers);
    }
    sort_buckets(keys, *map, partition->run({}), workers);
  }

  // Makes sorted keys raw.
  void end_bucket(std::span<Key> keys, Workers workers) {
    if (map_.is_identity()) return;
    workers_.for_each_stretch(keys.size(), workers, [&](std::size_t begin, std::size_t size) {
      const auto some = keys.subspan(begin, size);
      map_to_raw<Key>(some, some, map_);
    });
  }

  KeyMap<Key> map_;
  std::size_t cache_keys_;   // at most this many are sorted in the cache
  std::size_t bucket_keys_;  // wanted
  std::size_t most_buckets_;
  BucketWorkers<BlockBuffers<Key>> workers_;
  std::vector<std::unique_ptr<Key[]>> scratch_;  // of each worker
};

}  // namespace

template <class Key>
void sort_in_place(std::span<Key> keys, const KeyMap<Key>& map, unsigned threads,
                   const InPlaceTuning& tuning) {
  const std::size_t few_bytes = tuning.cache_bytes > 0 ? tuning.cache_bytes : kLeastSharedBytes;
  if (keys.size_bytes() <= few_bytes) return sort_few(keys, map);
  InPlaceSort<Key>(map, keys.size(), threads, tuning).sort(keys);
}

template void sort_in_place(std::span<std::uint32_t>, const KeyMap<std::uint32_t>&, unsigned,
                            const InPlaceTuning&);
template void sort_in_place(std::span<std::uint64_t>, const KeyMap<std::uint64_t>&, unsigned,
                            const InPlaceTuning&);
template void sort_in_place(std::span<UInt128>, const KeyMap<UInt128>&, unsigned,
                            const InPlaceTuning&);

}  // namespace gsort::cpu
