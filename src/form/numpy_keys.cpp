#include "form/numpy_keys.hpp"

#include <cstring>

namespace gsort {
namespace {

template <class Key>
struct FloatBits {
  static constexpr unsigned kFractionBits = sizeof(Key) == 8 ? 52 : sizeof(Key) == 4 ? 23 : 10;
  static constexpr Key kSign = KeyMap<Key>::kSignBit;
  static constexpr auto kGreatestNan = static_cast<Key>(~kSign);
  static constexpr auto kInfinity = static_cast<Key>(kSign - (Key{1} << kFractionBits));

  static constexpr bool is_nan(Key key) { return static_cast<Key>(key & ~kSign) > kInfinity; }
};

template <class Key>
Key for_numpy(Key key, bool is_float) {
  using Bits = FloatBits<Key>;
  if (!is_float) return key;
  if (Bits::is_nan(key)) return Bits::kGreatestNan;
  return key == Bits::kSign ? Key{0} : key;
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
    const bool floats = is_float(format.type);
    for (std::size_t i = 0; i < keys.size() / sizeof(Key); ++i) {
      const Key raw = key_at<Key>(keys.data(), i);
      const Key key = for_numpy(swaps_bytes ? swap_bytes(raw) : raw, floats);
      std::memcpy(to + i * sizeof(Key), &key, sizeof(Key));
    }
  });
}

std::size_t first_other_for_numpy(std::span<const std::byte> keys, const KeyFormat& format,
                                  const std::byte* copies) {
  std::size_t first = keys.size() / bytes_of(format.type);
  with_key_of(format, [&](auto width, bool swaps_bytes) {
    using Key = decltype(width);
    const bool floats = is_float(format.type);
    for (std::size_t i = 0; i < first; ++i) {
      const Key raw = key_at<Key>(keys.data(), i);
      const Key key = swaps_bytes ? swap_bytes(raw) : raw;
      if (key_at<Key>(copies, i) != for_numpy(key, floats)) first = i;
    }
  });
  return first;
}

}  // namespace gsort
