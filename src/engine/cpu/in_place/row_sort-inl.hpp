// row_sort: sorts few keys in vector registers, for the instruction set that the including file is
// compiled for.
//
// Up to 16 vectors of keys are the rows of a matrix. A network of rows sorts the columns. Bitonic
// steps then merge columns; the last steps of a merge, between rows, move no lanes. Finally, the
// columns are written one after the other.
//
// Example. Four lanes, two rows: keys 7 2 9 4 / 3 8 1 6. Columns sorted: 3 2 1 4 / 7 8 9 6. Columns
// merged by twos (3 7 with 2 8, 1 9 with 4 6): 2 3 7 8, 1 4 6 9; by fours: 1 2 3 4 6 7 8 9.
//
// Source: Batcher, "Sorting networks and their applications" (AFIPS 1968),
// doi:10.1145/1468075.1468121.

#if defined(GSORT_ENGINE_ROW_SORT) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_ENGINE_ROW_SORT
#undef GSORT_ENGINE_ROW_SORT
#else
#define GSORT_ENGINE_ROW_SORT
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gsort::cpu::HWY_NAMESPACE {
namespace vector_sort {

namespace hn = hwy::HWY_NAMESPACE;

// Arrays cannot hold vectors whose size is known only at run time.
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

// Each lane comes from the lane whose number differs in the bits of kXor.
template <std::size_t kXor, class D, class V>
HWY_INLINE V exchange_lanes(D d, V v) {
  const auto& from = kExchange<hn::TFromD<D>, hn::MaxLanes(D()), kXor>;
  return hn::TableLookupLanes(v, hn::SetTableIndices(d, from.data()));
}

// Marks the lanes whose number has the bit: they get the greater of two keys.
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

// Orders lanes of a row at a distance of kLanes, then of half of it, and so on.
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

// Takes lanes of both vectors in turn: from their lower halves, then from their upper ones.
template <class D, class V>
HWY_INLINE void interleave(D d, V a, V b, V& lower, V& upper) {
  const V low = hn::InterleaveLower(d, a, b);
  const V high = hn::InterleaveUpper(d, a, b);
  if constexpr (sizeof(hn::TFromD<D>) * hn::MaxLanes(D()) == 32) {
    lower = hn::ConcatLowerLower(d, high, low);
    upper = hn::ConcatUpperUpper(d, high, low);
  } else {
    lower = low;
    upper = high;
  }
}
#if HWY_MAX_BYTES == 64
template <class Lane, std::size_t kLanes, std::size_t kFirst>
constexpr auto make_turns() {
  std::array<Lane, kLanes> from{};
  for (std::size_t i = 0; i < kLanes; ++i)
    from[i] = static_cast<Lane>(kFirst + i / 2 + i % 2 * kLanes);
  return from;
}
template <class Lane, std::size_t kLanes, std::size_t kFirst>
alignas(64) inline constexpr auto kTurns = make_turns<Lane, kLanes, kFirst>();

template <class D>
HWY_INLINE void interleave(D d, hn::Vec512<std::uint32_t> a, hn::Vec512<std::uint32_t> b,
                           hn::Vec512<std::uint32_t>& lower, hn::Vec512<std::uint32_t>& upper) {
  const auto low = hn::Load(d, kTurns<std::uint32_t, 16, 0>.data());
  const auto high = hn::Load(d, kTurns<std::uint32_t, 16, 8>.data());
  lower = hn::Vec512<std::uint32_t>{_mm512_permutex2var_epi32(a.raw, low.raw, b.raw)};
  upper = hn::Vec512<std::uint32_t>{_mm512_permutex2var_epi32(a.raw, high.raw, b.raw)};
}
template <class D>
HWY_INLINE void interleave(D d, hn::Vec512<std::uint64_t> a, hn::Vec512<std::uint64_t> b,
                           hn::Vec512<std::uint64_t>& lower, hn::Vec512<std::uint64_t>& upper) {
  const auto low = hn::Load(d, kTurns<std::uint64_t, 8, 0>.data());
  const auto high = hn::Load(d, kTurns<std::uint64_t, 8, 4>.data());
  lower = hn::Vec512<std::uint64_t>{_mm512_permutex2var_epi64(a.raw, low.raw, b.raw)};
  upper = hn::Vec512<std::uint64_t>{_mm512_permutex2var_epi64(a.raw, high.raw, b.raw)};
}
#endif

// Columns become stretches of the rows, one after the other. Each round moves the highest bit of a
// row's number to the end of the lane's number, and the lane's highest bit to the end of the row's.
template <std::size_t kRows, std::size_t kRounds = kRows, class D, class V>
HWY_INLINE void transpose(D d, V* rows) {
  if constexpr (kRounds > 1) {
    V turned[kRows];
    for (std::size_t r = 0; r < kRows / 2; ++r) {
      interleave(d, rows[r], rows[r + kRows / 2], turned[2 * r], turned[2 * r + 1]);
    }
    for (std::size_t r = 0; r < kRows; ++r) rows[r] = turned[r];
    transpose<kRows, kRounds / 2>(d, rows);
  }
}

// Writes keys[0, count) in order to `out`, which may be `keys`. Requires: they fit the rows.
template <std::size_t kRows, class Key>
HWY_ATTR HWY_NOINLINE void sort_rows(const Key* keys, std::size_t count, Key* out) {
  const hn::ScalableTag<Key> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  alignas(64) Key part[kLanes];
  const std::size_t full = count / kLanes;
  const std::size_t left = count % kLanes;
  std::fill_n(part, kLanes, static_cast<Key>(~Key{0}));
  const V none = hn::Load(d, part);
  std::memcpy(part, keys + full * kLanes, left * sizeof(Key));
  V rows[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    rows[r] = r < full ? hn::LoadU(d, keys + r * kLanes) : r == full ? hn::Load(d, part) : none;
  }
  sort_columns<kRows>(rows, std::make_index_sequence<kNetwork<kRows>.size()>());
  merge_columns<kRows, 2>(d, rows);
  transpose<kRows>(d, rows);
  for (std::size_t r = 0; r < kRows; ++r) {
    if (r < full) {
      hn::StoreU(rows[r], d, out + r * kLanes);
    } else if (r == full) {
      hn::Store(rows[r], d, part);
    }
  }
  std::memcpy(out + full * kLanes, part, left * sizeof(Key));
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
#endif

}  // namespace vector_sort
}  // namespace gsort::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
