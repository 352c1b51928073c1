// Compiled once for each vector instruction set (Highway's foreach_target), chosen at run time.
#include "engine/cpu/in_place/halve.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "base/units.hpp"
#include "element/key_loops.hpp"
#include "engine/cpu/in_place/read_ahead.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/in_place/halve.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "engine/cpu/in_place/vector_sort-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gsort::cpu::HWY_NAMESPACE {

// Vectors of 16 bytes gain nothing, and their stores of some lanes also write the others.
#undef GSORT_CAN_HALVE
#if GSORT_HAS_VECTOR_SORT && HWY_MAX_BYTES >= 32
#define GSORT_CAN_HALVE true
namespace hn = hwy::HWY_NAMESPACE;

// The ends of the two divided parts.
template <class Key>
struct Ends {
  Key* low;
  Key* high;
};

// Stores whole vectors. Requires: each end has free places for one.
template <class Key, class V>
HWY_INLINE void divide(V some, V pivots, Ends<Key>& ends) {
  const hn::ScalableTag<Key> d;
  const auto below = hn::Lt(some, pivots);
  const std::size_t count = hn::CountTrue(d, below);
  const std::size_t above = hn::Lanes(d) - count;
  hn::StoreU(vector_sort::pack(some, below), d, ends.low);
  ends.low += count;
  ends.high -= above;
  hn::BlendedStore(vector_sort::pack(some, hn::Not(below)), hn::FirstN(d, above), d, ends.high);
}

// Makes raw keys of an array ordered shortly before they are read, from its two ends.
template <class Key>
class OrderedAhead {
 public:
  // `map`: none if the keys are ordered.
  OrderedAhead(Key* begin, Key* end, const KeyMap<Key>* map)
      : raw_(map == nullptr ? end : begin), raw_end_(end), map_(map) {}

  // Makes the keys in front of `end` ordered, and the keys from `begin` on.
  void up_to(const Key* end) {
    while (raw_ < end && raw_ < raw_end_) raw_ += order(raw_);
  }
  void down_to(const Key* begin) {
    while (raw_end_ > begin && raw_ < raw_end_) {
      raw_end_ -= order(raw_end_ - std::min(kAhead, raw_end_ - raw_));
    }
  }

 private:
  static constexpr std::ptrdiff_t kAhead = 8 * kKiB / sizeof(Key);

  std::ptrdiff_t order(Key* keys) const {
    const std::ptrdiff_t count = std::min(kAhead, raw_end_ - raw_);
    const std::span<Key> some(keys, static_cast<std::size_t>(count));
    map_to_ordered<Key>(some, some, *map_);
    return count;
  }

  Key* raw_;
  Key* raw_end_;
  const KeyMap<Key>* map_;
};

template <class Key>
HWY_ATTR std::size_t divide_all(Key* keys, std::size_t count, Key pivot, const KeyMap<Key>* map) {
  const hn::ScalableTag<Key> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kGroup = 4 * kLanes;  // read from one end, before the next choice
  constexpr std::size_t kRoom = kGroup + kLanes;
  const std::size_t odd = (count - 2 * kRoom) % kGroup;
  Key aside[2 * kRoom + kGroup];
  std::memcpy(aside, keys, (kRoom + odd) * sizeof(Key));
  std::memcpy(aside + kRoom + odd, keys + count - kRoom, kRoom * sizeof(Key));
  const std::span<Key> all_aside(aside, 2 * kRoom + odd);
  if (map != nullptr) map_to_ordered<Key>(all_aside, all_aside, *map);
  Ends<Key> ends{keys, keys + count};
  const Key* unread = keys + kRoom + odd;
  const Key* unread_end = keys + count - kRoom;
  OrderedAhead<Key> ahead(keys + kRoom + odd, keys + count - kRoom, map);
  const auto pivots = hn::Set(d, pivot);
  while (unread < unread_end) {
    const Key* from = unread;
    if (unread - ends.low <= ends.high - unread_end) {
      ahead.up_to(unread += kGroup);
      read_ahead(from, kGroup * sizeof(Key));
    } else {
      ahead.down_to(from = unread_end -= kGroup);
      read_ahead_down(from, kGroup * sizeof(Key));
    }
    const auto first = hn::LoadU(d, from);
    const auto second = hn::LoadU(d, from + kLanes);
    const auto third = hn::LoadU(d, from + 2 * kLanes);
    const auto fourth = hn::LoadU(d, from + 3 * kLanes);
    divide(first, pivots, ends);
    divide(second, pivots, ends);
    divide(third, pivots, ends);
    divide(fourth, pivots, ends);
  }
  for (const Key key : all_aside) {
    const bool is_below = key < pivot;
    *(is_below ? ends.low : ends.high - 1) = key;
    ends.low += is_below ? 1 : 0;
    ends.high -= is_below ? 0 : 1;
  }
  return static_cast<std::size_t>(ends.low - keys);
}

