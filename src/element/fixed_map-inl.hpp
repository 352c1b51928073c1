// The key map for loops over many keys. Include it after Highway's headers, once for each vector
// instruction set: so it has no usual guard.
#if defined(GSORT_ELEMENT_FIXED_MAP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_ELEMENT_FIXED_MAP_INL
#undef GSORT_ELEMENT_FIXED_MAP_INL
#else
#define GSORT_ELEMENT_FIXED_MAP_INL
#endif

#include "element/key.hpp"

HWY_BEFORE_NAMESPACE();
namespace gsort::HWY_NAMESPACE {

// The map with its switches known at compile time, so that the loops have no branches. It does not
// use KeyMap, whose calls the compiler does not inline for keys of 16 bytes.
template <class Key, bool kSwaps, KeyFold kFold, bool kClasses = false>
struct FixedMap {
  static constexpr unsigned kSignShift = KeyMap<Key>::kSignShift;

  Key flip;
  Key nans;

  HWY_INLINE Key to_ordered(Key raw) const {
    Key number = fold_number(kFold, kSwaps ? swap_bytes(raw) : raw, kSignShift);
    if constexpr (kFold == KeyFold::kFloat) number = static_cast<Key>(number - nans);
    if constexpr (kClasses) number = class_of_number(number, nans, kSignShift);
    return static_cast<Key>(number ^ flip);
  }
  HWY_INLINE Key to_raw(Key ordered) const {
    auto folded = static_cast<Key>(ordered ^ flip);
    if constexpr (kFold == KeyFold::kFloat) folded = static_cast<Key>(folded + nans);
    const Key number = unfold_number(kFold, folded, kSignShift);
    return kSwaps ? swap_bytes(number) : number;
  }
};

// The map of a tuple whose bytes all move together.
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

#if HWY_TARGET != HWY_SCALAR  // whose vectors have one byte
HWY_INLINE bool is_shuffle(const KeyMap<UInt128>& map) {
  const auto& signs = map.tuple.sign_bits;
  return (signs[0] | signs[1] | signs[2]) == 0;
}

// The map of a tuple of 16 bytes without floats: each byte moves to its place.
struct ShufflingMap {
  using Bytes = hwy::HWY_NAMESPACE::FixedTag<std::uint8_t, sizeof(UInt128)>;
  static constexpr Bytes kBytes{};

  UInt128 flip;
  std::uint8_t from[sizeof(UInt128)] = {};  // of each byte of the ordered number, in the raw one
  std::uint8_t to[sizeof(UInt128)] = {};    // the inverse

  explicit ShufflingMap(const KeyMap<UInt128>& map) : flip(map.flip) {
    for (unsigned at = 0; at < sizeof(UInt128); ++at) {
      for (unsigned bytes = 0; bytes < sizeof(UInt128); ++bytes) {
        if ((map.tuple.taken[bytes] >> (8 * at) & 0xffU) == 0) continue;
        to[at] = static_cast<std::uint8_t>((at + bytes) % sizeof(UInt128));
        from[to[at]] = static_cast<std::uint8_t>(at);
      }
    }
  }

  static HWY_INLINE UInt128 shuffled(UInt128 key, const std::uint8_t* places) {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto bytes = hn::LoadU(kBytes, reinterpret_cast<const std::uint8_t*>(&key));
    hn::StoreU(hn::TableLookupBytes(bytes, hn::LoadU(kBytes, places)), kBytes,
               reinterpret_cast<std::uint8_t*>(&key));
    return key;
  }
  HWY_INLINE UInt128 to_ordered(UInt128 raw) const { return shuffled(raw, from) ^ flip; }
  HWY_INLINE UInt128 to_raw(UInt128 ordered) const { return shuffled(ordered ^ flip, to); }
};
#endif

// The map of any tuple.
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
  if constexpr (kFold == KeyFold::kFloat) {
    if (map.folds_classes) {
      return map.swaps_bytes ? f(FixedMap<Key, true, kFold, true>{map.flip, map.nans})
                             : f(FixedMap<Key, false, kFold, true>{map.flip, map.nans});
    }
  }
  return map.swaps_bytes ? f(FixedMap<Key, true, kFold>{map.flip, map.nans})
                         : f(FixedMap<Key, false, kFold>{map.flip, map.nans});
}

template <class Key, class F>
HWY_INLINE auto with_fixed_map(KeyMap<Key> map, const F& f) {
  if constexpr (sizeof(Key) > 1) {
    if (map.fold == KeyFold::kTuple) {
#if HWY_TARGET != HWY_SCALAR
      if constexpr (sizeof(Key) == sizeof(UInt128)) {
        if (is_shuffle(map)) return f(ShufflingMap(map));
      }
#endif
      const auto rotation = map.tuple.rotation();
      return rotation ? f(RotatingMap<Key>{map.flip, *rotation})
                      : f(MovingMap<Key>{map.flip, map.tuple});
    }
  }
  // Only the folds that keys of this width have.
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

#endif  // GSORT_ELEMENT_FIXED_MAP_INL
