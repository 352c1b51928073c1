// Compiled once for each vector instruction set (Highway's foreach_target), chosen at run time.
#include "engine/cpu/pairs/cached_pairs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "engine/cpu/in_place/digit.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/pairs/cached_pairs.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gsort::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kMostRanked = kLeastDealtPairs - 1;
constexpr unsigned kMostDigit = 13;  // counters of a level: 32 KiB
// Few pairs may need many levels: with fewer counters, a thread's stack has room for all of them.
constexpr unsigned kDigitOfFew = 8;
constexpr std::size_t kFewPairs = std::size_t{16} << kDigitOfFew;

// Writes the pairs in order to `to`, which may be `from`. Keys are compared as signed numbers, for
// which every instruction set has an instruction.
template <class Key, class Value, class Fold>
HWY_ATTR void rank_pairs(const Pairs<Key, Value>& from, std::size_t count,
                         const Pairs<Key, Value>& to, const Fold& fold) {
  using Signed = std::make_signed_t<Key>;
  constexpr std::size_t kMostLanes = 64 / sizeof(Key);  // SVE may have vectors of 256 bytes
  constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
  const hn::CappedTag<Signed, kMostLanes> d;
  const std::size_t lanes = hn::Lanes(d);
  alignas(64) Signed classes[kMostRanked + kMostLanes];
  alignas(64) Signed ranks[kMostRanked + kMostLanes];
  Key keys[kMostRanked];
  Value values[kMostRanked];
  for (std::size_t i = 0; i < count; ++i) {
    keys[i] = from.keys[i];
    classes[i] = static_cast<Signed>(fold(from.keys[i]) ^ kSign);
    values[i] = from.values[i];
  }
  for (std::size_t own = 0; own < count; own += lanes) {
    const auto mine = hn::LoadU(d, classes + own);  // lanes behind the last pair are not used
    const auto places = hn::Iota(d, 0);
    const std::size_t own_end = std::min(own + lanes, count);
    auto rank = hn::Set(d, static_cast<Signed>(own));
    for (std::size_t i = 0; i < own; ++i) {  // earlier pairs precede, unless they are greater
      rank = hn::Add(rank, hn::VecFromMask(d, hn::Lt(mine, hn::Set(d, classes[i]))));
    }
    for (std::size_t i = own; i < own_end; ++i) {
      const auto other = hn::Set(d, classes[i]);
      const auto is_before = hn::Lt(hn::Set(d, static_cast<Signed>(i - own)), places);
      const auto precedes = hn::Or(hn::Lt(other, mine), hn::And(hn::Eq(other, mine), is_before));
      rank = hn::Sub(rank, hn::VecFromMask(d, precedes));
    }
    for (std::size_t i = own_end; i < count; ++i) {
      rank = hn::Sub(rank, hn::VecFromMask(d, hn::Lt(hn::Set(d, classes[i]), mine)));
    }
    hn::StoreU(rank, d, ranks + own);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<std::size_t>(ranks[i]);
    to.keys[place] = keys[i];
    to.values[place] = values[i];
  }
}

template <class Counter, class Key, class Value, class Fold>
HWY_ATTR void deal_pairs(const Pairs<Key, Value>& from, const Pairs<Key, Value>& to,
                         std::size_t count, const Fold& fold, const Digit<Key>& digit,
                         std::span<Counter> ends) {
  std::fill_n(ends.begin(), digit.buckets, Counter{0});
  for (std::size_t i = 0; i < count; ++i) ++ends[digit.of(fold(from.keys[i]))];
  Counter begin = 0;
  for (std::size_t bucket = 0; bucket < digit.buckets; ++bucket) {
    begin += std::exchange(ends[bucket], begin);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Key key = from.keys[i];
    const Counter place = ends[digit.of(fold(key))]++;
    to.keys[place] = key;
    to.values[place] = from.values[i];
  }
}

// The arrays may be the same.
template <class Key, class Value>
void move_pairs(const Pairs<Key, Value>& from, const Pairs<Key, Value>& to, std::size_t count) {
  if (to.keys != from.keys) std::memcpy(to.keys, from.keys, count * sizeof(Key));
  if (to.values != from.values) std::memcpy(to.values, from.values, count * sizeof(Value));
}

// Deals the pairs out, and calls f(begin, count) for each bucket. Not inlined: the counters of one
// call would be in the frame of all.
template <class Counter, unsigned kDigit, class Key, class Value, class Fold, class F>
HWY_ATTR HWY_NOINLINE void for_each_dealt(const Pairs<Key, Value>& from,
                                          const Pairs<Key, Value>& to, std::size_t count,
                                          const Fold& fold, const Digit<Key>& digit, const F& f) {
  std::array<Counter, (std::size_t{1} << kDigit) + 1>
      ends;  // deal_pairs() clears as many as it uses
  deal_pairs<Counter>(from, to, count, fold, digit, ends);
  std::size_t at = 0;
  for (std::size_t bucket = 0; bucket < digit.buckets; ++bucket) {
    f(at, static_cast<std::size_t>(ends[bucket]) - at);
    at = static_cast<std::size_t>(ends[bucket]);
  }
}