template <class Key>
HWY_ATTR std::size_t halve_keys(Key* keys, std::size_t count, const KeyMap<Key>* map) {
  constexpr std::size_t kSample = vector_sort::kMostInRows<Key>;
  if (count < 4 * kSample) return 0;
  Key sample[kSample];
  for (std::size_t i = 0; i < kSample; ++i) sample[i] = keys[i * (count / kSample)];
  if (map != nullptr) map_to_ordered<Key>(sample, sample, *map);
  vector_sort::sort_few(sample, kSample, sample);
  const Key* const pivot = std::upper_bound(sample, sample + kSample, sample[0]);
  if (pivot == sample + kSample) return 0;
  return divide_all(keys, count, std::max(*pivot, sample[kSample / 2]), map);
}
#else
#define GSORT_CAN_HALVE false
template <class Key>
std::size_t halve_keys(Key* /*keys*/, std::size_t /*count*/, const KeyMap<Key>* /*map*/) {
  return 0;
}
#endif

std::size_t halve_u32(std::uint32_t* keys, std::size_t count, const KeyMap<std::uint32_t>* map) {
  return halve_keys(keys, count, map);
}
std::size_t halve_u64(std::uint64_t* keys, std::size_t count, const KeyMap<std::uint64_t>* map) {
  return halve_keys(keys, count, map);
}
bool has_vector_code() {
  return GSORT_CAN_HALVE;
}

}  // namespace gsort::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort::cpu {

HWY_EXPORT(halve_u32);
HWY_EXPORT(halve_u64);
HWY_EXPORT(has_vector_code);

namespace {

// `map`: none if the keys are ordered.
std::size_t try_to_halve(std::span<std::uint32_t> keys, const KeyMap<std::uint32_t>* map) {
  return HWY_DYNAMIC_DISPATCH(halve_u32)(keys.data(), keys.size(), map);
}

std::size_t try_to_halve(std::span<std::uint64_t> keys, const KeyMap<std::uint64_t>* map) {
  return HWY_DYNAMIC_DISPATCH(halve_u64)(keys.data(), keys.size(), map);
}

std::size_t try_to_halve(std::span<UInt128> /*keys*/, const KeyMap<UInt128>* /*map*/) {
  return 0;
}

}  // namespace

template <class Key>
std::size_t halve(std::span<Key> keys) {
  return try_to_halve(keys, nullptr);
}

template <class Key>
std::size_t halve(std::span<Key> raw, const KeyMap<Key>& map) {
  if (map.is_identity()) return halve(raw);
  const std::size_t below = try_to_halve(raw, &map);
  if (below == 0) map_to_ordered<Key>(raw, raw, map);
  return below;
}

#define GSORT_HALVE_OF(Key)                   \
  template std::size_t halve(std::span<Key>); \
  template std::size_t halve(std::span<Key>, const KeyMap<Key>&);
GSORT_HALVE_OF(std::uint32_t)
GSORT_HALVE_OF(std::uint64_t)
GSORT_HALVE_OF(UInt128)
#undef GSORT_HALVE_OF

bool can_halve(std::size_t key_bytes) {
  return key_bytes <= sizeof(std::uint64_t) && HWY_DYNAMIC_DISPATCH(has_vector_code)();
}

}  // namespace gsort::cpu
#endif  // HWY_ONCE
