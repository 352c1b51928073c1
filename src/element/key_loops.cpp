// Compiled once for each vector instruction set (Highway's foreach_target), chosen at run time. The
// loops are plain: inside the target's namespace the compiler vectorises them for that instruction
// set.
#include "element/key_loops.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>

#include "base/made_once.hpp"
#include "element/element.hpp"

#ifndef GSORT_ELEMENT_KEY_LOOPS_TABLE
#define GSORT_ELEMENT_KEY_LOOPS_TABLE
// Put before a loop, tells the compiler that input and output are the same array or do not overlap.
// Clang has no such pragma; its code checks for overlap when the loop runs.
#ifdef __clang__
#define GSORT_SAME_OR_APART
#else
#define GSORT_SAME_OR_APART _Pragma("GCC ivdep")
#endif

namespace gsort {

// The loops for one type of key, of one instruction set.
template <class Key>
struct KeyLoops {
  void (*to_ordered)(const Key*, Key*, std::size_t, KeyMap<Key>);
  void (*to_raw)(const Key*, Key*, std::size_t, KeyMap<Key>);
  std::size_t (*disorder)(const Key*, std::size_t, KeyMap<Key>);
};

using AllKeyLoops = std::tuple<KeyLoops<std::uint8_t>, KeyLoops<std::uint16_t>,
                               KeyLoops<std::uint32_t>, KeyLoops<std::uint64_t>, KeyLoops<UInt128>>;

}  // namespace gsort
#endif  // GSORT_ELEMENT_KEY_LOOPS_TABLE

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "element/key_loops.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "element/fixed_map-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gsort::HWY_NAMESPACE {

template <class Key, class Map>
HWY_ATTR void to_ordered_loop(const Key* in, Key* out, std::size_t count, Map map) {
  GSORT_SAME_OR_APART
  for (std::size_t i = 0; i < count; ++i) out[i] = map.to_ordered(in[i]);
}

template <class Key, class Map>
HWY_ATTR void to_raw_loop(const Key* in, Key* out, std::size_t count, Map map) {
  GSORT_SAME_OR_APART
  for (std::size_t i = 0; i < count; ++i) out[i] = map.to_raw(in[i]);
}

constexpr std::size_t kStretch = 1024;

// Whether any of the first `pairs` keys comes after its successor. Each key is mapped once, unless
// the map only flips bits: the compiler makes no vector code of some maps of both neighbours.
// Requires: pairs <= kStretch.
template <class Key, class Map>
HWY_ATTR bool has_disorder(const Key* keys, std::size_t pairs, Map map) {
  using Flip = FixedMap<Key, false, KeyFold::kNone>;
  if constexpr (std::is_same_v<Map, Flip>) {
    Key bad = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      bad |= static_cast<Key>(map.to_ordered(keys[i + 1]) < map.to_ordered(keys[i]) ? 1 : 0);
    }
    return bad != 0;
  } else {
    Key ordered[kStretch + 1];
    to_ordered_loop(keys, ordered, pairs + 1, map);
    return has_disorder(ordered, pairs, Flip{});
  }
}

// Looks for a disorder stretch by stretch: within a stretch without a branch, then exactly.
template <class Key, class Map>
HWY_ATTR std::size_t disorder_loop(const Key* keys, std::size_t count, Map map) {
  for (std::size_t begin = 0; begin + 1 < count; begin += kStretch) {
    const std::size_t end = std::min(begin + kStretch, count - 1);
    if (!has_disorder(keys + begin, end - begin, map)) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (map.to_ordered(keys[i + 1]) < map.to_ordered(keys[i])) return i;
    }
  }
  return count;
}

template <class Key>
void to_ordered_any(const Key* in, Key* out, std::size_t count, KeyMap<Key> map) {
  with_fixed_map(map, [&](auto fixed) { to_ordered_loop(in, out, count, fixed); });
}

template <class Key>
void to_raw_any(const Key* in, Key* out, std::size_t count, KeyMap<Key> map) {
  with_fixed_map(map, [&](auto fixed) { to_raw_loop(in, out, count, fixed); });
}

template <class Key>
std::size_t disorder_any(const Key* keys, std::size_t count, KeyMap<Key> map) {
  return with_fixed_map(map, [&](auto fixed) { return disorder_loop(keys, count, fixed); });
}

template <class Key>
constexpr KeyLoops<Key> loops_of() {
  return {&to_ordered_any<Key>, &to_raw_any<Key>, &disorder_any<Key>};
}

AllKeyLoops all_key_loops() {
  return {loops_of<std::uint8_t>(), loops_of<std::uint16_t>(), loops_of<std::uint32_t>(),
          loops_of<std::uint64_t>(), loops_of<UInt128>()};
}

}  // namespace gsort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort {
namespace {

HWY_EXPORT(all_key_loops);

template <class Key>
const KeyLoops<Key>& loops() {
  const auto choose = [] { return HWY_DYNAMIC_DISPATCH(all_key_loops)(); };
  return std::get<KeyLoops<Key>>(made_once(choose));
}

}  // namespace

template <class Key>
void map_to_ordered(std::span<const Key> raw, std::span<Key> ordered, KeyMap<Key> map) {
  loops<Key>().to_ordered(raw.data(), ordered.data(), raw.size(), map);
}

template <class Key>
void map_to_raw(std::span<const Key> ordered, std::span<Key> raw, KeyMap<Key> map) {
  loops<Key>().to_raw(ordered.data(), raw.data(), ordered.size(), map);
}

template <class Key>
std::size_t first_disorder(std::span<const Key> raw, KeyMap<Key> map) {
  return loops<Key>().disorder(raw.data(), raw.size(), map);
}

#define GSORT_LOOPS_OF(Key)                                                        \
  template void map_to_ordered(std::span<const Key>, std::span<Key>, KeyMap<Key>); \
  template void map_to_raw(std::span<const Key>, std::span<Key>, KeyMap<Key>);     \
  template std::size_t first_disorder(std::span<const Key>, KeyMap<Key>);
GSORT_LOOPS_OF(std::uint8_t)
GSORT_LOOPS_OF(std::uint16_t)
GSORT_LOOPS_OF(std::uint32_t)
GSORT_LOOPS_OF(std::uint64_t)
GSORT_LOOPS_OF(UInt128)
#undef GSORT_LOOPS_OF

}  // namespace gsort
#endif  // HWY_ONCE
