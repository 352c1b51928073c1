// vector_sort: sorts keys in the cache by vector instructions, for the instruction set that the
// including file is compiled for.
//
// Few keys are sorted in registers (row_sort-inl.hpp), and keys of few values are counted. Other
// keys are dealt out to buckets that mostly fit the registers and divide the range from the least
// to the greatest key evenly: one pass counts the keys, one moves them to free memory, and each
// bucket is sorted back to its place. If a sample shows that many keys crowd in a part of the
// range, as floats do at each power of two, they are only partitioned. A bucket that does not fit
// is divided as in a quicksort. A partition reads the keys once: it packs the keys of a vector that
// are below the pivot and appends them to one side, and the others to the other side. One side is
// the keys' own array (it never passes the place that is read), the other side is free memory of
// the same size; the parts are then sorted back to their places.
//
// Sorted slices are merged the same way, but nothing is counted: the keys of a bucket are at the
// front of what is left of each slice. A vector of keys is compared with the bucket's last key and
// written as a whole; keys of later buckets are overwritten. If there are many slices, buckets of
// 32-bit keys are twice as large, and each is divided in two before it is sorted. Short slices are
// first sorted into one. The caller sorts slices whose keys crowd.
//
// Cost. Two reads and two writes of evenly spread keys. A partition moves each key once, in about
// half a cycle. A pivot is a median of a sample; after twice as many partitions as an even split
// needs, the caller sorts what is left.
//
// Source: Bramas, "A novel hybrid quicksort algorithm vectorized using AVX-512" (2017),
// doi:10.14569/IJACSA.2017.081044.

#if defined(GSORT_ENGINE_VECTOR_SORT) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_ENGINE_VECTOR_SORT
#undef GSORT_ENGINE_VECTOR_SORT
#else
#define GSORT_ENGINE_VECTOR_SORT
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <hwy/highway.h>

#include "engine/cpu/in_place/read_ahead.hpp"
#include "engine/cpu/in_place/row_sort-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gsort::cpu::HWY_NAMESPACE {
namespace vector_sort {

#if GSORT_HAS_VECTOR_SORT

template <class Key>
HWY_INLINE Key median(Key a, Key b, Key c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

template <class Key>
HWY_ATTR Key choose_pivot(const Key* keys, std::size_t count) {
  if (count < 2048) {
    const std::size_t step = count / 9;
    const auto of_three = [&](std::size_t i) {
      return median(keys[i * step], keys[(i + 1) * step], keys[(i + 2) * step]);
    };
    return median(of_three(0), of_three(3), of_three(6));
  }
  constexpr std::size_t kSample = 4 * hn::MaxLanes(hn::ScalableTag<Key>());
  Key sample[kSample];
  for (std::size_t i = 0; i < kSample; ++i) sample[i] = keys[i * (count / kSample)];
  sort_rows<4>(sample, kSample, sample);
  return sample[kSample / 2];
}

// Packs the lanes of the mask to the front; the others are undefined. Highway 1.0 looks lanes up in
// tables that GCC copies to the stack each time.
#if HWY_MAX_BYTES == 64
HWY_INLINE hn::Vec512<std::uint32_t> pack(hn::Vec512<std::uint32_t> v,
                                          hn::Mask512<std::uint32_t> lanes) {
  return hn::Compress(v, lanes);
}
HWY_INLINE hn::Vec512<std::uint64_t> pack(hn::Vec512<std::uint64_t> v,
                                          hn::Mask512<std::uint64_t> lanes) {
  return hn::Vec512<std::uint64_t>{_mm512_maskz_compress_epi64(lanes.raw, v.raw)};
}
#else
// For each mask: the words (of 32 bits) of its lanes, which come first.
template <std::size_t kLanes, std::size_t kWords>
constexpr auto make_packings() {
  std::array<std::array<std::uint8_t, kLanes * kWords>, std::size_t{1} << kLanes> packings{};
  for (std::size_t mask = 0; mask < packings.size(); ++mask) {
    for (std::size_t lane = 0, at = 0; lane < kLanes; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      for (std::size_t word = 0; word < kWords; ++word) {
        packings[mask][at++] = static_cast<std::uint8_t>(lane * kWords + word);
      }
    }
  }
  return packings;
}
template <std::size_t kLanes, std::size_t kWords>
alignas(64) inline constexpr auto kPackings = make_packings<kLanes, kWords>();

template <class V, class M>
HWY_INLINE V pack(V v, M lanes) {
  const hn::DFromV<V> d;
  const hn::Repartition<std::uint32_t, decltype(d)> words;
  const hn::Rebind<std::uint8_t, decltype(words)> bytes;
  constexpr std::size_t kWords = sizeof(hn::TFromV<V>) / sizeof(std::uint32_t);
  std::uint8_t mask[8];
  hn::StoreMaskBits(d, lanes, mask);
  const auto& from = kPackings<hn::MaxLanes(d), kWords>[mask[0]];
  const auto indices =
      hn::IndicesFromVec(words, hn::PromoteTo(words, hn::LoadU(bytes, from.data())));
  return hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(words, v), indices));
}
#endif

