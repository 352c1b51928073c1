// The key map as loops over many keys want it. To be included behind Highway's headers, once for
// each vector instruction set: hence no usual guard.
#if defined(GSORT_BASE_FIXED_MAP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_BASE_FIXED_MAP_INL
#undef GSORT_BASE_FIXED_MAP_INL
#else
#define GSORT_BASE_FIXED_MAP_INL
#endif

#include "base/key.hpp"

HWY_BEFORE_NAMESPACE();
namespace gsort::HWY_NAMESPACE {

// The map with its two switches known at compile time, so that the loops hold no branches.
template <class Key, bool kSwaps, bool kFloating>
struct FixedMap {
  Key flip;

  HWY_INLINE Key to_ordered(Key raw) const {
    return KeyMap<Key>{flip, kSwaps, kFloating}.to_ordered(raw);
  }
  HWY_INLINE Key to_raw(Key ordered) const {
    return KeyMap<Key>{flip, kSwaps, kFloating}.to_raw(ordered);
  }
};

template <class Key, class F>
HWY_INLINE auto with_fixed_map(KeyMap<Key> map, const F& f) {
  if (map.floating) {
    return map.swaps_bytes ? f(FixedMap<Key, true, true>{map.flip})
                           : f(FixedMap<Key, false, true>{map.flip});
  }
  return map.swaps_bytes ? f(FixedMap<Key, true, false>{map.flip})
                         : f(FixedMap<Key, false, false>{map.flip});
}

}  // namespace gsort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // GSORT_BASE_FIXED_MAP_INL
