// Key types and the maps that make all of them one problem. A key as it lies in a file is raw bits;
// each type, byte order and direction has a one-to-one map to an unsigned number of the same width
// whose ascending order is the wanted order:
//
//   unsigned          the number itself
//   signed            sign bit flipped:             -1 -> 0x7f.., 0 -> 0x80..
//   float, double     all bits flipped if negative, else the sign bit: this is IEEE's total order,
//                     -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN. For numeric order, the
//                     number of negative NaN is subtracted, so that these wrap to the end:
//                     -inf < ... < -0 < +0 < ... < +inf < +NaN < -NaN
//   time              signed, less one, so that the least number (NumPy's NaT) comes last
//   descending        all bits flipped, last
//   other byte order  bytes swapped, first
//   tuple             a record that is nothing but keys (KeyTuple): the maps of its keys, with the
//                     first key in the most significant bytes
//
// The map is applied when data enters an engine and undone when it leaves; the code between knows
// no types. In numeric order -0 equals +0, and all NaN are equal. To compare such keys,
// classes_of() makes maps that give equal floats the same number, and so are not one to one. Source
// of the float map: M. Herf, "Radix tricks" (2001); IEEE 754-2019, totalOrder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/host_device.hpp"
#include "base/short_float.hpp"
#include "element/tuple_map.hpp"

namespace gsort {

__extension__ typedef unsigned __int128 UInt128;  // NOLINT(modernize-use-using)
__extension__ typedef __int128 Int128;            // NOLINT(modernize-use-using)

// As the standard's traits, which need not know numbers of 128 bits.
template <class Value>
inline constexpr bool kIsSigned = std::is_signed_v<Value> || std::is_same_v<Value, Int128>;
template <class Value>
inline constexpr bool kIsWide = std::is_same_v<Value, UInt128> || std::is_same_v<Value, Int128>;

// The step of a map that flips different bits in different numbers.
enum class KeyFold : std::uint8_t { kNone, kFloat, kTime, kTuple };

// The key types. Everything else about them, also in the options, is made from these rows: the
// enumerator, the name, the C++ type whose size, sign and text it has, and the fold that orders it.
// The first table has the types that are ordered as their C++ types are; the library sorts arrays
// of those.
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
  ROW(kBF16, "bf16", BFloat16, kFloat)        \
  ROW(kU128, "u128", UInt128, kNone)          \
  ROW(kI128, "i128", Int128, kNone)

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
  std::uint64_t nans_of_one_sign;
};

template <class Value>
inline constexpr std::uint64_t kNansOfOneSign = 0;
template <>
inline constexpr std::uint64_t kNansOfOneSign<float> = (std::uint64_t{1} << 23) - 1;
template <>
inline constexpr std::uint64_t kNansOfOneSign<double> = (std::uint64_t{1} << 52) - 1;
template <unsigned kExponentBits>
inline constexpr std::uint64_t kNansOfOneSign<ShortFloat<kExponentBits>> =
    (std::uint64_t{1} << ShortFloat<kExponentBits>::kFractionBits) - 1;