// Appends keys below the pivot, or with kTakesEqual those not above it, to `low`, and the others to
// `high`. Returns how many are in low. Requires: one of them is `keys`, the other has room for all.
template <bool kTakesEqual, class Key>
HWY_ATTR HWY_NOINLINE std::size_t partition(const Key* keys, std::size_t count, Key pivot, Key* low,
                                            Key* high) {
  const hn::ScalableTag<Key> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto pivots = hn::Set(d, pivot);
  std::size_t in_low = 0;
  std::size_t at = 0;
  for (; at + lanes <= count; at += lanes) {
    const auto some = hn::LoadU(d, keys + at);
    const auto above = kTakesEqual ? hn::Lt(pivots, some) : hn::Not(hn::Lt(some, pivots));
    const std::size_t below = lanes - hn::CountTrue(d, above);
    hn::StoreU(pack(some, hn::Not(above)), d, low + in_low);
    hn::StoreU(pack(some, above), d, high + (at - in_low));
    in_low += below;
  }
  for (; at < count; ++at) {
    const Key key = keys[at];
    const bool is_low = kTakesEqual ? key <= pivot : key < pivot;
    (is_low ? low[in_low] : high[at - in_low]) = key;
    in_low += is_low ? 1 : 0;
  }
  return in_low;
}

// Sorts keys to `home`, which is `keys` or `other`; both have room for all of them. After `depth`
// partitions calls fall_back(keys to sort in place, scratch, count).
template <class Key, class FallBack>
HWY_ATTR void sort(Key* keys, Key* other, Key* home, std::size_t count, unsigned depth,
                   const FallBack& fall_back) {
  while (count > kMostInRows<Key>) {
    Key* const away = home == keys ? other : keys;
    if (depth-- == 0) {
      if (home != keys) std::memcpy(home, keys, count * sizeof(Key));
      return fall_back(home, away, count);
    }
    const Key pivot = choose_pivot(keys, count);
    const std::size_t below = partition<false>(keys, count, pivot, home, away);
    if (below > 0) {
      sort(home, away + (count - below), home, below, depth, fall_back);
      keys = away;
      home += below;
      count -= below;
    } else {  // the pivot is the least key: keys equal to it are in their place
      const std::size_t equal = partition<true>(away, count, pivot, home, away);
      keys = away;
      home += equal;
      count -= equal;
    }
    other = home;
  }
  sort_few(keys, count, home);
}

// Returns enough partitions for keys that a sample divides.
inline unsigned depth_for(std::size_t count) {
  return 2 * static_cast<unsigned>(std::bit_width(count)) + 8;
}

