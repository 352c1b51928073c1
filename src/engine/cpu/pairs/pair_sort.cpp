#include "engine/cpu/pairs/pair_sort.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "element/key_loops.hpp"
#include "engine/cpu/bucket_map.hpp"
#include "engine/cpu/in_place/bucket_workers.hpp"
#include "engine/cpu/in_place/whole_array.hpp"
#include "engine/cpu/pairs/cached_pairs.hpp"
#include "engine/cpu/pairs/deal_pairs.hpp"

namespace gsort::cpu {
namespace {

constexpr std::size_t kSamplesPerBucket = 16;
constexpr std::size_t kMostSamples = std::size_t{1} << 14;
constexpr std::size_t kLineBytes = 64;

template <class Key>
constexpr bool kIsNarrow = sizeof(Key) < sizeof(std::uint32_t);

template <class Key>
KeyMap<Key> one_to_one(KeyMap<Key> classes) {
  classes.folds_classes = false;
  return classes;
}

template <class Key, class Value>
Pairs<Key, Value> arrays_in(std::span<std::byte> scratch, std::size_t count) {
  const std::size_t key_bytes = round_up(count * sizeof(Key), kLineBytes);
  return {reinterpret_cast<Key*>(scratch.data()),
          reinterpret_cast<Value*>(scratch.data() + key_bytes)};
}

// Takes the memory of all workers first, so that a sort that has begun can finish.
template <class Key, class Value>
class PairSort {
 public:
  using Side = Pairs<Key, Value>;
  using Source = PairSource<Key, Value>;
  using Fold = ClassFold<Key>;

  PairSort(const KeyMap<Key>& classes, std::size_t count, unsigned threads,
           const PairTuning& tuning)
      : classes_(classes),
        map_(one_to_one(classes)),
        fold_(classes),
        tuning_(tuning),
        most_buckets_(most_buckets_for(count, tuning)),
        workers_(count,
                 static_cast<unsigned>(std::clamp<std::size_t>(
                     count * (sizeof(Key) + sizeof(Value)) / tuning.worker_bytes, 1, threads))) {
    workers_.make(kIsNarrow<Key> ? kByteValues : buckets_for(count));
    for (std::size_t worker = 0; worker < workers_.count(); ++worker) {
      rooms_.emplace_back(kIsNarrow<Key> ? 0 : std::min(count, tuning.cached_pairs));
    }
  }

  void sort(std::span<Key> keys, Value* values, const Side& second) {
    if (are_in_order<Key>(keys, classes_, workers_.tasks())) return;
    const Side first{keys.data(), values};
    const Source source{keys.data(), values, keys.size()};
    if constexpr (kIsNarrow<Key>) {
      deal_by_byte(source, second, 0);
      if constexpr (sizeof(Key) > 1) {
        deal_by_byte({second.keys, second.values, keys.size()}, first, 8);
      } else {
        move(second, first, keys.size(), true, workers_.all());
      }
    } else {
      sort_dealt(source, second, [&](std::size_t begin, std::size_t /*count*/, Workers) {
        return first.from(begin);
      });
    }
  }

  void argsort(std::span<const Key> keys, Value* indices, const Side& second) {
    if (are_in_order<Key>(keys, classes_, workers_.tasks())) {
      return std::iota(indices, indices + keys.size(), Value{0});
    }
    const Source source{keys.data(), nullptr, keys.size()};
    if constexpr (sizeof(Key) == 1) {
      deal_by_byte(source, {nullptr, indices}, 0);
    } else if constexpr (kIsNarrow<Key>) {
      deal_by_byte(source, second, 0);
      deal_by_byte({second.keys, second.values, keys.size()}, {nullptr, indices}, 8);
    } else {
      sort_dealt(source, second, [&](std::size_t begin, std::size_t count, Workers workers) {
        Room& room = rooms_[workers_.number_of(workers)];
        if (count <= tuning_.cached_pairs) return Side{room.keys.data(), indices + begin};
        room.many_keys.resize(std::max(room.many_keys.size(), count));
        return Side{room.many_keys.data(), indices + begin};
      });
    }
  }

