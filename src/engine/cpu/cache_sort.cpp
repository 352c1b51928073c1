// Compiled once for each vector instruction set (Highway's foreach_target), chosen at run time.
#include "engine/cpu/cache_sort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include <hwy/contrib/sort/vqsort.h>

#include "base/made_once.hpp"
#include "base/units.hpp"
#include "element/key_loops.hpp"
#include "engine/cpu/in_place/digit.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/cache_sort.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "engine/cpu/in_place/vector_sort-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gsort::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kRankLimit = kLeastScratchKeys - 1;  // at most this many: by counting
constexpr std::size_t kKeysPerCounter = 4;  // with fewer, clearing and adding up counters costs
                                            // more
constexpr unsigned kMostDigit = 12;         // counters of a level: 16 KiB, half of the L1 cache

// Writes keys[0, count) to out in order. The rank of key i is the number of keys below it, plus the
// number of equal keys before it. Requires: count <= kRankLimit; kRankLimit keys are readable
// behind `keys`' padded copy, made here.
template <class Key>
HWY_ATTR void rank_sort(const Key* keys, std::size_t count, Key* out) {
  constexpr std::size_t kMostLanes = 64 / sizeof(Key);  // SVE may have vectors of 256 bytes
  const hn::CappedTag<Key, kMostLanes> d;
  const std::size_t lanes = hn::Lanes(d);
  alignas(64) Key padded[kRankLimit + kMostLanes];
  std::memcpy(padded, keys, count * sizeof(Key));
  const std::size_t blocks = (count + lanes - 1) / lanes;
  for (std::size_t i = count; i < blocks * lanes; ++i) padded[i] = static_cast<Key>(~Key{0});
  for (std::size_t own = 0; own < blocks; ++own) {
    const std::size_t end = std::min(count, (own + 1) * lanes);
    for (std::size_t i = own * lanes; i < end; ++i) {
      const auto key = hn::Set(d, padded[i]);
      std::size_t rank = 0;
      for (std::size_t block = 0; block < own; ++block) {
        rank += hn::CountTrue(d, hn::Not(hn::Lt(key, hn::Load(d, padded + block * lanes))));
      }
      const auto mine = hn::Load(d, padded + own * lanes);
      rank += hn::CountTrue(
          d, hn::Or(hn::Lt(mine, key), hn::And(hn::Eq(mine, key), hn::FirstN(d, i - own * lanes))));
      for (std::size_t block = own + 1; block < blocks; ++block) {
        rank += hn::CountTrue(d, hn::Lt(hn::Load(d, padded + block * lanes), key));
      }
      out[rank] = padded[i];
    }
  }
}

// The ends of a digit's buckets, after the keys have been dealt out to them.
using BucketEnds = std::array<std::uint32_t, (std::size_t{1} << kMostDigit) + 1>;

template <class Key>
HWY_ATTR void deal_out(const Key* keys, std::size_t count, const Digit<Key>& digit, Key* out,
                       BucketEnds& ends) {
  for (std::size_t i = 0; i < count; ++i) ++ends[digit.of(keys[i])];
  std::uint32_t begin = 0;
  for (std::size_t bucket = 0; bucket < digit.buckets; ++bucket) {
    begin += std::exchange(ends[bucket], begin);
  }
  for (std::size_t i = 0; i < count; ++i) out[ends[digit.of(keys[i])]++] = keys[i];
}

