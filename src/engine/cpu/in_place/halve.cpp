// Compiled once for each vector instruction set (Highway's foreach_target), chosen at run time.
#include "engine/cpu/in_place/halve.hpp"

#include <algorithm>
#include <cstring>

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

template <class Key>
HWY_ATTR std::size_t divide_all(Key* keys, std::size_t count, Key pivot) {
  const hn::ScalableTag<Key> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kGroup = 4 * kLanes;  // read from one end, before the next choice
  constexpr std::size_t kRoom = kGroup + kLanes;
  const std::size_t odd = (count - 2 * kRoom) % kGroup;
  Key aside[2 * kRoom + kGroup];
  std::memcpy(aside, keys, (kRoom + odd) * sizeof(Key));
  std::memcpy(aside + kRoom + odd, keys + count - kRoom, kRoom * sizeof(Key));
  Ends<Key> ends{keys, keys + count};
  const Key* unread = keys + kRoom + odd;
  const Key* unread_end = keys + count - kRoom;
  const auto pivots = hn::Set(d, pivot);
  while (unread < unread_end) {
    const Key* from = unread;
    if (unread - ends.low <= ends.high - unread_end) {
      unread += kGroup;
      read_ahead(from, kGroup * sizeof(Key));
    } else {
      from = unread_end -= kGroup;
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
  for (std::size_t i = 0; i < 2 * kRoom + odd; ++i) {
    const bool is_below = aside[i] < pivot;
    *(is_below ? ends.low : ends.high - 1) = aside[i];
    ends.low += is_below ? 1 : 0;
    ends.high -= is_below ? 0 : 1;
  }
  return static_cast<std::size_t>(ends.low - keys);
}

template <class Key>
HWY_ATTR std::size_t halve_keys(Key* keys, std::size_t count) {
  constexpr std::size_t kSample = vector_sort::kMostInRows<Key>;
  if (count < 4 * kSample) return 0;
  Key sample[kSample];
  for (std::size_t i = 0; i < kSample; ++i) sample[i] = keys[i * (count / kSample)];
  vector_sort::sort_few(sample, kSample, sample);
  const Key* const pivot = std::upper_bound(sample, sample + kSample, sample[0]);
  if (pivot == sample + kSample) return 0;
  return divide_all(keys, count, std::max(*pivot, sample[kSample / 2]));
}
#else
#define GSORT_CAN_HALVE false
template <class Key>
std::size_t halve_keys(Key* /*keys*/, std::size_t /*count*/) {
  return 0;
}
#endif

std::size_t halve_u32(std::uint32_t* keys, std::size_t count) {
  return halve_keys(keys, count);
}
std::size_t halve_u64(std::uint64_t* keys, std::size_t count) {
  return halve_keys(keys, count);
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

std::size_t halve(std::span<std::uint32_t> keys) {
  return HWY_DYNAMIC_DISPATCH(halve_u32)(keys.data(), keys.size());
}

std::size_t halve(std::span<std::uint64_t> keys) {
  return HWY_DYNAMIC_DISPATCH(halve_u64)(keys.data(), keys.size());
}

std::size_t halve(std::span<UInt128> /*keys*/) {
  return 0;
}

bool can_halve(std::size_t key_bytes) {
  return key_bytes <= sizeof(std::uint64_t) && HWY_DYNAMIC_DISPATCH(has_vector_code)();
}

}  // namespace gsort::cpu
#endif  // HWY_ONCE
