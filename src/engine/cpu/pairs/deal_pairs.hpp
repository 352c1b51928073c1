// deal_pairs: deals pairs out to buckets, stably, from one pair of arrays to another.
//
// Workers read the pairs twice, and take stripes of them until none is left. First they count the
// pairs of each bucket. The counts of all stripes give the place of each stripe's pairs in a
// bucket: behind those of the stripes before it. Then they collect pairs in lines, one for each
// bucket, and write a line when it is full, so that memory is written once for many pairs.
//
// Cost. Two reads of the keys, one of the values, one write of both. For each worker, memory for a
// line of each bucket and for the counts of kStripes stripes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/tasks.hpp"
#include "engine/cpu/in_place/past_cache.hpp"
#include "engine/cpu/in_place/read_ahead.hpp"
#include "engine/cpu/pairs/cached_pairs.hpp"

namespace gsort::cpu {

// The memory that one worker needs to deal out to at most `buckets` buckets.
template <class Key, class Value>
class PairLines {
 public:
  static constexpr std::size_t kLinePairs = 16;
  static constexpr std::size_t kStripes = 4;  // per worker: none waits long for a slow one
  struct alignas(64) Line {
    Key keys[kLinePairs];
    Value values[kLinePairs];
  };

  // Throws: std::bad_alloc.
  explicit PairLines(std::size_t buckets)
      : lines_(new Line[buckets]), begins_(buckets), counts_(kStripes * buckets) {}

  // The counts of one stripe's pairs in each bucket; deal_pairs() replaces them by the places where
  // these pairs begin. Requires: stripe < kStripes.
  [[nodiscard]] std::span<std::uint64_t> counts(std::size_t stripe) {
    return std::span(counts_).subspan(stripe * begins_.size(), begins_.size());
  }

  // Begins a stripe, whose counts may be another worker's. `places`: where its pairs begin in each
  // bucket; add() advances them. `count`: the pairs of all buckets.
  void begin(std::span<std::uint64_t> places, std::uint64_t count) {
    std::ranges::copy(places, begins_.begin());
    next_ = places.data();
    count_ = count;
  }

  void add(const Key* keys, const Value* values, const std::uint16_t* numbers, std::size_t count,
           const Pairs<Key, Value>& to) {
    Line* const lines = lines_.get();
    std::uint64_t* const next = next_;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t bucket = numbers[i];
      const std::uint64_t place = next[bucket]++;
      const std::size_t at = place % kLinePairs;
      lines[bucket].keys[at] = keys[i];
      lines[bucket].values[at] = values[i];
      if (at == kLinePairs - 1) write(bucket, place + 1, to);
    }
  }

  void finish(std::size_t buckets, const Pairs<Key, Value>& to) {
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
      if (next_[bucket] % kLinePairs > 0) write(bucket, next_[bucket], to);
    }
  }

 private:
  // Writes the line that holds the pairs before `end`.
  void write(std::size_t bucket, std::uint64_t end, const Pairs<Key, Value>& to) {
    if (end > count_) return;  // keys have changed since they were counted
    const Line& line = lines_[bucket];
    const std::uint64_t first = (end - 1) / kLinePairs * kLinePairs;
    if (first < begins_[bucket] || end - first < kLinePairs) {
      const std::uint64_t begin = std::max(first, begins_[bucket]);
      if (begin >= end) return;
      if (to.keys != nullptr) {
        std::memcpy(to.keys + begin, line.keys + begin % kLinePairs, (end - begin) * sizeof(Key));
      }
      std::memcpy(to.values + begin, line.values + begin % kLinePairs,
                  (end - begin) * sizeof(Value));
      return;
    }
    if (to.keys != nullptr) store(line.keys, to.keys + first);
    store(line.values, to.values + first);
  }

  template <class T>
  static void store(const T (&from)[kLinePairs], T* to) {
    if (sizeof from % kCacheLineBytes > 0 ||
        reinterpret_cast<std::uintptr_t>(to) % kCacheLineBytes > 0) {
      std::memcpy(to, from, sizeof from);
      return;
    }
    for (std::size_t at = 0; at < kLinePairs; at += kCacheLineBytes / sizeof(T)) {
      store_line_past_cache(from + at, to + at);
    }
  }

  std::unique_ptr<Line[]> lines_;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> begins_;
  std::uint64_t* next_ = nullptr;
  std::vector<std::uint64_t> counts_;
};