// Divides [least, greatest] into buckets of equal widths.
template <class Key>
class EvenBuckets {
 public:
  EvenBuckets(Key least, Key greatest, std::size_t wanted) : least_(least) {
    const auto range = static_cast<std::uint64_t>(greatest - least);
    const auto width = static_cast<unsigned>(std::bit_width(range));
    shift_ = width > 32 ? width - 32 : 0;
    const std::uint64_t values = (range >> shift_) + 1;
    count_ = std::min<std::uint64_t>(wanted, values);
    scale_ = (std::uint64_t{count_} << 32) / values;
  }

  [[nodiscard]] std::size_t count() const { return count_; }

  HWY_INLINE std::size_t of(Key key) const {
    const auto distance = static_cast<std::uint64_t>(key - least_);
    return (sizeof(Key) == 4 ? distance * scale_ : (distance >> shift_) * scale_) >> 32;
  }

 private:
  Key least_;
  unsigned shift_;
  std::size_t count_;
  std::uint64_t scale_;  // in 2^-32
};

// On average, so that most buckets fit the rows.
template <class Key>
inline constexpr std::size_t kKeysPerBucket = kMostInRows<Key> * 13 / 16;

inline constexpr std::size_t kMostEvenBuckets = 4096;  // their counters take half of the L1 cache

// Writes each key counts[key - least] times, in order.
template <class Key>
HWY_ATTR void write_counted(Key* keys, Key least, std::size_t values, const std::uint32_t* counts) {
  for (std::size_t value = 0; value < values; ++value) {
    keys = std::fill_n(keys, counts[value], static_cast<Key>(least + value));
  }
}

// Calls f with each key, from four quarters in turn: neighbours in a sorted array are in one bucket
// and would wait some cycles for its counter.
template <class Key, class F>
HWY_INLINE void for_each_in_turn(const Key* keys, std::size_t count, const F& f) {
  const std::size_t quarter = count / 4;
  for (std::size_t i = 0; i < quarter; ++i) {
    for (std::size_t q = 0; q < 4; ++q) f(keys[q * quarter + i]);
  }
  for (std::size_t i = 4 * quarter; i < count; ++i) f(keys[i]);
}

inline constexpr std::size_t kStretch = 1024;  // keys

// Whether many keys of a sample crowd in a few of many equal parts of the range: then partitions
// alone take less time.
template <class Key>
HWY_ATTR bool sample_crowds(const Key* keys, std::size_t count, Key least, Key greatest) {
  constexpr std::size_t kSample = 128;
  constexpr std::uint32_t kEven = 4;  // of the sample, in each part
  const EvenBuckets<Key> parts(least, greatest, kSample / kEven);
  std::uint32_t sizes[kSample / kEven] = {};
  for (std::size_t i = 0; i < kSample; ++i) ++sizes[parts.of(keys[i * (count / kSample)])];
  std::uint32_t crowded = 0;
  for (const std::uint32_t size : sizes) crowded += size > 3 * kEven ? size : 0;
  return crowded > kSample / 4;
}

