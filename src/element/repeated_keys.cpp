// The loops are plain and without branches: inside the target's namespace the compiler vectorises
// them for that instruction set.
#include "element/repeated_keys.hpp"

#include <functional>
#include <tuple>

#include "base/made_once.hpp"

#ifndef GSORT_ELEMENT_REPEATED_KEYS_TABLE
#define GSORT_ELEMENT_REPEATED_KEYS_TABLE
namespace gsort {

template <class Key>
using ChangeCounter = std::size_t (*)(const Key*, std::size_t);

using AllChangeCounters =
    std::tuple<ChangeCounter<std::uint8_t>, ChangeCounter<std::uint16_t>,
               ChangeCounter<std::uint32_t>, ChangeCounter<std::uint64_t>, ChangeCounter<UInt128>>;

}  // namespace gsort
#endif  // GSORT_ELEMENT_REPEATED_KEYS_TABLE

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "element/repeated_keys.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gsort::HWY_NAMESPACE {

// Counts in stretches so short that a counter as wide as a key suffices: a vector then has as many
// counters as keys.
template <class Key>
HWY_ATTR std::size_t count_loop(const Key* keys, std::size_t count) {
  constexpr std::size_t kStretch = sizeof(Key) == 1 ? 255 : 1024;
  std::size_t changes = 0;
  for (std::size_t begin = 1; begin < count; begin += kStretch) {
    const std::size_t end = begin + kStretch < count ? begin + kStretch : count;
    Key here = 0;
    for (std::size_t i = begin; i < end; ++i) {
      here = static_cast<Key>(here + (keys[i] != keys[i - 1] ? 1 : 0));
    }
    changes += static_cast<std::size_t>(here);
  }
  return changes;
}

AllChangeCounters all_change_counters() {
  return {&count_loop<std::uint8_t>, &count_loop<std::uint16_t>, &count_loop<std::uint32_t>,
          &count_loop<std::uint64_t>, &count_loop<UInt128>};
}

}  // namespace gsort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort {

HWY_EXPORT(all_change_counters);

template <class Key>
std::size_t count_changes(std::span<const Key> keys) {
  const auto choose = [] { return HWY_DYNAMIC_DISPATCH(all_change_counters)(); };
  return std::get<ChangeCounter<Key>>(made_once(choose))(keys.data(), keys.size());
}

template <class Key>
std::size_t split_repeats(Key before, std::span<const Key> keys, Key* kept, Key* repeats) {
  return split_repeats(before, keys, kept, repeats, std::identity());
}

#define GSORT_REPEATS_OF(Key)                               \
  template std::size_t count_changes(std::span<const Key>); \
  template std::size_t split_repeats(Key, std::span<const Key>, Key*, Key*);
GSORT_REPEATS_OF(std::uint8_t)
GSORT_REPEATS_OF(std::uint16_t)
GSORT_REPEATS_OF(std::uint32_t)
GSORT_REPEATS_OF(std::uint64_t)
GSORT_REPEATS_OF(UInt128)
#undef GSORT_REPEATS_OF

}  // namespace gsort
#endif  // HWY_ONCE
