// vector_sort: a quicksort of keys in the cache by vector instructions, for the instruction set
// that the including file is compiled for.
//
// A partition reads the keys once. In every vector the keys below the pivot are packed to its front
// and appended to one side, the others to the other side. One side is the keys' own array (it never
// passes the place that is read), the other side is free memory of the same size; the parts are
// then sorted back to their places. Up to 16 vectors of keys are sorted in registers, as a matrix
// whose columns are sorted by a network of rows; then columns are merged by bitonic steps, of which
// only those within a row move lanes.
//
// Example. Four lanes, two rows: keys 7 2 9 4 / 3 8 1 6. Columns sorted: 3 2 1 4 / 7 8 9 6. Columns
// merged by twos (3 7 with 2 8, 1 9 with 4 6): 2 3 7 8, 1 4 6 9; by fours: 1 2 3 4 6 7 8 9.
//
// Cost. A partition moves each key once, in about half a cycle. A pivot is a median of a sample;
// after twice as many partitions as an even split needs, the caller sorts what is left.
//
// Sources: Batcher, "Sorting networks and their applications" (AFIPS 1968); Bramas, "A novel hybrid
// quicksort algorithm vectorized using AVX-512" (2017), doi:10.14569/IJACSA.2017.081044.

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
#include <cstring>
#include <utility>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gsort::cpu::HWY_NAMESPACE {
namespace vector_sort {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors whose size is known only at run time cannot be kept in arrays.
#undef GSORT_HAS_VECTOR_SORT
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define GSORT_HAS_VECTOR_SORT 0
#else
#define GSORT_HAS_VECTOR_SORT 1

struct Rows {
  std::uint8_t low;
  std::uint8_t high;
};

// Batcher's odd-even merge sort for this many rows.
template <std::size_t kRows, class F>
constexpr void for_each_comparator(const F& f) {
  for (std::size_t p = 1; p < kRows; p *= 2) {
    for (std::size_t k = p; k >= 1; k /= 2) {
      for (std::size_t j = k % p; j + k < kRows; j += 2 * k) {
        for (std::size_t i = 0; i < k && i + j + k < kRows; ++i) {
          if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) f(i + j, i + j + k);
        }
      }
    }
  }
}

template <std::size_t kRows>
constexpr std::size_t count_comparators() {
  std::size_t count = 0;
  for_each_comparator<kRows>([&count](std::size_t, std::size_t) { ++count; });
  return count;
}

template <std::size_t kRows>
constexpr auto make_network() {
  std::array<Rows, count_comparators<kRows>()> network{};
  std::size_t at = 0;
  for_each_comparator<kRows>([&](std::size_t low, std::size_t high) {
    network[at++] = {static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(high)};
  });
  return network;
}

template <std::size_t kRows>
inline constexpr auto kNetwork = make_network<kRows>();

template <class V>
HWY_INLINE void order(V& low, V& high) {
  const V least = hn::Min(low, high);
  high = hn::Max(low, high);
  low = least;
}

template <std::size_t kRows, class V, std::size_t... kAt>
HWY_INLINE void sort_columns(V* rows, std::index_sequence<kAt...> /*comparators*/) {
  (order(rows[kNetwork<kRows>[kAt].low], rows[kNetwork<kRows>[kAt].high]), ...);
}

template <class Lane, std::size_t kLanes, std::size_t kXor>
constexpr auto make_exchange() {
  std::array<Lane, kLanes> from{};
  for (std::size_t i = 0; i < kLanes; ++i) from[i] = static_cast<Lane>(i ^ kXor);
  return from;
}

template <class Lane, std::size_t kLanes, std::size_t kXor>
alignas(64) inline constexpr auto kExchange = make_exchange<Lane, kLanes, kXor>();

// Permutes the lanes: each comes from the lane whose number differs in the bits of kXor.
template <std::size_t kXor, class D, class V>
HWY_INLINE V exchange_lanes(D d, V v) {
  const auto& from = kExchange<hn::TFromD<D>, hn::MaxLanes(D()), kXor>;
  return hn::TableLookupLanes(v, hn::SetTableIndices(d, from.data()));
}

// Lanes whose number has the bit get the greater of the two.
template <std::size_t kBit, class D>
HWY_INLINE auto upper_lanes(D d) {
  using Lane = hn::TFromD<D>;
  const auto bit = hn::Set(d, static_cast<Lane>(kBit));
  return hn::Eq(hn::And(hn::Iota(d, Lane{0}), bit), bit);
}