 private:
  using Workers = typename BucketWorkers<PairLines<Key, Value>>::Some;
  static constexpr std::size_t kByteValues = 256;

  // A worker's memory for the pairs of a bucket that it sorts. It is used for every bucket, so that
  // it stays in the cache.
  struct Room {
    explicit Room(std::size_t count) : keys(count), values(count) {}
    std::vector<Key> keys;
    std::vector<Value> values;
    std::vector<Key> many_keys;  // argsort: of a larger bucket; kept until the sort ends
  };

  void deal_by_byte(const Source& from, const Side& to, unsigned shift) {
    std::uint64_t begins[kByteValues + 1];
    const auto number = [&](const Key* keys, std::size_t count, Key* /*room*/,
                            std::uint16_t* numbers) {
      for (std::size_t i = 0; i < count; ++i) {
        numbers[i] = static_cast<std::uint16_t>(classes_.to_ordered(keys[i]) >> shift & 0xffU);
      }
      return keys;
    };
    deal_pairs<Key, Value>(from, to, begins, number, workers_.all(), workers_.tasks());
  }

  // More than usual, if the buckets then fit the cache.
  static std::size_t most_buckets_for(std::size_t count, const PairTuning& tuning) {
    const std::size_t usual = tuning.most_buckets;
    const std::size_t fitting =
        div_up(count, std::max<std::size_t>(tuning.cached_pairs * 2 / 3, 1));
    return fitting <= 2 * usual ? std::max(usual, fitting) : usual;
  }

  // Several buckets for each worker, so that no worker waits long for the last one.
  [[nodiscard]] std::size_t buckets_for(std::size_t count) const {
    constexpr std::size_t kLeastForEach = 4;
    const std::size_t least = workers_.count() == 1 ? 2 : kLeastForEach * workers_.count();
    const std::size_t bytes = count * (sizeof(Key) + sizeof(Value));
    return std::min(most_buckets_,
                    std::max<std::size_t>(div_up(bytes, tuning_.bucket_bytes), least));
  }

  [[nodiscard]] std::vector<Key> sample_of(std::span<const Key> keys,
                                           const KeyMap<Key>& map) const {
    std::vector<Key> sample(
        std::min({keys.size(), kMostSamples, kSamplesPerBucket * buckets_for(keys.size())}));
    const std::size_t step = keys.size() / sample.size();
    for (std::size_t i = 0; i < sample.size(); ++i) {
      sample[i] = fold_(map.to_ordered(keys[i * step]));
    }
    return sample;
  }

  // Deals the pairs of `from` out to `to`; maps their keys on the way.
  void deal(const Source& from, const Side& to, const KeyMap<Key>& map,
            const BucketMap<Key>& buckets, std::span<std::uint64_t> begins, Workers workers) {
    const auto number = [&](const Key* keys, std::size_t count, Key* room, std::uint16_t* numbers) {
      if (!map.is_identity()) {
        map_to_ordered<Key>({keys, count}, {room, count}, map);
        keys = room;
      }
      if (!fold_.folds) {
        buckets.number({keys, count}, numbers);
        return keys;
      }
      Key folded[kMostDealtAtOnce];
      fold_keys(fold_, keys, count, folded);
      buckets.number({folded, count}, numbers);
      return keys;
    };
    deal_pairs<Key, Value>(from, to, begins, number, workers, workers_.tasks());
  }