template <class Key, class Value, class Fold>
HWY_ATTR void sort_some(const Pairs<Key, Value>& from, const Pairs<Key, Value>& other,
                        const Pairs<Key, Value>& to, std::size_t count, const Fold& fold) {
  if (count <= kMostRanked) return rank_pairs(from, count, to, fold);
  Key least = 0;
  Key greatest = 0;
  find_range(from.keys, count, least, greatest, fold);
  if (least == greatest) return move_pairs(from, to, count);
  const Digit<Key> digit = choose_digit(count, least, greatest, kMostDigit);
  const bool is_sorted = digit.shift == 0;  // each bucket has keys of one class
  const auto sort_bucket = [&](std::size_t at, std::size_t size) HWY_ATTR {
    if (is_sorted) return;
    if (size > kMostRanked) {
      sort_some(other.from(at), from.from(at), to.from(at), size, fold);
    } else if (size > 0) {
      rank_pairs(other.from(at), size, to.from(at), fold);
    }
  };
  if (count < kFewPairs) {
    for_each_dealt<std::uint32_t, kDigitOfFew>(from, other, count, fold, digit, sort_bucket);
  } else if (count <= kMostCachedPairs) {
    for_each_dealt<std::uint32_t, kMostDigit>(from, other, count, fold, digit, sort_bucket);
  } else {
    for_each_dealt<std::uint64_t, kMostDigit>(from, other, count, fold, digit, sort_bucket);
  }
  if (is_sorted) move_pairs(other, to, count);
}

// Whether the fold changes a key. If not, as in most arrays, the sort is faster without the fold.
template <class Key>
HWY_ATTR bool changes_a_key(const ClassFold<Key>& fold, const Key* keys, std::size_t count) {
  Key changed = 0;
  for (std::size_t i = 0; i < count; ++i) changed |= static_cast<Key>(fold(keys[i]) ^ keys[i]);
  return changed != 0;
}

template <class Key, class Value>
void sort_all(const Pairs<Key, Value>& from, const Pairs<Key, Value>& other,
              const Pairs<Key, Value>& to, std::size_t count, const ClassFold<Key>& fold) {
  if (fold.folds && changes_a_key(fold, from.keys, count)) {
    return sort_some(from, other, to, count, fold);
  }
  sort_some(from, other, to, count, NoFold<Key>());
}

template <class Key>
HWY_ATTR void fold_all(const ClassFold<Key>& fold, const Key* keys, std::size_t count, Key* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = fold(keys[i]);
}
void fold_u32(const ClassFold<std::uint32_t>& fold, const std::uint32_t* keys, std::size_t count,
              std::uint32_t* to) {
  fold_all(fold, keys, count, to);
}
void fold_u64(const ClassFold<std::uint64_t>& fold, const std::uint64_t* keys, std::size_t count,
              std::uint64_t* to) {
  fold_all(fold, keys, count, to);
}

// HWY_EXPORT takes no template.
#define GSORT_SORT_OF(name, Key, Value)                                                   \
  void name(const Pairs<Key, Value>& from, const Pairs<Key, Value>& other,                \
            const Pairs<Key, Value>& to, std::size_t count, const ClassFold<Key>& fold) { \
    sort_all(from, other, to, count, fold);                                               \
  }
GSORT_SORT_OF(sort_u32_u32, std::uint32_t, std::uint32_t)
GSORT_SORT_OF(sort_u32_u64, std::uint32_t, std::uint64_t)
GSORT_SORT_OF(sort_u64_u32, std::uint64_t, std::uint32_t)
GSORT_SORT_OF(sort_u64_u64, std::uint64_t, std::uint64_t)
#undef GSORT_SORT_OF

}  // namespace gsort::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort::cpu {

HWY_EXPORT(sort_u32_u32);
HWY_EXPORT(sort_u32_u64);
HWY_EXPORT(sort_u64_u32);
HWY_EXPORT(sort_u64_u64);
HWY_EXPORT(fold_u32);
HWY_EXPORT(fold_u64);

void fold_keys(const ClassFold<std::uint32_t>& fold, const std::uint32_t* keys, std::size_t count,
               std::uint32_t* folded) {
  HWY_DYNAMIC_DISPATCH(fold_u32)(fold, keys, count, folded);
}
void fold_keys(const ClassFold<std::uint64_t>& fold, const std::uint64_t* keys, std::size_t count,
               std::uint64_t* folded) {
  HWY_DYNAMIC_DISPATCH(fold_u64)(fold, keys, count, folded);
}

#define GSORT_SORT_OF(name, Key, Value)                                                          \
  template <>                                                                                    \
  void sort_cached(const Pairs<Key, Value>& from, const Pairs<Key, Value>& other,                \
                   const Pairs<Key, Value>& to, std::size_t count, const ClassFold<Key>& fold) { \
    HWY_DYNAMIC_DISPATCH(name)(from, other, to, count, fold);                                    \
  }
GSORT_SORT_OF(sort_u32_u32, std::uint32_t, std::uint32_t)
GSORT_SORT_OF(sort_u32_u64, std::uint32_t, std::uint64_t)
GSORT_SORT_OF(sort_u64_u32, std::uint64_t, std::uint32_t)
GSORT_SORT_OF(sort_u64_u64, std::uint64_t, std::uint64_t)
#undef GSORT_SORT_OF

}  // namespace gsort::cpu
#endif  // HWY_ONCE
