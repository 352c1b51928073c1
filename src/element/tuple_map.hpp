// Makes one number of a record that is nothing but keys, in the order of its keys: bytes move to
// their place, from the most to the least significant key, and floats among them are folded, all at
// once.
//
//   bytes     a rotation moves all bytes that move equally far, modulo the width
//   floats    x ^ (m - l): of each negative number m is the sign bit and l the least bit, so that
//             m - l are all bits between them, which are flipped; the bits m stay, so that the same
//             again gives x back. KeyMap::flip also flips all sign bits.
//
// Example (u16 at 0, u16 at 2, u32 at 4, little endian, the most significant byte first): the raw
// number holds DDCC bb aa, D the u32; wanted is aabbDDCC, D by 0 bytes after a rotation by 4:
//   raw 44444444 2222 1111  rotated by 6 and taken 1111 0000 00000000, by 2 0000 2222 00000000,
//   by 4 0000 0000 44444444: together 1111 2222 44444444
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/host_device.hpp"

namespace gsort {

template <class Key>
struct TupleMap {
  static constexpr unsigned kBytes = sizeof(Key);

  Key taken[kBytes] = {};  // [n]: the bytes that move by n bytes towards the most significant one
  Key sign_bits[3] = {};   // of floats of 16, 32 and 64 bits, at their places after the move

  // The number of bytes by which the whole key is rotated, if the map does nothing else.
  [[nodiscard]] constexpr std::optional<unsigned> rotation() const {
    if (sign_bits[0] != 0 || sign_bits[1] != 0 || sign_bits[2] != 0) return std::nullopt;
    for (unsigned n = 0; n < kBytes; ++n) {
      if (taken[n] == static_cast<Key>(~Key{0})) return n;
    }
    return std::nullopt;
  }

  [[nodiscard]] GSORT_HOST_DEVICE GSORT_ALWAYS_INLINE static constexpr Key rotate_left(
      Key key, unsigned bytes) {
    return static_cast<Key>((key << (8 * bytes)) | (key >> (8 * ((kBytes - bytes) % kBytes))));
  }

  [[nodiscard]] GSORT_HOST_DEVICE GSORT_ALWAYS_INLINE constexpr Key to_ordered(Key raw) const {
    Key moved = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (unsigned n = 0; n < kBytes; ++n) {
      moved = static_cast<Key>(moved | rotate_left(static_cast<Key>(raw & taken[n]), n));
    }
    return fold(moved);
  }

  [[nodiscard]] GSORT_HOST_DEVICE GSORT_ALWAYS_INLINE constexpr Key to_raw(Key ordered) const {
    const Key moved = fold(ordered);
    Key raw = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (unsigned n = 0; n < kBytes; ++n) {
      raw = static_cast<Key>(raw | (rotate_left(moved, (kBytes - n) % kBytes) & taken[n]));
    }
    return raw;
  }

 private:
  template <unsigned kWidth>
  [[nodiscard]] GSORT_HOST_DEVICE GSORT_ALWAYS_INLINE static constexpr Key least_bits(Key signs) {
    if constexpr (kWidth <= 8 * kBytes) {
      return static_cast<Key>(signs >> (kWidth - 1));
    } else {
      return 0;
    }
  }

  [[nodiscard]] GSORT_HOST_DEVICE GSORT_ALWAYS_INLINE constexpr Key fold(Key moved) const {
    const auto short_ones = static_cast<Key>(moved & sign_bits[0]);
    const auto usual_ones = static_cast<Key>(moved & sign_bits[1]);
    const auto long_ones = static_cast<Key>(moved & sign_bits[2]);
    const auto least = static_cast<Key>(least_bits<16>(short_ones) | least_bits<32>(usual_ones) |
                                        least_bits<64>(long_ones));
    const auto signs = static_cast<Key>(short_ones | usual_ones | long_ones);
    return static_cast<Key>(moved ^ static_cast<Key>(signs - least));
  }
};

}  // namespace gsort