// Keys whose range is so narrow that two digits cover it are dealt out twice, by the low digit and
// then by the high one, which keeps the order of the low one: no small buckets are left to sort.
template <class Key>
HWY_ATTR void sort_by_two_digits(Key* keys, Key* scratch, std::size_t count, Key least,
                                 unsigned width) {
  const unsigned low_bits = width / 2;
  const Key low_mask = static_cast<Key>((Key{1} << low_bits) - 1);
  std::array<std::uint32_t, std::size_t{1} << kMostDigit> low_ends{};
  std::array<std::uint32_t, std::size_t{1} << kMostDigit> high_ends{};
  for (std::size_t i = 0; i < count; ++i) {
    const Key distance = static_cast<Key>(keys[i] - least);
    ++low_ends[static_cast<std::size_t>(distance & low_mask)];
    ++high_ends[static_cast<std::size_t>(distance >> low_bits)];
  }
  std::uint32_t low_begin = 0;
  std::uint32_t high_begin = 0;
  for (std::size_t digit = 0; digit < (std::size_t{1} << (width - low_bits)); ++digit) {
    low_begin += std::exchange(low_ends[digit], low_begin);
    high_begin += std::exchange(high_ends[digit], high_begin);
  }
  for (std::size_t i = 0; i < count; ++i) {
    scratch[low_ends[static_cast<std::size_t>((keys[i] - least) & low_mask)]++] = keys[i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    keys[high_ends[static_cast<std::size_t>((scratch[i] - least) >> low_bits)]++] = scratch[i];
  }
}

// Deals the keys out to `scratch`, and sorts each bucket back to its place.
template <class Key>
HWY_ATTR void sort_in_place(Key* keys, Key* scratch, std::size_t count) {
  if (count < 2) return;
  if (count <= kRankLimit) return rank_sort(keys, count, keys);
  Key least = 0;
  Key greatest = 0;
  find_range(keys, count, least, greatest);
  if (least == greatest) return;
  const auto width = static_cast<unsigned>(std::bit_width(static_cast<Key>(greatest - least)));
  if (width <= 2 * kMostDigit && count >> (width / 2) >= kKeysPerCounter) {
    return sort_by_two_digits(keys, scratch, count, least, width);
  }
  const Digit<Key> digit = choose_digit(count, least, greatest, kMostDigit);
  BucketEnds ends{};
  deal_out(keys, count, digit, scratch, ends);
  std::size_t at = 0;
  for (std::size_t bucket = 0; bucket < digit.buckets; ++bucket) {
    const std::size_t size = ends[bucket] - at;
    if (size > kRankLimit) {
      sort_in_place(scratch + at, keys + at, size);
      std::memcpy(keys + at, scratch + at, size * sizeof(Key));
    } else if (size > 1) {
      rank_sort(scratch + at, size, keys + at);
    } else if (size == 1) {
      keys[at] = scratch[at];
    }
    at = ends[bucket];
  }
}

void sort_u32(std::uint32_t* keys, std::uint32_t* scratch, std::size_t n) {
  sort_in_place(keys, scratch, n);
}
void sort_u64(std::uint64_t* keys, std::uint64_t* scratch, std::size_t n) {
  sort_in_place(keys, scratch, n);
}

constexpr std::size_t kMappedBytes = 8 * kKiB;  // a stretch, which stays in the L1 cache

// `map`: null if the keys need none.
template <class Key, class F>
void map_if(const KeyMap<Key>* map, const F& f, Key* keys, std::size_t count) {
  const std::span<Key> some(keys, count);
  if (map != nullptr) f(some, some, *map);
}

// Only partitions sort fewer keys faster: measured on Zen 4 and on an Intel Xeon.
template <class Key>
inline constexpr std::size_t kLeastEvenKeys = sizeof(Key) > sizeof(std::uint32_t) ? 4096 : 16384;

template <class Key>
HWY_ATTR void quick_sort_few(Key* keys, Key* scratch, std::size_t count) {
#if GSORT_HAS_VECTOR_SORT
  const bool is_counted = count < kLeastScratchKeys && count > vector_sort::kMostInRows<Key>;
  if (is_counted) return rank_sort(keys, count, keys);
  const unsigned depth = vector_sort::depth_for(count);
  vector_sort::sort(keys, scratch, keys, count, depth, sort_in_place<Key>);
#else
  sort_in_place(keys, scratch, count);
#endif
}

template <class Key>
HWY_ATTR void quick_sort(Key* keys, Key* scratch, std::size_t count, const CacheForms<Key>& forms) {
  const auto order = [&](Key* some, std::size_t size) {
    map_if(forms.to_ordered, map_to_ordered<Key>, some, size);
  };
  const auto make_raw = [&](Key* some, std::size_t size) {
    map_if(forms.to_raw, map_to_raw<Key>, some, size);
  };
#if GSORT_HAS_VECTOR_SORT
  if (count >= kLeastEvenKeys<Key>) {
    const std::size_t stretch = forms.to_ordered == nullptr ? count : kMappedBytes / sizeof(Key);
    Key least = static_cast<Key>(~Key{0});
    Key greatest = 0;
    for (std::size_t at = 0; at < count; at += stretch) {
      const std::size_t size = std::min(stretch, count - at);
      order(keys + at, size);
      Key low = 0;
      Key high = 0;
      find_range(keys + at, size, low, high);
      least = std::min(least, low);
      greatest = std::max(greatest, high);
    }
    return vector_sort::sort_evenly(keys, scratch, count, least, greatest, sort_in_place<Key>,
                                    make_raw);
  }
#endif
  order(keys, count);
  quick_sort_few(keys, scratch, count);
  make_raw(keys, count);
}

#if GSORT_HAS_VECTOR_SORT && HWY_MAX_BYTES >= 32
template <class Key>
HWY_ATTR bool merge_slices(std::span<std::span<const Key>> slices, std::span<Key> keys,
                           std::span<Key> scratch) {
  return vector_sort::merge_evenly(slices, keys.size(), keys.data(), scratch.data(),
                                   sort_in_place<Key>);
}
#else
template <class Key>
bool merge_slices(std::span<std::span<const Key>> /*slices*/, std::span<Key> /*keys*/,
                  std::span<Key> /*scratch*/) {
  return false;
}
#endif

// If so, the quicksort was faster than spreading on every processor that was measured.
bool has_wide_vectors() {
  return GSORT_HAS_VECTOR_SORT == 1 && HWY_MAX_BYTES >= 32;
}

void quick_u32(std::uint32_t* keys, std::uint32_t* scratch, std::size_t n,
               const CacheForms<std::uint32_t>& forms) {
  quick_sort(keys, scratch, n, forms);
}
void quick_u64(std::uint64_t* keys, std::uint64_t* scratch, std::size_t n,
               const CacheForms<std::uint64_t>& forms) {
  quick_sort(keys, scratch, n, forms);
}
bool merge_u32(std::span<std::span<const std::uint32_t>> slices, std::span<std::uint32_t> keys,
               std::span<std::uint32_t> scratch) {
  return merge_slices(slices, keys, scratch);
}
bool merge_u64(std::span<std::span<const std::uint64_t>> slices, std::span<std::uint64_t> keys,
               std::span<std::uint64_t> scratch) {
  return merge_slices(slices, keys, scratch);
}
HWY_ATTR void range_u32(const std::uint32_t* keys, std::size_t n, std::uint32_t& least,
                        std::uint32_t& greatest) {
  find_range(keys, n, least, greatest);
}
HWY_ATTR void range_u64(const std::uint64_t* keys, std::size_t n, std::uint64_t& least,
                        std::uint64_t& greatest) {
  find_range(keys, n, least, greatest);
}

}  // namespace gsort::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort::cpu {