  // Deals out all pairs and sorts the buckets. place(begin, count, workers) returns where the
  // sorted pairs of a bucket go.
  template <class F>
  void sort_dealt(const Source& source, const Side& second, const F& place) {
    std::vector<Key> sample = sample_of({source.keys, source.count}, map_);
    const BucketMap<Key> map(sample, buckets_for(source.count));
    std::vector<std::uint64_t> begins(map.buckets() + 1);
    deal(source, second, map_, map, begins, workers_.all());
    workers_.for_each_bucket(begins, workers_.all(), [&](std::size_t bucket, Workers workers) {
      const std::size_t begin = begins[bucket];
      const std::size_t count = begins[bucket + 1] - begin;
      const Side to = place(begin, count, workers);
      if (map.holds_one_key(bucket)) {
        move(second.from(begin), to, count, true, workers);
      } else {
        sort_bucket(second.from(begin), to, count, true, count > source.count / 2, workers);
      }
      if (source.values != nullptr) end_bucket({to.keys, count}, workers);
    });
  }

  // Sorts pairs with ordered keys, to `other` or in place. is_unsampled: divides their range
  // evenly, because a sample hardly divided the array that they come from.
  void sort_bucket(const Side& from, const Side& other, std::size_t count, bool to_other,
                   bool is_unsampled, Workers workers) noexcept {
    const Side& to = to_other ? other : from;
    if (count <= tuning_.cached_pairs) {
      Room& room = rooms_[workers_.number_of(workers)];
      return sort_cached(from, {room.keys.data(), room.values.data()}, to, count, fold_);
    }
    const auto range = range_of_all<Key>({from.keys, count}, workers.size(), workers_.tasks());
    const KeyRange<Key> classes{fold_(range.least), fold_(range.greatest)};
    if (classes.least == classes.greatest) return move(from, other, count, to_other, workers);
    std::optional<BucketMap<Key>> map;
    std::vector<std::uint64_t> begins;
    try {
      const std::size_t buckets = buckets_for(count);
      std::vector<Key> sample = sample_of({from.keys, count}, {});
      map = is_unsampled ? BucketMap<Key>::even(classes.least, classes.greatest, buckets)
                         : BucketMap<Key>(sample, buckets);
      begins.resize(map->buckets() + 1);
    } catch (const std::exception&) {
      return sort_cached(from, other, to, count, fold_);
    }
    deal({from.keys, from.values, count}, other, {}, *map, begins, workers);
    workers_.for_each_bucket(begins, workers, [&](std::size_t bucket, Workers those) {
      const std::size_t begin = begins[bucket];
      const std::size_t size = begins[bucket + 1] - begin;
      if (map->holds_one_key(bucket)) {
        return move(other.from(begin), from.from(begin), size, !to_other, those);
      }
      sort_bucket(other.from(begin), from.from(begin), size, !to_other, size > count / 2, those);
    });
  }

  void move(const Side& from, const Side& other, std::size_t count, bool to_other,
            Workers workers) {
    if (!to_other) return;
    workers_.for_each_stretch(count, workers, [&](std::size_t begin, std::size_t size) {
      std::copy_n(from.keys + begin, size, other.keys + begin);
      std::copy_n(from.values + begin, size, other.values + begin);
    });
  }

  void end_bucket(std::span<Key> keys, Workers workers) {
    if (map_.is_identity()) return;
    workers_.for_each_stretch(keys.size(), workers, [&](std::size_t begin, std::size_t size) {
      const auto some = keys.subspan(begin, size);
      map_to_raw<Key>(some, some, map_);
    });
  }