inline constexpr KeyTypeFacts kKeyTypeFacts[] = {
#define GSORT_FACTS(type, name, Value, fold) \
  {name, sizeof(Value), kIsFloat<Value>, kIsSigned<Value>, KeyFold::fold, kNansOfOneSign<Value>},
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
// Returns how many NaN have the same sign; 0 for integers.
[[nodiscard]] constexpr std::uint64_t nans_of_one_sign(KeyType type) {
  return facts_of(type).nans_of_one_sign;
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

// The order of floats. kNumeric: by value; -0 equals +0; all NaN are equal and come last.
// kNumericByBits: the same, but equal floats are ordered by their bits. kTotal: IEEE 754's
// totalOrder.
enum class FloatOrder : std::uint8_t { kNumeric, kNumericByBits, kTotal };

// One key of a record.
struct KeyField {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::optional<KeyType> type;  // none: bytes, compared as memcmp does
  bool big_endian = false;      // of numbers
  bool descending = false;
  FloatOrder float_order = FloatOrder::kNumeric;

  friend bool operator==(const KeyField&, const KeyField&) = default;
};

// The keys of a record that has no other bytes: the whole record is one key, an unsigned number of
// its width. Records that are equal in order then have equal bytes.
struct KeyTuple {
  static constexpr std::size_t kMostBytes = 16;

  std::array<KeyField, kMostBytes> fields{};  // the first one decides
  std::size_t count = 0;                      // 0: the key is a number of its type

  friend bool operator==(const KeyTuple&, const KeyTuple&) = default;
};

// The form of keys in a file and the wanted order. Keys of type bytesN have a tuple of one field of
// bytes; if N is not the size of a number, elements are also described as records (element_of()).
struct KeyFormat {
  KeyType type = KeyType::kI32;
  bool big_endian = false;  // for a tuple: as requested; the byte order of the fields decides
  bool descending = false;
  KeyTuple tuple = {};
  FloatOrder float_order = FloatOrder::kNumeric;

  friend bool operator==(const KeyFormat&, const KeyFormat&) = default;
};

// The N of bytesN; 0 for other keys.
[[nodiscard]] constexpr std::uint32_t string_bytes(const KeyFormat& key) {
  const KeyField& first = key.tuple.fields[0];
  return key.tuple.count == 1 && !first.type ? first.bytes : 0;
}
[[nodiscard]] constexpr std::size_t bytes_of(const KeyFormat& key) {
  const std::uint32_t string = string_bytes(key);
  return string > 0 ? string : bytes_of(key.type);
}

template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Key swap_bytes(Key key) {
  if constexpr (sizeof(Key) == 1) {
    return key;
  } else if constexpr (sizeof(Key) == 2) {
    return static_cast<Key>((key << 8) | (key >> 8));
  } else if constexpr (sizeof(Key) == 4) {
    key = ((key & 0x00ff00ffU) << 8) | ((key >> 8) & 0x00ff00ffU);
    return (key << 16) | (key >> 16);
  } else if constexpr (sizeof(Key) == 16) {
    const auto low = swap_bytes(static_cast<std::uint64_t>(key));
    const auto high = swap_bytes(static_cast<std::uint64_t>(key >> 64));
    return static_cast<Key>(low) << 64 | high;
  } else {
    key = ((key & 0x00ff00ff00ff00ffULL) << 8) | ((key >> 8) & 0x00ff00ff00ff00ffULL);
    key = ((key & 0x0000ffff0000ffffULL) << 16) | ((key >> 16) & 0x0000ffff0000ffffULL);
    return (key << 32) | (key >> 32);
  }
}

// A number of `sign_shift` + 1 bits in the order of the fold, except for bits that are flipped in
// every number; and back.
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

// Maps the number of a float in numeric order to that of its class, which is that of +0 or of the
// quiet NaN without a sign for floats that equal it. The numbers of -0 and +0 are neighbours; all
// NaN come after the other floats. `nans` is the number of NaN with one sign.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Key class_of_number(Key number, Key nans,
                                                              unsigned sign_shift) {
  const Key sign = static_cast<Key>(Key{1} << sign_shift);
  const Key negative_zero = static_cast<Key>(sign - 1U - nans);  // an even number
  const Key first_nan = static_cast<Key>(2U * negative_zero + 2U);
  number = static_cast<Key>(number | (number == negative_zero ? 1U : 0U));
  const Key quiet_nan = static_cast<Key>(first_nan + nans / 2U);
  return number < first_nan ? number : quiet_nan;
}

// The map of one format for keys of type Key (std::uint8_t to UInt128). A value type that
// kernels take by value. to_raw(to_ordered(x)) == x and to_ordered(to_raw(x)) == x for every x,
// unless folds_classes is set.
template <class Key>
struct KeyMap {
  Key flip = 0;  // xor-ed to every key: the sign bit, complemented when descending
  bool swaps_bytes = false;
  KeyFold fold = KeyFold::kNone;
  bool folds_classes = false;  // equal floats become one number; to_raw() is then not the inverse
  Key nans = 0;                // the number of NaN with one sign; 0 in total order
  TupleMap<Key> tuple = {};    // used if the fold is kTuple

  static constexpr unsigned kSignShift = 8 * sizeof(Key) - 1;
  static constexpr Key kSignBit = static_cast<Key>(Key{1} << kSignShift);

  [[nodiscard]] static constexpr KeyMap of(const KeyFormat& format) {
    if (format.tuple.count > 0) return of_tuple(format.tuple);
    KeyMap map;
    map.fold = fold_of(format.type);
    const bool flips_sign = is_signed_integer(format.type) && map.fold == KeyFold::kNone;
    map.flip = flips_sign ? kSignBit : Key{0};
    if (format.descending) map.flip = static_cast<Key>(~map.flip);
    map.swaps_bytes = format.big_endian && sizeof(Key) > 1;
    if (format.float_order != FloatOrder::kTotal) {
      map.nans = static_cast<Key>(nans_of_one_sign(format.type));
    }
    return map;
  }

  // The map that compares keys: in numeric order it gives equal floats the same number.
  [[nodiscard]] static constexpr KeyMap classes_of(const KeyFormat& format) {
    KeyMap map = of(format);
    map.folds_classes = map.nans != 0 && format.float_order == FloatOrder::kNumeric;
    return map;
  }

  [[nodiscard]] constexpr bool is_identity() const {
    return fold == KeyFold::kNone && !swaps_bytes && flip == 0;
  }

  [[nodiscard]] GSORT_HOST_DEVICE constexpr Key to_ordered(Key raw) const {
    if (fold == KeyFold::kTuple) return static_cast<Key>(tuple.to_ordered(raw) ^ flip);
    if (swaps_bytes) raw = swap_bytes(raw);
    Key number = static_cast<Key>(fold_number(fold, raw, kSignShift) - nans);
    if (folds_classes) number = class_of_number(number, nans, kSignShift);
    return static_cast<Key>(number ^ flip);
  }

  // The class of an ordered number. Requires: of() of the same format made the number.
  [[nodiscard]] constexpr Key class_of_ordered(Key ordered) const {
    if (!folds_classes) return ordered;
    return static_cast<Key>(class_of_number(static_cast<Key>(ordered ^ flip), nans, kSignShift) ^
                            flip);
  }

  // The greatest ordered number in the same class.
  [[nodiscard]] constexpr Key last_of_class(Key ordered) const {
    if (!folds_classes) return ordered;
    const auto negative_zero = static_cast<Key>(kSignBit - 1U - nans);
    const auto first_nan = static_cast<Key>(2U * negative_zero + 2U);
    const auto number = static_cast<Key>(ordered ^ flip);
    const bool ascends = flip == 0;
    Key last = number;
    if (number >= first_nan) last = ascends ? static_cast<Key>(~Key{0}) : first_nan;
    if (static_cast<Key>(number - negative_zero) <= 1U) {
      last = static_cast<Key>(negative_zero + (ascends ? 1U : 0U));
    }
    return static_cast<Key>(last ^ flip);
  }

  [[nodiscard]] GSORT_HOST_DEVICE constexpr Key to_raw(Key ordered) const {
    if (fold == KeyFold::kTuple) return tuple.to_raw(static_cast<Key>(ordered ^ flip));
    const auto folded = static_cast<Key>((ordered ^ flip) + nans);
    const Key raw = unfold_number(fold, folded, kSignShift);
    return swaps_bytes ? swap_bytes(raw) : raw;
  }

 private:
  // Requires: the fields are those of ElementFormat::as_keys().
  [[nodiscard]] static constexpr KeyMap of_tuple(const KeyTuple& keys) {
    const KeyField& first = keys.fields[0];
    if (keys.count == 1 && first.type) {
      return of({*first.type, first.big_endian, first.descending, {}, first.float_order});
    }
    KeyMap map;
    map.fold = KeyFold::kTuple;
    unsigned end = sizeof(Key);  // of the ordered number, whose bytes from there on are taken
    for (std::size_t i = 0; i < keys.count; ++i) {
      map.add(keys.fields[i], end);
      end -= keys.fields[i].bytes;
    }
    return map.simplified();
  }

  // A field that ends below byte `end` of the ordered number, counted from the least one.
  constexpr void add(const KeyField& field, unsigned end) {
    const unsigned bytes = field.bytes;
    const bool is_big = !field.type || field.big_endian;
    for (unsigned i = 0; i < bytes; ++i) {  // from the most significant byte on
      const unsigned from = field.offset + (is_big ? i : bytes - 1 - i);
      const unsigned distance = (end - 1 - i + sizeof(Key) - from) % sizeof(Key);
      tuple.taken[distance] = static_cast<Key>(tuple.taken[distance] | Key{0xff} << (8 * from));
    }
    const auto sign = static_cast<Key>(Key{1} << (8 * end - 1));
    const auto least = static_cast<Key>(Key{1} << (8 * (end - bytes)));
    const bool flips_sign = field.type && (is_float(*field.type) || is_signed_integer(*field.type));
    if (flips_sign) flip = static_cast<Key>(flip ^ sign);
    if (field.descending) flip = static_cast<Key>(flip ^ sign ^ static_cast<Key>(sign - least));
    if (field.type && is_float(*field.type)) {
      Key& signs = tuple.sign_bits[bytes == 2 ? 0 : bytes == 4 ? 1 : 2];
      signs = static_cast<Key>(signs | sign);
    }
  }

  // Replaces the tuple if all its bytes stay or are swapped.
  [[nodiscard]] constexpr KeyMap simplified() const {
    KeyMap map = *this;
    map.tuple = {};
    map.fold = KeyFold::kNone;
    if (tuple.rotation() == 0U) return map;
    map.swaps_bytes = sizeof(Key) > 1;
    return swaps_all_bytes() ? map : *this;
  }

  [[nodiscard]] constexpr bool swaps_all_bytes() const {
    for (const Key signs : tuple.sign_bits) {
      if (signs != 0) return false;
    }
    for (unsigned from = 0; from < sizeof(Key); ++from) {
      const unsigned distance = (2 * sizeof(Key) - 1 - 2 * from) % sizeof(Key);
      if ((tuple.taken[distance] >> (8 * from) & 0xffU) == 0) return false;
    }
    return true;
  }
};

// Calls f(Key{}) with the unsigned type as wide as `key_bytes` (1, 2, 4, 8 or 16).
template <class F>
decltype(auto) with_key_of_width(std::size_t key_bytes, F&& f) {
  switch (key_bytes) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case sizeof(UInt128):
      return f(UInt128{});
    default:
      return f(std::uint64_t{});
  }
}

}  // namespace gsort
