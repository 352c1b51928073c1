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

#include "base/host_device.hpp"

namespace gsort {

enum class KeyType : std::uint8_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kU64,
  kI64,
  kF32,
  kF64,
  kTime64
};

inline constexpr KeyType kAllKeyTypes[] = {
    KeyType::kU8,  KeyType::kI8,  KeyType::kU16, KeyType::kI16, KeyType::kU32,   KeyType::kI32,
    KeyType::kU64, KeyType::kI64, KeyType::kF32, KeyType::kF64, KeyType::kTime64};

[[nodiscard]] std::string_view name_of(KeyType type);                        // "u32"
[[nodiscard]] std::optional<KeyType> key_type_named(std::string_view name);  // none if unknown

[[nodiscard]] constexpr std::size_t bytes_of(KeyType type) {
  switch (type) {
    case KeyType::kU8:
    case KeyType::kI8:
      return 1;
    case KeyType::kU16:
    case KeyType::kI16:
      return 2;
    case KeyType::kU32:
    case KeyType::kI32:
    case KeyType::kF32:
      return 4;
    case KeyType::kU64:
    case KeyType::kI64:
    case KeyType::kF64:
    case KeyType::kTime64:
      return 8;
  }
  return 0;
}

[[nodiscard]] constexpr bool is_float(KeyType type) {
  return type == KeyType::kF32 || type == KeyType::kF64;
}

[[nodiscard]] constexpr bool is_signed_integer(KeyType type) {
  return type == KeyType::kI8 || type == KeyType::kI16 || type == KeyType::kI32 ||
         type == KeyType::kI64 || type == KeyType::kTime64;
}

// What is done to a number beside flipping the same bits of every number.
enum class KeyFold : std::uint8_t { kNone, kFloat, kTime };

[[nodiscard]] constexpr KeyFold fold_of(KeyType type) {
  if (is_float(type)) return KeyFold::kFloat;
  return type == KeyType::kTime64 ? KeyFold::kTime : KeyFold::kNone;
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
    if (fold == KeyFold::kFloat) {
      raw ^= (raw >> kSignShift) != 0 ? static_cast<Key>(~Key{0}) : kSignBit;
    } else if (fold == KeyFold::kTime) {
      raw = static_cast<Key>((raw ^ kSignBit) - 1U);
    }
    return static_cast<Key>(raw ^ flip);
  }

  [[nodiscard]] GSORT_HOST_DEVICE constexpr Key to_raw(Key ordered) const {
    ordered = static_cast<Key>(ordered ^ flip);
    if (fold == KeyFold::kFloat) {
      ordered ^= (ordered >> kSignShift) != 0 ? kSignBit : static_cast<Key>(~Key{0});
    } else if (fold == KeyFold::kTime) {
      ordered = static_cast<Key>((ordered + 1U) ^ kSignBit);
    }
    return swaps_bytes ? swap_bytes(ordered) : ordered;
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
