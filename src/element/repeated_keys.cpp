// The loops are plain and without branches: inside the target's namespace the compiler vectorises
// them for that instruction set.
#include "element/repeated_keys.hpp"

#include <tuple>

#include "base/made_once.hpp"

#ifndef GSORT_BASE_REPEATED_KEYS_TABLE
#define GSORT_BASE_REPEATED_KEYS_TABLE
namespace gsort {

template <class Key>
using ChangeCounter = std::size_t (*)(const Key*, std::size_t);

using AllChangeCounters =
    std::tuple<ChangeCounter<std::uint8_t>, ChangeCounter<std::uint16_t>,
               ChangeCounter<std::uint32_t>, ChangeCounter<std::uint64_t>, ChangeCounter<UInt128>>;

}  // namespace gsort
#endif  // GSORT_BASE_REPEATED_KEYS_TABLE

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
  std::size_t kept_keys = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key key = keys[i];
    kept[kept_keys] = key;
    repeats[i - kept_keys] = key;
    kept_keys += key != before ? 1 : 0;
    before = key;
  }
  return kept_keys;
}

template std::size_t count_changes(std::span<const std::uint8_t>);
template std::size_t count_changes(std::span<const std::uint16_t>);
template std::size_t count_changes(std::span<const std::uint32_t>);
template std::size_t count_changes(std::span<const std::uint64_t>);
template std::size_t count_changes(std::span<const UInt128>);
template std::size_t split_repeats(std::uint8_t, std::span<const std::uint8_t>, std::uint8_t*,
                                   std::uint8_t*);
template std::size_t split_repeats(std::uint16_t, std::span<const std::uint16_t>, std::uint16_t*,
                                   std::uint16_t*);
template std::size_t split_repeats(std::uint32_t, std::span<const std::uint32_t>, std::uint32_t*,
                                   std::uint32_t*);
template std::size_t split_repeats(std::uint64_t, std::span<const std::uint64_t>, std::uint64_t*,
                                   std::uint64_t*);
template std::size_t split_repeats(UInt128, std::span<const UInt128>, UInt128*, UInt128*);

}  // namespace gsort
#endif  // HWY_ONCE