  const KeyMap<Key> classes_;
  const KeyMap<Key> map_;
  const Fold fold_;
  const PairTuning tuning_;
  const std::size_t most_buckets_;
  BucketWorkers<PairLines<Key, Value>> workers_;
  std::vector<Room> rooms_;  // of each worker
};

// Sorts few pairs in the cache, with ordered keys of at least 32 bits. Writes the sorted raw keys
// to `sorted`, unless it is null.
template <class Key, class Value>
void sort_few(std::span<const Key> keys, Value* values, const KeyMap<Key>& classes, Key* sorted) {
  using Wide = std::conditional_t<kIsNarrow<Key>, std::uint32_t, Key>;
  const KeyMap<Key> map = one_to_one(classes);
  Wide ordered[kLeastDealtPairs - 1];
  for (std::size_t i = 0; i < keys.size(); ++i) ordered[i] = map.to_ordered(keys[i]);
  const Pairs<Wide, Value> pairs{ordered, values};
  sort_cached(pairs, pairs, pairs, keys.size(), ClassFold<Wide>(ClassFold<Key>(classes)));
  if (sorted == nullptr) return;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    sorted[i] = map.to_raw(static_cast<Key>(ordered[i]));
  }
}

// A whole array of so many is sorted in the cache by one thread; more are worth several threads.
std::size_t few_pairs(const PairTuning& tuning) {
  return tuning.cached_pairs / 2;
}

}  // namespace

template <class Key, class Value>
std::size_t pairs_scratch_bytes(std::size_t count) {
  if (count < kLeastDealtPairs) return 0;
  return round_up(count * sizeof(Key), kLineBytes) + count * sizeof(Value);
}

template <class Key, class Value>
void sort_pairs(std::span<Key> keys, std::span<Value> values, const KeyMap<Key>& classes,
                unsigned threads, std::span<std::byte> scratch, const PairTuning& tuning) {
  if (keys.size() < kLeastDealtPairs) {
    return sort_few<Key>(keys, values.data(), classes, keys.data());
  }
  const auto second = arrays_in<Key, Value>(scratch, keys.size());
  if constexpr (!kIsNarrow<Key>) {
    if (keys.size() <= few_pairs(tuning)) {
      const KeyMap<Key> map = one_to_one(classes);
      if (!map.is_identity()) map_to_ordered<Key>(keys, keys, map);
      const Pairs<Key, Value> first{keys.data(), values.data()};
      sort_cached(first, second, first, keys.size(), ClassFold<Key>(classes));
      if (!map.is_identity()) map_to_raw<Key>(keys, keys, map);
      return;
    }
  }
  PairSort<Key, Value>(classes, keys.size(), threads, tuning).sort(keys, values.data(), second);
}

template <class Key, class Value>
void argsort_keys(std::span<const Key> keys, std::span<Value> indices, const KeyMap<Key>& classes,
                  unsigned threads, std::span<std::byte> scratch, const PairTuning& tuning) {
  if (keys.size() < kLeastDealtPairs) {
    std::iota(indices.begin(), indices.end(), Value{0});
    return sort_few<Key, Value>(keys, indices.data(), classes, nullptr);
  }
  const auto second = arrays_in<Key, Value>(scratch, keys.size());
  if constexpr (!kIsNarrow<Key>) {
    if (keys.size() <= few_pairs(tuning)) {
      const auto ordered = std::make_unique_for_overwrite<Key[]>(keys.size());
      map_to_ordered<Key>(keys, {ordered.get(), keys.size()}, one_to_one(classes));
      std::iota(indices.begin(), indices.end(), Value{0});
      const Pairs<Key, Value> first{ordered.get(), indices.data()};
      sort_cached(first, second, first, keys.size(), ClassFold<Key>(classes));
      return;
    }
  }
  PairSort<Key, Value>(classes, keys.size(), threads, tuning).argsort(keys, indices.data(), second);
}

#define GSORT_INSTANTIATE(Key, Value)                                                              \
  template std::size_t pairs_scratch_bytes<Key, Value>(std::size_t);                               \
  template void sort_pairs(std::span<Key>, std::span<Value>, const KeyMap<Key>&, unsigned,         \
                           std::span<std::byte>, const PairTuning&);                               \
  template void argsort_keys(std::span<const Key>, std::span<Value>, const KeyMap<Key>&, unsigned, \
                             std::span<std::byte>, const PairTuning&);
GSORT_FOR_PAIRS(GSORT_INSTANTIATE)
#undef GSORT_INSTANTIATE

}  // namespace gsort::cpu