HWY_EXPORT(sort_u32);
HWY_EXPORT(sort_u64);
HWY_EXPORT(has_wide_vectors);
HWY_EXPORT(quick_u32);
HWY_EXPORT(quick_u64);
HWY_EXPORT(merge_u32);
HWY_EXPORT(merge_u64);
HWY_EXPORT(range_u32);
HWY_EXPORT(range_u64);

namespace {

const ThreadOwned<hwy::Sorter> kSorters;

template <class Key>
std::atomic<CacheSorter> used_sorter{CacheSorter::kDefault};

template <class Key>
CacheSorter sorter_in_use() {
  const CacheSorter used = used_sorter<Key>.load(std::memory_order_relaxed);
  if (used != CacheSorter::kDefault) return used;
  return HWY_DYNAMIC_DISPATCH(has_wide_vectors)() ? CacheSorter::kQuick : CacheSorter::kSpread;
}

void spread(std::span<std::uint32_t> keys, std::span<std::uint32_t> scratch) {
  HWY_DYNAMIC_DISPATCH(sort_u32)(keys.data(), scratch.data(), keys.size());
}

void spread(std::span<std::uint64_t> keys, std::span<std::uint64_t> scratch) {
  HWY_DYNAMIC_DISPATCH(sort_u64)(keys.data(), scratch.data(), keys.size());
}

void quick(std::span<std::uint32_t> keys, std::span<std::uint32_t> scratch,
           const CacheForms<std::uint32_t>& forms) {
  HWY_DYNAMIC_DISPATCH(quick_u32)(keys.data(), scratch.data(), keys.size(), forms);
}

void quick(std::span<std::uint64_t> keys, std::span<std::uint64_t> scratch,
           const CacheForms<std::uint64_t>& forms) {
  HWY_DYNAMIC_DISPATCH(quick_u64)(keys.data(), scratch.data(), keys.size(), forms);
}

bool merge_by_vectors(std::span<std::span<const std::uint32_t>> slices,
                      std::span<std::uint32_t> keys, std::span<std::uint32_t> scratch) {
  return HWY_DYNAMIC_DISPATCH(merge_u32)(slices, keys, scratch);
}

bool merge_by_vectors(std::span<std::span<const std::uint64_t>> slices,
                      std::span<std::uint64_t> keys, std::span<std::uint64_t> scratch) {
  return HWY_DYNAMIC_DISPATCH(merge_u64)(slices, keys, scratch);
}

bool merge_by_vectors(std::span<std::span<const UInt128>> /*slices*/, std::span<UInt128> /*keys*/,
                      std::span<UInt128> /*scratch*/) {
  return false;
}

}  // namespace

