// Key types and the maps that make all of them one problem. A key as it lies in a file is raw bits;
// each type, byte order and direction has a one-to-one map to an unsigned number of the same width
// whose ascending order is the wanted order:
//
//   unsigned          the number itself
//   signed            sign bit flipped:             -1 -> 0x7f.., 0 -> 0x80..
//   float, double     IEEE total order: negative: all bits flipped, else the sign bit flipped, so
//                     -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN
//   time              signed, less one, so that the least number (NumPy's NaT) comes last
//   descending        all bits flipped, last
//   other byte order  bytes swapped, first
//
// The map is applied where data enters an engine and undone where it leaves; nothing between knows
// types. Source of the float map: M. Herf, "Radix tricks" (2001); IEEE 754-2019, totalOrder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/host_device.hpp"
#include "element/short_float.hpp"

namespace gsort {

// What is done to a number beside flipping the same bits of every number.
enum class KeyFold : std::uint8_t { kNone, kFloat, kTime };

// The key types. All else that is said of them, in the options too, is made from these rows: the
// enumerator, the name, the C++ type whose size, sign and text it has, and what orders it. The
// first table has the types that are ordered as their C++ types are; the library sorts arrays of
// those.
#define GSORT_NUMBER_TYPES(ROW)          \
  ROW(kU8, "u8", std::uint8_t, kNone)    \
  ROW(kI8, "i8", std::int8_t, kNone)     \
  ROW(kU16, "u16", std::uint16_t, kNone) \
  ROW(kI16, "i16", std::int16_t, kNone)  \
  ROW(kU32, "u32", std::uint32_t, kNone) \
  ROW(kI32, "i32", std::int32_t, kNone)  \
  ROW(kU64, "u64", std::uint64_t, kNone) \
  ROW(kI64, "i64", std::int64_t, kNone)  \
  ROW(kF32, "f32", float, kFloat)        \
  ROW(kF64, "f64", double, kFloat)
#define GSORT_KEY_TYPES(ROW)                  \
  GSORT_NUMBER_TYPES(ROW)                     \
  ROW(kTime64, "time64", std::int64_t, kTime) \
  ROW(kF16, "f16", Float16, kFloat)           \
  ROW(kBF16, "bf16", BFloat16, kFloat)

enum class KeyType : std::uint8_t {
#define GSORT_ENUMERATOR(type, ...) type,
  GSORT_KEY_TYPES(GSORT_ENUMERATOR)
#undef GSORT_ENUMERATOR
};

inline constexpr KeyType kAllKeyTypes[] = {
#define GSORT_ENUMERATOR(type, ...) KeyType::type,
    GSORT_KEY_TYPES(GSORT_ENUMERATOR)
#undef GSORT_ENUMERATOR
};

inline constexpr std::string_view kKeyTypeChoices =
#define GSORT_NAME(type, name, ...) "|" name
    std::string_view(GSORT_KEY_TYPES(GSORT_NAME)).substr(1);  // "u8|i8|u16", ...
#undef GSORT_NAME
inline constexpr std::string_view kKeyTypeNames =
#define GSORT_NAME(type, name, ...) " " name
    std::string_view(GSORT_KEY_TYPES(GSORT_NAME)).substr(1);  // "u8 i8 u16", ...
#undef GSORT_NAME

struct KeyTypeFacts {
  std::string_view name;
  std::size_t bytes;
  bool is_float;
  bool is_signed;
  KeyFold fold;
};

inline constexpr KeyTypeFacts kKeyTypeFacts[] = {
#define GSORT_FACTS(type, name, Value, fold) \
  {name, sizeof(Value), kIsFloat<Value>, std::is_signed_v<Value>, KeyFold::fold},
    GSORT_KEY_TYPES(GSORT_FACTS)
#undef GSORT_FACTS
};

[[nodiscard]] constexpr const KeyTypeFacts& facts_of(KeyType type) {
  return kKeyTypeFacts[static_cast<std::size_t>(type)];
}

[[nodiscard]] constexpr std::string_view name_of(KeyType type) {
  return facts_of(type).name;  // "u32"
}
[[nodiscard]] constexpr std::size_t bytes_of(KeyType type) {
  return facts_of(type).bytes;
}
[[nodiscard]] constexpr bool is_float(KeyType type) {
  return facts_of(type).is_float;
}
[[nodiscard]] constexpr bool is_signed_integer(KeyType type) {
  return facts_of(type).is_signed && !facts_of(type).is_float;
}
[[nodiscard]] constexpr KeyFold fold_of(KeyType type) {
  return facts_of(type).fold;
}

// Whether a C++ type is that of a row of GSORT_NUMBER_TYPES.
template <class Key>
inline constexpr bool kIsNumberType =
#define GSORT_IS_SAME(type, name, Value, fold) || std::is_same_v<Key, Value>
    false GSORT_NUMBER_TYPES(GSORT_IS_SAME);
#undef GSORT_IS_SAME

// None if there is no such type.
[[nodiscard]] constexpr std::optional<KeyType> key_type_named(std::string_view name) {
  for (const KeyType type : kAllKeyTypes) {
    if (name_of(type) == name) return type;
  }
  return std::nullopt;
}

// How keys lie in a file and which order is wanted.
struct KeyFormat {
  KeyType type = KeyType::kI32;
  bool big_endian = false;
  bool descending = false;