template <class M, class V>
HWY_INLINE V least_or_greatest(M upper, V own, V other) {
  return hn::IfThenElse(upper, hn::Max(own, other), hn::Min(own, other));
}

// Within rows: lanes at a distance of kLanes, then of half of it, and so on.
template <std::size_t kRows, std::size_t kLanes, class D, class V>
HWY_INLINE void halve_lanes(D d, V* rows) {
  if constexpr (kLanes >= 1) {
    const auto upper = upper_lanes<kLanes>(d);
    for (std::size_t r = 0; r < kRows; ++r) {
      rows[r] = least_or_greatest(upper, rows[r], exchange_lanes<kLanes>(d, rows[r]));
    }
    halve_lanes<kRows, kLanes / 2>(d, rows);
  }
}

template <std::size_t kRows, std::size_t kStride, class V>
HWY_INLINE void halve_rows(V* rows) {
  if constexpr (kStride >= 1) {
    for (std::size_t r = 0; r < kRows; ++r) {
      if ((r & kStride) == 0) order(rows[r], rows[r + kStride]);
    }
    halve_rows<kRows, kStride / 2>(rows);
  }
}

// Merges sorted groups of kLanes / 2 columns to groups of kLanes, and so on to one.
template <std::size_t kRows, std::size_t kLanes, class D, class V>
HWY_INLINE void merge_columns(D d, V* rows) {
  if constexpr (kLanes <= hn::MaxLanes(D())) {
    const auto upper = upper_lanes<kLanes / 2>(d);
    for (std::size_t r = 0; r < kRows / 2; ++r) {
      const V low = rows[r];
      const V high = rows[kRows - 1 - r];
      rows[r] = least_or_greatest(upper, low, exchange_lanes<kLanes - 1>(d, high));
      rows[kRows - 1 - r] = least_or_greatest(upper, high, exchange_lanes<kLanes - 1>(d, low));
    }
    halve_lanes<kRows, kLanes / 4>(d, rows);
    halve_rows<kRows, kRows / 2>(rows);
    merge_columns<kRows, kLanes * 2>(d, rows);
  }
}

// Writes keys[0, count) in order to `out`, which may be `keys`. Requires: they fit the rows.
template <std::size_t kRows, class Key>
HWY_ATTR HWY_NOINLINE void sort_rows(const Key* keys, std::size_t count, Key* out) {
  const hn::ScalableTag<Key> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  alignas(64) Key matrix[kRows * kLanes];
  std::memcpy(matrix, keys, count * sizeof(Key));
  std::fill(matrix + count, matrix + kRows * kLanes, static_cast<Key>(~Key{0}));
  V rows[kRows];
  for (std::size_t r = 0; r < kRows; ++r) rows[r] = hn::Load(d, matrix + r * kLanes);
  sort_columns<kRows>(rows, std::make_index_sequence<kNetwork<kRows>.size()>());
  merge_columns<kRows, 2>(d, rows);
  for (std::size_t r = 0; r < kRows; ++r) hn::Store(rows[r], d, matrix + r * kLanes);
  for (std::size_t lane = 0, at = 0; at < count; ++lane) {
    const std::size_t here = std::min(kRows, count - at);
    for (std::size_t r = 0; r < here; ++r) out[at + r] = matrix[r * kLanes + lane];
    at += here;
  }
}

template <class Key>
inline constexpr std::size_t kMostInRows = 16 * hn::MaxLanes(hn::ScalableTag<Key>());

template <class Key>
HWY_INLINE void sort_few(const Key* keys, std::size_t count, Key* out) {
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<Key>());
  if (count <= 4 * kLanes) return sort_rows<4>(keys, count, out);
  if (count <= 8 * kLanes) return sort_rows<8>(keys, count, out);
  sort_rows<16>(keys, count, out);
}

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

// Packs the lanes of the mask to the front; the others are undefined.
template <class V, class M>
HWY_INLINE V pack(V v, M lanes) {
  return hn::Compress(v, lanes);
}
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// Highway 1.0 looks the lanes up in a table, which GCC copies to the stack each time.
HWY_INLINE hn::Vec512<std::uint64_t> pack(hn::Vec512<std::uint64_t> v,
                                          hn::Mask512<std::uint64_t> lanes) {
  return hn::Vec512<std::uint64_t>{_mm512_maskz_compress_epi64(lanes.raw, v.raw)};
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
#endif

}  // namespace vector_sort
}  // namespace gsort::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
