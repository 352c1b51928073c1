// The key map as loops over many keys want it. To be included behind Highway's headers, once for
// each vector instruction set: hence no usual guard.
#if defined(GSORT_BASE_FIXED_MAP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_BASE_FIXED_MAP_INL
#undef GSORT_BASE_FIXED_MAP_INL
#else
#define GSORT_BASE_FIXED_MAP_INL
#endif

#include "element/key.hpp"

HWY_BEFORE_NAMESPACE();
namespace gsort::HWY_NAMESPACE {

// The map with its switches known at compile time, so that the loops hold no branches.
template <class Key, bool kSwaps, KeyFold kFold>
struct FixedMap {
  Key flip;

  HWY_INLINE Key to_ordered(Key raw) const {
    return KeyMap<Key>{flip, kSwaps, kFold}.to_ordered(raw);
  }
  HWY_INLINE Key to_raw(Key ordered) const {
    return KeyMap<Key>{flip, kSwaps, kFold}.to_raw(ordered);
  }
};

template <KeyFold kFold, class Key, class F>
HWY_INLINE auto with_fold(KeyMap<Key> map, const F& f) {
  return map.swaps_bytes ? f(FixedMap<Key, true, kFold>{map.flip})
                         : f(FixedMap<Key, false, kFold>{map.flip});
}

template <class Key, class F>
HWY_INLINE auto with_fixed_map(KeyMap<Key> map, const F& f) {
  switch (map.fold) {
    case KeyFold::kNone:
      break;
    case KeyFold::kFloat:
      if constexpr (is_used(KeyFold::kFloat, sizeof(Key))) {
        return with_fold<KeyFold::kFloat>(map, f);
      }
      break;
    case KeyFold::kTime:
      if constexpr (is_used(KeyFold::kTime, sizeof(Key))) {
        return with_fold<KeyFold::kTime>(map, f);
      }
      break;
  }
  return with_fold<KeyFold::kNone>(map, f);
}

}  // namespace gsort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // GSORT_BASE_FIXED_MAP_INL
