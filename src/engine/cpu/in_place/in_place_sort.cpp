#include "engine/cpu/in_place/in_place_sort.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/tasks.hpp"
#include "base/units.hpp"
#include "element/key_loops.hpp"
#include "engine/cpu/bucket_map.hpp"
#include "engine/cpu/cache_sort.hpp"
#include "engine/cpu/in_place/block_partition.hpp"
#include "engine/cpu/in_place/halve.hpp"
#include "engine/cpu/in_place/whole_array.hpp"

namespace gsort::cpu {
namespace {

constexpr std::size_t kSamplesPerBucket = 16;
constexpr std::size_t kMostSamples = std::size_t{1} << 14;
constexpr std::size_t kMostHalved = 8;  // times what fits the cache; more keys are distributed

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

// Requires: scratch is as long as keys, if they need any. If a sorter cannot get memory of its own,
// a sorter that needs none takes its place.
template <class Key>
void sort_in_cache(std::span<Key> keys, std::span<Key> scratch) noexcept {
  try {
    cache_sort(keys, scratch);
  } catch (const std::exception&) {
    std::ranges::sort(keys);
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

template <class Key>
void sort_few(std::span<Key> raw, const KeyMap<Key>& map) {
  const auto scratch = scratch_for<Key>(raw.size());
  const std::size_t scratch_keys = scratch == nullptr ? 0 : raw.size();
  if (!map.is_identity()) map_to_ordered<Key>(raw, raw, map);
  sort_in_cache(raw, std::span(scratch.get(), scratch_keys));
  if (!map.is_identity()) map_to_raw<Key>(raw, raw, map);
}

// Takes the memory of all workers first, so that a sort that has begun can finish. Tasks are passed
// by reference (std::cref), because std::function may need memory for a copy of a task.
template <class Key>
class InPlaceSort {
 public:
  InPlaceSort(const KeyMap<Key>& map, std::size_t count, unsigned threads,
              const InPlaceTuning& tuning)
      : map_(map),
        cache_keys_(cache_bytes_of<Key>(tuning) / sizeof(Key)),
        bucket_keys_(tuning.bucket_bytes / sizeof(Key)),
        most_buckets_(most_buckets_of<Key>(tuning)),
        tasks_(static_cast<unsigned>(
            std::clamp<std::size_t>(count * sizeof(Key) / tuning.worker_bytes, 1, threads))),
        share_(div_up(count, tasks_.workers())) {
    const std::size_t buckets = buckets_for(count);
    for (unsigned worker = 0; worker < tasks_.workers(); ++worker) {
      buffers_.emplace_back(tuning.block_bytes / sizeof(Key), buckets);
      scratch_.push_back(scratch_for<Key>(cache_keys_));
      free_workers_.push_back(worker);
    }
  }

  void sort(std::span<Key> raw) {
    if (are_in_order<Key>(raw, map_, tasks_)) return;
    KeyMap<Key> reversed = map_;
    reversed.flip = static_cast<Key>(~map_.flip);
    if (are_in_order<Key>(raw, reversed, tasks_)) return reverse(raw, tasks_);
    if (tasks_.workers() == 1 && raw.size() / kMostHalved <= cache_keys_) {
      if (!map_.is_identity()) map_to_ordered<Key>(raw, raw, map_);
      return sort_bucket(raw, false, buffers_);
    }
    std::vector<Key> sample = sample_of(raw);
    map_to_ordered<Key>(sample, sample, map_);
    const BucketMap<Key> map(sample, buckets_for(raw.size()));
    BlockPartition<Key> partition(raw, map, buffers_, tasks_);
    sort_buckets(raw, map, partition.run(map_), buffers_);
  }

 private:
  using Workers = std::span<BlockBuffers<Key>>;

  // Several for each worker, so that none waits long for the last one.
  [[nodiscard]] std::size_t buckets_for(std::size_t count) const {
    constexpr std::size_t kLeastForEach = 4;
    const std::size_t least = tasks_.workers() == 1 ? 2 : kLeastForEach * tasks_.workers();
    return std::min(most_buckets_, std::max<std::size_t>(div_up(count, bucket_keys_), least));
  }

  [[nodiscard]] std::vector<Key> sample_of(std::span<const Key> keys) const {
    std::vector<Key> sample(
        std::min({keys.size(), kMostSamples, kSamplesPerBucket * buckets_for(keys.size())}));
    const std::size_t step = keys.size() / sample.size();
    for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = keys[i * step];
    return sample;
  }

  // Buckets larger than a worker's share are sorted by all workers, one after the other.
  void sort_buckets(std::span<Key> keys, const BucketMap<Key>& map,
                    std::span<const std::uint64_t> begins, Workers workers) noexcept {
    const auto bucket = [&](std::size_t i) {
      return keys.subspan(begins[i], begins[i + 1] - begins[i]);
    };
    const auto is_for_all = [&](std::size_t i) {
      return workers.size() > 1 && bucket(i).size() > share_;
    };
    const auto sort = [&](std::size_t i, Workers those) {
      if (map.holds_one_key(i)) return end_bucket(bucket(i), those.size() > 1);
      sort_bucket(bucket(i), bucket(i).size() > keys.size() / 2, those);
    };
    for (std::size_t i = 0; i < map.buckets(); ++i) {
      if (is_for_all(i)) sort(i, workers);
    }
    if (workers.size() == 1) {
      for (std::size_t i = 0; i < map.buckets(); ++i) sort(i, workers);
      return;
    }
    const auto sort_one = [&](std::size_t i) {
      if (is_for_all(i)) return;
      const std::size_t worker = take_worker();
      sort(i, Workers(&buffers_[worker], 1));
      give_back(worker);
    };
    tasks_.for_each(map.buckets(), std::cref(sort_one));
  }

  // Halves keys and sorts both parts. False if they are too many, or the pivot hardly divides them.
  bool sort_halves(std::span<Key> keys, Workers workers) noexcept {
    if (workers.size() > 1 || keys.size() / kMostHalved > cache_keys_) return false;
    const std::size_t below = halve(keys);
    if (std::min(below, keys.size() - below) < keys.size() / 16) return false;
    sort_bucket(keys.first(below), false, workers);
    sort_bucket(keys.subspan(below), false, workers);
    return true;
  }

  // Sorts ordered keys and makes them raw. `is_unsampled`: a sample did not help to divide the
  // array that they come from.
  void sort_bucket(std::span<Key> keys, bool is_unsampled, Workers workers) noexcept {
    if (keys.size() <= cache_keys_) {
      Key* const scratch = scratch_[number_of(workers)].get();
      sort_in_cache(keys, std::span(scratch, scratch == nullptr ? 0 : keys.size()));
      return end_bucket(keys, false);
    }
    if (sort_halves(keys, workers)) return;
    const auto [least, greatest] = range_of_all<Key>(keys, workers.size(), tasks_);
    if (least == greatest) return end_bucket(keys, workers.size() > 1);
    std::optional<BucketMap<Key>> map;
    std::optional<BlockPartition<Key>> partition;
    try {
      const std::size_t buckets = buckets_for(keys.size());
      std::vector<Key> sample = sample_of(keys);
      map = is_unsampled ? BucketMap<Key>::even(least, greatest, buckets)
                         : BucketMap<Key>(sample, buckets);
      partition.emplace(keys, *map, workers, tasks_);
    } catch (const std::exception&) {
      std::ranges::sort(keys);
      return end_bucket(keys, false);
    }
    sort_buckets(keys, *map, partition->run({}), workers);
  }

  // Makes sorted keys raw.
  void end_bucket(std::span<Key> keys, bool by_all) {
    if (map_.is_identity()) return;
    if (!by_all) return map_to_raw<Key>(keys, keys, map_);
    const auto map_some = [&](std::size_t stretch) {
      const auto from = keys.subspan(stretch * kStretchKeys);
      const auto some = from.first(std::min(from.size(), kStretchKeys));
      map_to_raw<Key>(some, some, map_);
    };
    tasks_.for_each(div_up(keys.size(), kStretchKeys), std::cref(map_some));
  }

  [[nodiscard]] std::size_t number_of(Workers workers) const {
    return static_cast<std::size_t>(workers.data() - buffers_.data());
  }

  [[nodiscard]] std::size_t take_worker() {
    const std::scoped_lock lock(mutex_);
    const std::size_t worker = free_workers_.back();
    free_workers_.pop_back();
    return worker;
  }

  void give_back(std::size_t worker) {
    const std::scoped_lock lock(mutex_);
    free_workers_.push_back(worker);
  }

  KeyMap<Key> map_;
  std::size_t cache_keys_;   // at most this many are sorted in the cache
  std::size_t bucket_keys_;  // wanted
  std::size_t most_buckets_;
  TaskArena tasks_;
  std::size_t share_;                            // of the keys, of one worker
  std::vector<BlockBuffers<Key>> buffers_;       // of each worker
  std::vector<std::unique_ptr<Key[]>> scratch_;  // of each worker
  std::mutex mutex_;
  std::vector<std::size_t> free_workers_;
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