// Sorts keys[0, count) in place, and calls done(begin, size) for stretches of sorted keys that are
// still in the L1 cache, which cover all. Requires: `other` has room for all.
template <class Key, class FallBack, class Done>
HWY_ATTR void sort_evenly(Key* keys, Key* other, std::size_t count, Key least, Key greatest,
                          const FallBack& fall_back, const Done& done) {
  if (least == greatest) return done(keys, count);
  std::uint32_t ends[kMostEvenBuckets] = {};
  if (greatest - least < std::min(kMostEvenBuckets, count)) {
    for_each_in_turn(keys, count, [&](Key key) HWY_ATTR { ++ends[key - least]; });
    write_counted(keys, least, static_cast<std::size_t>(greatest - least) + 1, ends);
    return done(keys, count);
  }
  const auto sort_by_partitions = [&]() HWY_ATTR {
    sort(keys, other, keys, count, depth_for(count), fall_back);
    done(keys, count);
  };
  if (sample_crowds(keys, count, least, greatest)) return sort_by_partitions();
  const EvenBuckets<Key> buckets(least, greatest,
                                 std::min(kMostEvenBuckets, count / kKeysPerBucket<Key> + 1));
  for_each_in_turn(keys, count, [&](Key key) HWY_ATTR { ++ends[buckets.of(key)]; });
  std::uint32_t begin = 0;
  std::uint32_t crowded = 0;  // keys in buckets that would be divided again
  for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket) {
    const std::uint32_t size = std::exchange(ends[bucket], begin);
    if (size > 2 * kMostInRows<Key>) crowded += size;
    begin += size;
  }
  if (crowded > count / 2) return sort_by_partitions();
  for_each_in_turn(keys, count, [&](Key key) HWY_ATTR { other[ends[buckets.of(key)]++] = key; });
  std::size_t told = 0;
  for (std::size_t bucket = 0, at = 0; bucket < buckets.count(); at = ends[bucket++]) {
    const std::size_t size = ends[bucket] - at;
    sort(other + at, keys + at, keys + at, size, depth_for(size), fall_back);
    if (ends[bucket] - told < kStretch && bucket + 1 < buckets.count()) continue;
    done(keys + told, ends[bucket] - told);
    told = ends[bucket];
  }
}

// Removes the keys that are not above `last` from the fronts of sorted slices, and writes them to
// `out`, which has room for all keys of the slices up to `out_end`. Returns the end of the keys.
template <class Key>
HWY_ATTR HWY_INLINE Key* take_up_to(Key last, std::span<std::span<const Key>> slices, Key* out,
                                    const Key* out_end) {
  const hn::ScalableTag<Key> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kSliceAhead = 512;  // bytes; 256 are too few for two or three slices
  const auto lasts = hn::Set(d, last);
  for (std::span<const Key>& slice : slices) {
    std::size_t taken = kLanes;
    while (taken == kLanes) {
      read_ahead(slice.data(), 64, kSliceAhead);
      const auto held = hn::FirstN(d, std::min(kLanes, slice.size()));
      const auto some = hn::MaskedLoad(held, d, slice.data());
      taken = hn::CountTrue(d, hn::And(held, hn::Not(hn::Lt(lasts, some))));
      if (static_cast<std::size_t>(out_end - out) >= kLanes) {
        hn::StoreU(some, d, out);
      } else {
        std::copy_n(slice.data(), taken, out);
      }
      out += taken;
      slice = slice.subspan(taken);
    }
  }
  return out;
}

// Sorts the keys of short slices, if there are several, into one slice that ends at `out_end`.
// Returns the slices that are left, the long ones first.
template <class Key, class FallBack>
HWY_ATTR std::span<std::span<const Key>> join_short(std::span<std::span<const Key>> slices,
                                                    std::size_t longs, Key* out_end, Key* scratch,
                                                    const FallBack& fall_back) {
  if (slices.size() < longs + 2) return slices;
  Key* begin = out_end;
  for (const std::span<const Key> slice : slices.subspan(longs)) {
    begin -= slice.size();
    std::copy(slice.begin(), slice.end(), begin);
  }
  const auto count = static_cast<std::size_t>(out_end - begin);
  sort(begin, scratch, begin, count, depth_for(count), fall_back);
  slices[longs] = {begin, count};
  return slices.first(longs + 1);
}

// False if most keys of a sorted slice crowd in a small part of the range.
template <class Key>
HWY_INLINE bool is_spread(std::span<const Key> slice, Key range) {
  constexpr std::size_t kGaps = 16;
  constexpr std::size_t kCrowded = 4;  // times as dense as evenly spread keys
  std::size_t crowded = 0;
  for (std::size_t i = 0; i < kGaps; ++i) {
    const Key low = slice[i * (slice.size() - 1) / kGaps];
    const Key high = slice[(i + 1) * (slice.size() - 1) / kGaps];
    crowded += high - low < range / (kGaps * kCrowded) ? 1 : 0;
  }
  return crowded <= kGaps / 2;
}

