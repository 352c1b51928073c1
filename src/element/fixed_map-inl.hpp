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

// That of a tuple, where all bytes move together.
template <class Key>
struct RotatingMap {
  Key flip;
  unsigned bytes;

  HWY_INLINE Key to_ordered(Key raw) const {
    return static_cast<Key>(TupleMap<Key>::rotate_left(raw, bytes) ^ flip);
  }
  HWY_INLINE Key to_raw(Key ordered) const {
    return TupleMap<Key>::rotate_left(static_cast<Key>(ordered ^ flip), sizeof(Key) - bytes);
  }
};

// That of any tuple.
template <class Key>
struct MovingMap {
  Key flip;
  TupleMap<Key> tuple;

  HWY_INLINE Key to_ordered(Key raw) const {
    return static_cast<Key>(tuple.to_ordered(raw) ^ flip);
  }
  HWY_INLINE Key to_raw(Key ordered) const {
    return tuple.to_raw(static_cast<Key>(ordered ^ flip));
  }
};

template <KeyFold kFold, class Key, class F>
HWY_INLINE auto with_fold(KeyMap<Key> map, const F& f) {
  return map.swaps_bytes ? f(FixedMap<Key, true, kFold>{map.flip})
                         : f(FixedMap<Key, false, kFold>{map.flip});
}

template <class Key, class F>
HWY_INLINE auto with_fixed_map(KeyMap<Key> map, const F& f) {
  if constexpr (sizeof(Key) > 1) {
    if (map.fold == KeyFold::kTuple) {
      const auto rotation = map.tuple.rotation();
      return rotation ? f(RotatingMap<Key>{map.flip, *rotation})
                      : f(MovingMap<Key>{map.flip, map.tuple});
    }
  }
  // Of the folds that keys of this width have.
#define GSORT_TRY_FOLD(type, name, Value, fold_of_type) \
  if constexpr (sizeof(Value) == sizeof(Key)) {         \
    if (map.fold == KeyFold::fold_of_type) {            \
      return with_fold<KeyFold::fold_of_type>(map, f);  \
    }                                                   \
  }
  GSORT_KEY_TYPES(GSORT_TRY_FOLD)
#undef GSORT_TRY_FOLD
  return with_fold<KeyFold::kNone>(map, f);
}

}  // namespace gsort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // GSORT_BASE_FIXED_MAP_INL