template <class Key>
void use_cache_sorter(CacheSorter sorter) {
  used_sorter<Key> = sorter;
}

void cache_sort(std::span<std::uint32_t> keys, std::span<std::uint32_t> scratch) {
  cache_sort(keys, scratch, {});
}

void cache_sort(std::span<std::uint64_t> keys, std::span<std::uint64_t> scratch) {
  cache_sort(keys, scratch, {});
}

template <class Key>
void cache_sort(std::span<Key> keys, std::span<Key> scratch, const CacheForms<Key>& forms) {
  if constexpr (sizeof(Key) <= sizeof(std::uint64_t)) {
    if (sorter_in_use<Key>() == CacheSorter::kQuick) return quick(keys, scratch, forms);
  }
  if (forms.to_ordered != nullptr) map_to_ordered<Key>(keys, keys, *forms.to_ordered);
  if constexpr (sizeof(Key) <= sizeof(std::uint64_t)) {
    spread(keys, scratch);
  } else {
    cache_sort(keys, scratch);
  }
  if (forms.to_raw != nullptr) map_to_raw<Key>(keys, keys, *forms.to_raw);
}

template void cache_sort(std::span<std::uint32_t>, std::span<std::uint32_t>,
                         const CacheForms<std::uint32_t>&);
template void cache_sort(std::span<std::uint64_t>, std::span<std::uint64_t>,
                         const CacheForms<std::uint64_t>&);
template void cache_sort(std::span<UInt128>, std::span<UInt128>, const CacheForms<UInt128>&);

template void use_cache_sorter<std::uint32_t>(CacheSorter);
template void use_cache_sorter<std::uint64_t>(CacheSorter);

// The two have the same bytes: the less significant half comes first.
void cache_sort(std::span<UInt128> keys, std::span<UInt128> /*scratch*/) {
  static_assert(sizeof(hwy::uint128_t) == sizeof(UInt128) &&
                std::endian::native == std::endian::little);
  kSorters.own()(reinterpret_cast<hwy::uint128_t*>(keys.data()), keys.size(), hwy::SortAscending());
}

template <class Key>
void cache_merge(std::span<std::span<const Key>> slices, std::span<Key> keys,
                 std::span<Key> scratch) {
  if (merge_by_vectors(slices, keys, scratch)) return;
  auto end = keys.begin();
  for (const std::span<const Key> slice : slices) end = std::ranges::copy(slice, end).out;
  cache_sort(keys, scratch);
}

template void cache_merge(std::span<std::span<const std::uint32_t>>, std::span<std::uint32_t>,
                          std::span<std::uint32_t>);
template void cache_merge(std::span<std::span<const std::uint64_t>>, std::span<std::uint64_t>,
                          std::span<std::uint64_t>);
template void cache_merge(std::span<std::span<const UInt128>>, std::span<UInt128>,
                          std::span<UInt128>);

KeyRange<std::uint32_t> range_of(std::span<const std::uint32_t> keys) {
  KeyRange<std::uint32_t> range{};
  HWY_DYNAMIC_DISPATCH(range_u32)(keys.data(), keys.size(), range.least, range.greatest);
  return range;
}

KeyRange<UInt128> range_of(std::span<const UInt128> keys) {
  const auto [least, greatest] = std::minmax_element(keys.begin(), keys.end());
  return {*least, *greatest};
}

KeyRange<std::uint64_t> range_of(std::span<const std::uint64_t> keys) {
  KeyRange<std::uint64_t> range{};
  HWY_DYNAMIC_DISPATCH(range_u64)(keys.data(), keys.size(), range.least, range.greatest);
  return range;
}

}  // namespace gsort::cpu
#endif  // HWY_ONCE