  friend bool operator==(const KeyFormat&, const KeyFormat&) = default;
};

template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Key swap_bytes(Key key) {
  if constexpr (sizeof(Key) == 1) {
    return key;
  } else if constexpr (sizeof(Key) == 2) {
    return static_cast<Key>((key << 8) | (key >> 8));
  } else if constexpr (sizeof(Key) == 4) {
    key = ((key & 0x00ff00ffU) << 8) | ((key >> 8) & 0x00ff00ffU);
    return (key << 16) | (key >> 16);
  } else {
    key = ((key & 0x00ff00ff00ff00ffULL) << 8) | ((key >> 8) & 0x00ff00ff00ff00ffULL);
    key = ((key & 0x0000ffff0000ffffULL) << 16) | ((key >> 16) & 0x0000ffff0000ffffULL);
    return (key << 32) | (key >> 32);
  }
}

// A number of `sign_shift` + 1 bits whose order is that of the fold, but for bits that are flipped
// in every number; and back.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Key fold_number(KeyFold fold, Key raw,
                                                          unsigned sign_shift) {
  const Key sign = static_cast<Key>(Key{1} << sign_shift);
  const Key all = static_cast<Key>(sign | (sign - 1U));
  if (fold == KeyFold::kFloat) {
    return static_cast<Key>(raw ^ ((raw >> sign_shift) != 0 ? all : sign));
  }
  if (fold == KeyFold::kTime) return static_cast<Key>(((raw ^ sign) - 1U) & all);
  return raw;
}

template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Key unfold_number(KeyFold fold, Key folded,
                                                            unsigned sign_shift) {
  const Key sign = static_cast<Key>(Key{1} << sign_shift);
  const Key all = static_cast<Key>(sign | (sign - 1U));
  if (fold == KeyFold::kFloat) {
    return static_cast<Key>(folded ^ ((folded >> sign_shift) != 0 ? sign : all));
  }
  if (fold == KeyFold::kTime) return static_cast<Key>(((folded + 1U) & all) ^ sign);
  return folded;
}

// The map of one format for keys of type Key (std::uint8_t to std::uint64_t). A value type that
// kernels take by value. to_raw(to_ordered(x)) == x for every x, and the other way round.
template <class Key>
struct KeyMap {
  Key flip = 0;  // xor-ed to every key: the sign bit, complemented when descending
  bool swaps_bytes = false;
  KeyFold fold = KeyFold::kNone;

  static constexpr unsigned kSignShift = 8 * sizeof(Key) - 1;
  static constexpr Key kSignBit = static_cast<Key>(Key{1} << kSignShift);

  [[nodiscard]] static constexpr KeyMap of(const KeyFormat& format) {
    KeyMap map;
    map.fold = fold_of(format.type);
    const bool flips_sign = is_signed_integer(format.type) && map.fold == KeyFold::kNone;
    map.flip = flips_sign ? kSignBit : Key{0};
    if (format.descending) map.flip = static_cast<Key>(~map.flip);
    map.swaps_bytes = format.big_endian && sizeof(Key) > 1;
    return map;
  }

  [[nodiscard]] constexpr bool is_identity() const {
    return fold == KeyFold::kNone && !swaps_bytes && flip == 0;
  }

  [[nodiscard]] GSORT_HOST_DEVICE constexpr Key to_ordered(Key raw) const {
    if (swaps_bytes) raw = swap_bytes(raw);
    return static_cast<Key>(fold_number(fold, raw, kSignShift) ^ flip);
  }

  [[nodiscard]] GSORT_HOST_DEVICE constexpr Key to_raw(Key ordered) const {
    const Key raw = unfold_number(fold, static_cast<Key>(ordered ^ flip), kSignShift);
    return swaps_bytes ? swap_bytes(raw) : raw;
  }
};

// Calls f(Key{}) with the unsigned type as wide as `key_bytes` (1, 2, 4 or 8).
template <class F>
decltype(auto) with_key_of_width(std::size_t key_bytes, F&& f) {
  switch (key_bytes) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

}  // namespace gsort