// The pairs to be dealt out. If `values` is null, the value of a pair is its index.
template <class Key, class Value>
struct PairSource {
  const Key* keys;
  const Value* values;
  std::size_t count;
};

inline constexpr std::size_t kMostDealtAtOnce = 512;

// Deals the pairs of `from` out to buckets in `to`. Writes to `begins` where each bucket begins,
// and then where the last one ends. If to.keys is null, only values are written. number(keys,
// count, room, numbers) writes the bucket of each key to `numbers`, and returns the keys to write:
// `keys`, or others that it puts into `room`. It is called twice for each key, with at most
// kMostDealtAtOnce keys at a time. Requires: begins.size() is the number of buckets plus one; all
// workers have room for this many buckets. If keys change meanwhile, some pairs are not written,
// but nothing outside of `to` is. Does not throw.
template <class Key, class Value, class Number>
void deal_pairs(const PairSource<Key, Value>& from, const Pairs<Key, Value>& to,
                std::span<std::uint64_t> begins, const Number& number,
                std::span<PairLines<Key, Value>> workers, TaskArena& tasks) {
  constexpr std::size_t kStretch = kMostDealtAtOnce;
  const std::size_t buckets = begins.size() - 1;
  using Lines = PairLines<Key, Value>;
  const std::size_t stripes = workers.size() == 1 ? 1 : workers.size() * Lines::kStripes;
  const auto counts_of = [&](std::size_t stripe) {
    return workers[stripe / Lines::kStripes].counts(stripe % Lines::kStripes);
  };
  // Calls f(lines, stripe) for each stripe, with the lines of the worker that takes it.
  const auto for_each_stripe = [&](const auto& f) {
    std::atomic<std::size_t> taken{0};
    const auto work = [&](std::size_t worker) {
      for (std::size_t stripe = taken++; stripe < stripes; stripe = taken++) {
        f(workers[worker], stripe);
      }
      finish_stores_past_cache();
    };
    if (workers.size() == 1) return work(0);
    tasks.for_each(workers.size(), std::cref(work));
  };
  const auto for_each_stretch = [&](std::size_t stripe, const auto& f) {
    Key room[kStretch];
    std::uint16_t numbers[kStretch];
    const std::size_t end = from.count * (stripe + 1) / stripes;
    for (std::size_t at = from.count * stripe / stripes; at < end; at += kStretch) {
      const std::size_t count = std::min(kStretch, end - at);
      const Key* const keys = number(from.keys + at, count, room, numbers);
      read_ahead(from.keys + at, count * sizeof(Key));
      f(at, count, keys, numbers);
    }
  };
  for_each_stripe([&](Lines& /*lines*/, std::size_t stripe) {
    const auto counts = counts_of(stripe);
    std::ranges::fill(counts, 0);
    for_each_stretch(stripe,
                     [&](std::size_t, std::size_t count, const Key*, const std::uint16_t* numbers) {
                       for (std::size_t i = 0; i < count; ++i) ++counts[numbers[i]];
                     });
  });
  std::uint64_t begin = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    begins[bucket] = begin;
    for (std::size_t stripe = 0; stripe < stripes; ++stripe) {
      begin += std::exchange(counts_of(stripe)[bucket], begin);
    }
  }
  begins[buckets] = begin;
  for_each_stripe([&](Lines& lines, std::size_t stripe) {
    lines.begin(counts_of(stripe), from.count);
    for_each_stretch(stripe, [&](std::size_t at, std::size_t count, const Key* keys,
                                 const std::uint16_t* numbers) {
      if (from.values != nullptr) {
        read_ahead(from.values + at, count * sizeof(Value));
        return lines.add(keys, from.values + at, numbers, count, to);
      }
      Value own[kStretch];
      for (std::size_t i = 0; i < count; ++i) own[i] = static_cast<Value>(at + i);
      lines.add(keys, own, numbers, count, to);
    });
    lines.finish(buckets, to);
  });
}

}  // namespace gsort::cpu
