// Converts arrays of keys in device memory from the types of the public headers to those of the GPU
// engine. Not installed.
#pragma once

#include <limits>
#include <string>

#include "base/units.hpp"
#include "library/device_pairs.hpp"
#include "library/key_types.hpp"

namespace gsort::library {

template <DeviceKey Key>
[[nodiscard]] constexpr KeyFormat device_format_of(Order order) {
  if constexpr (SortableKey<Key>) return format_of<Key>(order);
  KeyFormat format = format_of_order(order);
  if (std::same_as<Key, Time64>) format.type = KeyType::kTime64;
  if (std::same_as<Key, Float16>) format.type = KeyType::kF16;
  if (std::same_as<Key, BFloat16>) format.type = KeyType::kBF16;
  if (std::same_as<Key, UInt128>) format.type = KeyType::kU128;
  if (std::same_as<Key, Int128>) format.type = KeyType::kI128;
  if (std::same_as<Key, Uuid>) {
    format.type = KeyType::kU128;
    format.big_endian = true;
  }
  return format;
}

template <DeviceKey Key>
[[nodiscard]] KeyMap<Bits<Key>> map_of(Order order) {
  return KeyMap<Bits<Key>>::of(device_format_of<Key>(order));
}

// The map for sorts of pairs and of positions: equal keys become one number, so it has no inverse.
template <DeviceKey Key>
[[nodiscard]] KeyMap<Bits<Key>> class_map_of(Order order) {
  return KeyMap<Bits<Key>>::classes_of(device_format_of<Key>(order));
}

template <DeviceKey Key>
[[nodiscard]] const Bits<Key>* bits_at(const Key* keys) {
  return reinterpret_cast<const Bits<Key>*>(keys);
}

template <DeviceKey Key>
[[nodiscard]] Bits<Key>* bits_at(Key* keys) {
  return reinterpret_cast<Bits<Key>*>(keys);
}

// Sets the members of every request: the maps, scratch memory and the stream.
template <DeviceKey Key, class Request>
void complete(Request& request, Order order, const DeviceScratch& scratch, DeviceStream stream) {
  request.load_map = map_of<Key>(order);
  request.store_map = request.load_map;
  request.scratch = {scratch.memory, scratch.bytes};
  request.stream = stream;
}

// The same for pairs, whose equal floats keep their order.
template <DeviceKey Key, class Request>
void complete_pairs(Request& request, Order order, const DeviceScratch& scratch,
                    DeviceStream stream) {
  complete<Key>(request, order, scratch, stream);
  request.load_map = class_map_of<Key>(order);
}

template <DeviceIndex Index>
void require_indices(std::uint64_t count) {
  if (count <= static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) return;
  throw Error(ErrorKind::kUsage, "sorting indices on the GPU",
              "the numbers of " + format_count(count) + " keys do not fit in " +
                  std::to_string(std::numeric_limits<Index>::digits) + " bits")
      .hint("take indices of 64 bits");
}

}  // namespace gsort::library

// ROW(Key) for each type that is a DeviceKeyOf32Or64Bits.
#define GSORT_FOR_KEYS_OF_32_AND_64_BITS(ROW) \
  ROW(std::uint32_t)                          \
  ROW(std::int32_t)                           \
  ROW(std::uint64_t)                          \
  ROW(std::int64_t)                           \
  ROW(float)                                  \
  ROW(double)                                 \
  ROW(Time64)

// ROW(Key) for each type that is a DeviceKey.
#define GSORT_FOR_DEVICE_KEYS(ROW)      \
  GSORT_FOR_KEYS_OF_32_AND_64_BITS(ROW) \
  ROW(std::uint8_t)                     \
  ROW(std::int8_t)                      \
  ROW(std::uint16_t)                    \
  ROW(std::int16_t)                     \
  ROW(Float16)                          \
  ROW(BFloat16)                         \
  ROW(UInt128)                          \
  ROW(Int128)                           \
  ROW(Uuid)

// ROW(Key, Index) for each type that is a DeviceIndex.
#define GSORT_FOR_INDICES(ROW, Key) \
  ROW(Key, std::uint32_t)           \
  ROW(Key, std::int32_t)            \
  ROW(Key, std::uint64_t)           \
  ROW(Key, std::int64_t)