// Divides keys[0, count) by `middle`, and sorts both parts to `home`. Requires: `home` has room for
// `count` keys. The content of `keys` is then undefined.
template <class Key, class FallBack>
HWY_ATTR void sort_halves(Key* keys, Key* home, std::size_t count, Key middle,
                          const FallBack& fall_back) {
  const std::size_t below = partition<false>(keys, count, middle, home, keys);
  const std::size_t above = count - below;
  sort(home, keys + above, home, below, depth_for(below), fall_back);
  sort(keys, home + below, home + below, above, depth_for(above), fall_back);
}

// Merges `count` keys of sorted slices to `out`: their range is divided evenly, as above, but keys
// of a bucket are found at the beginnings of all slices. Returns false, and changes at most the
// order of the slices, if sort_evenly() takes less time. If the slices are not sorted, the order of
// `out` is undefined, but it holds their keys. Requires: scratch has room for all keys.
template <class Key, class FallBack>
HWY_ATTR bool merge_evenly(std::span<std::span<const Key>> slices, std::size_t count, Key* out,
                           Key* scratch, const FallBack& fall_back) {
  // Most looks at a slice wait for memory, so each should find several keys. Halving buckets of
  // 64-bit keys costs more than it gains.
  constexpr std::size_t kWantedPerSlice = 5;
  const bool halves = sizeof(Key) == 4 && slices.size() > kKeysPerBucket<Key> / kWantedPerSlice;
  const std::size_t buckets = count / (kKeysPerBucket<Key> << (halves ? 1 : 0)) + 1;
  // Slices with fewer keys in a bucket, on average, are not worth a look.
  const std::size_t least_per_slice = halves ? kWantedPerSlice : 3;
  const auto is_long = [=](const auto& slice) { return slice.size() >= least_per_slice * buckets; };
  const auto shorts = std::partition(slices.begin(), slices.end(), is_long);
  std::size_t in_longs = 0;
  for (auto slice = slices.begin(); slice != shorts; ++slice) in_longs += slice->size();
  if (in_longs < count - count / 8) return false;  // the others are sorted, and then merged
  Key least = slices.front().front();
  Key greatest = slices.front().back();
  for (const std::span<const Key> slice : slices) {
    least = std::min(least, slice.front());
    greatest = std::max(greatest, slice.back());
  }
  if (greatest - least < std::min(kMostEvenBuckets, count)) return false;
  const auto is_shorter = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto longest = std::max_element(slices.begin(), slices.end(), is_shorter);
  if (!is_spread(*longest, static_cast<Key>(greatest - least))) return false;
  slices = join_short(slices, static_cast<std::size_t>(shorts - slices.begin()), out + count,
                      scratch, fall_back);
  const Key width = static_cast<Key>((greatest - least - 1) / buckets + 1);  // rounded up, never 0
  Key last = least;                                                          // of the bucket
  for (std::size_t done = 0; done < count;) {
    const Key low = last;
    last = width < greatest - last ? static_cast<Key>(last + width) : greatest;
    const Key* const end = take_up_to(last, slices, scratch, scratch + count);
    const auto taken = static_cast<std::size_t>(end - scratch);
    if (halves) {
      sort_halves(scratch, out + done, taken, static_cast<Key>(low + width / 2), fall_back);
    } else {
      sort(scratch, out + done, out + done, taken, depth_for(taken), fall_back);
    }
    done += taken;
    if (taken > 0) continue;
    // Slices that are not sorted hold greater keys: the merge must end with these, too.
    if (last == greatest) greatest = static_cast<Key>(~Key{0});
    Key next = greatest;
    for (const std::span<const Key> slice : slices) {
      if (!slice.empty()) next = std::min(next, slice.front());
    }
    last = static_cast<Key>(next - 1);
  }
  return true;
}
#endif

}  // namespace vector_sort
}  // namespace gsort::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
