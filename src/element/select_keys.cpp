// Keys are read stretch by stretch: vector code without branches finds whether a key comes before
// the bound, and the least of the others; only if one does, the stretch is read key by key.
#include "element/select_keys.hpp"

#include <algorithm>
#include <tuple>

#include "base/made_once.hpp"

#ifndef GSORT_ELEMENT_SELECT_KEYS_TABLE
#define GSORT_ELEMENT_SELECT_KEYS_TABLE
namespace gsort {

template <class Key>
using Selector = KeySelection<Key> (*)(const Key*, std::size_t, KeyMap<Key>, Key, Key*);

template <class Key>
using LeastFinder = void (*)(const Key*, std::size_t, KeyMap<Key>, std::uint64_t*);

using AllSelectors = std::tuple<Selector<std::uint32_t>, Selector<std::uint64_t>,
                                LeastFinder<std::uint32_t>, LeastFinder<std::uint64_t>>;

}  // namespace gsort
#endif  // GSORT_ELEMENT_SELECT_KEYS_TABLE

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "element/select_keys.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "element/fixed_map-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gsort::HWY_NAMESPACE {

constexpr std::size_t kStretch = kKeysOfStretch;

// Returns the least of a stretch's keys: it shows whether any key comes before a bound, and is the
// result if none does.
template <class Key, class Map>
HWY_INLINE Key least_of(const Key* raw, std::size_t count, Map map) {
  Key least = static_cast<Key>(~Key{0});
  for (std::size_t i = 0; i < count; ++i) {
    const Key key = map.to_ordered(raw[i]);
    least = key < least ? key : least;
  }
  return least;
}

template <class Key, class Map>
HWY_ATTR KeySelection<Key> select_loop(const Key* raw, std::size_t count, Map map, Key bound,
                                       Key* taken) {
  KeySelection<Key> selection{0, static_cast<Key>(~Key{0})};
  for (std::size_t begin = 0; begin < count; begin += kStretch) {
    const std::size_t end = begin + kStretch < count ? begin + kStretch : count;
    const Key least = least_of(raw + begin, end - begin, map);
    if (least >= bound) {
      selection.least_left = std::min(selection.least_left, least);
      continue;
    }
    for (std::size_t i = begin; i < end; ++i) {
      const Key key = map.to_ordered(raw[i]);
      taken[selection.taken] = raw[i];
      selection.taken += key < bound ? 1 : 0;
      const Key left = key < bound ? static_cast<Key>(~Key{0}) : key;
      selection.least_left = std::min(selection.least_left, left);
    }
  }
  return selection;
}

template <class Key>
KeySelection<Key> select_any(const Key* raw, std::size_t count, KeyMap<Key> map, Key bound,
                             Key* taken) {
  return with_fixed_map(map,
                        [&](auto fixed) { return select_loop(raw, count, fixed, bound, taken); });
}

template <class Key, class Map>
HWY_ATTR void least_loop(const Key* raw, std::size_t count, Map map, std::uint64_t* least) {
  for (std::size_t begin = 0; begin < count; begin += kStretch) {
    *least++ = least_of(raw + begin, std::min(kStretch, count - begin), map);
  }
}

template <class Key>
void find_least(const Key* raw, std::size_t count, KeyMap<Key> map, std::uint64_t* least) {
  with_fixed_map(map, [&](auto fixed) { least_loop(raw, count, fixed, least); });
}

AllSelectors all_selectors() {
  return {&select_any<std::uint32_t>, &select_any<std::uint64_t>, &find_least<std::uint32_t>,
          &find_least<std::uint64_t>};
}

}  // namespace gsort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort {

HWY_EXPORT(all_selectors);

namespace {

const AllSelectors& chosen_selectors() {
  return made_once([] { return HWY_DYNAMIC_DISPATCH(all_selectors)(); });
}

}  // namespace

template <class Key>
KeySelection<Key> select_below(std::span<const Key> raw, KeyMap<Key> map, Key bound, Key* taken) {
  return std::get<Selector<Key>>(chosen_selectors())(raw.data(), raw.size(), map, bound, taken);
}

template <class Key>
void least_of_stretches(std::span<const Key> raw, KeyMap<Key> map, std::uint64_t* least) {
  std::get<LeastFinder<Key>>(chosen_selectors())(raw.data(), raw.size(), map, least);
}

template KeySelection<std::uint32_t> select_below(std::span<const std::uint32_t>,
                                                  KeyMap<std::uint32_t>, std::uint32_t,
                                                  std::uint32_t*);
template KeySelection<std::uint64_t> select_below(std::span<const std::uint64_t>,
                                                  KeyMap<std::uint64_t>, std::uint64_t,
                                                  std::uint64_t*);
template void least_of_stretches(std::span<const std::uint32_t>, KeyMap<std::uint32_t>,
                                 std::uint64_t*);
template void least_of_stretches(std::span<const std::uint64_t>, KeyMap<std::uint64_t>,
                                 std::uint64_t*);

}  // namespace gsort
#endif  // HWY_ONCE
