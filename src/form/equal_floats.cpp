#include "form/equal_floats.hpp"

#include <cstring>

namespace gsort {
namespace {

// One float, in the machine's byte order.
template <class Key>
struct FloatBits {
  Key infinity;
  Key nan;

  explicit FloatBits(KeyType type)
      : infinity(static_cast<Key>(KeyMap<Key>::kSignBit - 1U - nans_of_one_sign(type))),
        nan(static_cast<Key>(infinity | (nans_of_one_sign(type) + 1U) / 2U)) {}

  [[nodiscard]] Key alike(Key key) const {
    const auto magnitude = static_cast<Key>(key & ~KeyMap<Key>::kSignBit);
    if (magnitude > infinity) return nan;
    return magnitude == 0 ? magnitude : key;
  }
};

// kStride: bytes from one element to the next, 0 for `stride` of them.
template <std::size_t kStride, class Key>
void make_alike(std::byte* at, std::size_t count, std::size_t stride, FloatBits<Key> bits,
                bool swaps_bytes) {
  const std::size_t step = kStride > 0 ? kStride : stride;
  for (std::size_t i = 0; i < count; ++i, at += step) {
    Key key;
    std::memcpy(&key, at, sizeof(Key));
    key = bits.alike(swaps_bytes ? swap_bytes(key) : key);
    if (swaps_bytes) key = swap_bytes(key);
    std::memcpy(at, &key, sizeof(Key));
  }
}

template <class Key>
Key for_numpy(Key key, KeyType type) {
  return is_float(type) ? FloatBits<Key>(type).alike(key) : key;
}

template <class Key>
Key key_at(const std::byte* keys, std::size_t number) {
  Key key;
  std::memcpy(&key, keys + number * sizeof(Key), sizeof(Key));
  return key;
}

// Calls use(key, swaps_bytes) with a key as wide as the format's, at most 64 bits.
template <class Use>
void with_key_of(const KeyFormat& format, const Use& use) {
  with_key_of_width(bytes_of(format.type), [&](auto key) {
    if constexpr (sizeof(key) <= sizeof(std::uint64_t)) use(key, format.big_endian);
  });
}

}  // namespace

void copy_for_numpy(std::span<const std::byte> keys, const KeyFormat& format, std::byte* to) {
  with_key_of(format, [&](auto width, bool swaps_bytes) {
    using Key = decltype(width);
    for (std::size_t i = 0; i < keys.size() / sizeof(Key); ++i) {
      const Key raw = key_at<Key>(keys.data(), i);
      const Key key = for_numpy(swaps_bytes ? swap_bytes(raw) : raw, format.type);
      std::memcpy(to + i * sizeof(Key), &key, sizeof(Key));
    }
  });
}

std::size_t first_other_for_numpy(std::span<const std::byte> keys, const KeyFormat& format,
                                  const std::byte* copies) {
  std::size_t first = keys.size() / bytes_of(format.type);
  with_key_of(format, [&](auto width, bool swaps_bytes) {
    using Key = decltype(width);
    for (std::size_t i = 0; i < first; ++i) {
      const Key raw = key_at<Key>(keys.data(), i);
      const Key key = swaps_bytes ? swap_bytes(raw) : raw;
      if (key_at<Key>(copies, i) != for_numpy(key, format.type)) first = i;
    }
  });
  return first;
}

std::vector<KeyField> floats_in_numeric_order(const ElementFormat& element) {
  std::vector<KeyField> fields;
  if (const auto records = element.shown_records()) {
    fields = records->keys;
  } else {
    const KeyFormat& key = element.key;
    fields = {{0, static_cast<std::uint32_t>(element.bytes()), key.type, key.big_endian,
               key.descending, key.float_order}};
  }
  std::erase_if(fields, [](const KeyField& field) {
    return !field.type || !is_float(*field.type) || field.float_order == FloatOrder::kTotal;
  });
  return fields;
}

void make_equal_floats_alike(std::span<std::byte> elements, std::size_t element_bytes,
                             std::span<const KeyField> floats) {
  const std::size_t count = elements.size() / element_bytes;
  for (const KeyField& field : floats) {
    with_key_of_width(field.bytes, [&](auto width) {
      using Key = decltype(width);
      const FloatBits<Key> bits(*field.type);
      std::byte* const at = elements.data() + field.offset;
      if (element_bytes == sizeof(Key)) {
        make_alike<sizeof(Key)>(at, count, element_bytes, bits, field.big_endian);
      } else {
        make_alike<0>(at, count, element_bytes, bits, field.big_endian);
      }
    });
  }
}

}  // namespace gsort
