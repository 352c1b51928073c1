// KeyCells: equal cells of a range of keys. The cell of a key is calculated, and ascends with the
// key, so keys of different cells need no comparison. In a range as narrow as a tile's, cells have
// about equally many keys if the distribution is smooth.
//
// The difference to the range's least key is shifted so far that the range has 32 bits. It is
// multiplied by a factor that is rounded down, so the last cells may get no keys.
//
// Example. Keys 10 to 15, 4 cells: the range 5 becomes 0xa0000000, the factor is
// (4 << 16) / 0xa001 = 6: the cells of 10 to 15 are 0 0 1 2 3 3.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort::gpu {

[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned leading_zeros(std::uint64_t bits) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>(__clzll(static_cast<long long>(bits)));
#else
  return bits == 0 ? 64U : static_cast<unsigned>(__builtin_clzll(bits));
#endif
}

template <class Key, unsigned kCells>
struct KeyCells {
  static constexpr unsigned kBits = 8 * sizeof(Key);
  static_assert(kBits >= 32 && kCells <= 1U << 15);

  Key least;
  unsigned shift;
  std::uint32_t factor;

  // Requires: least <= greatest.
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr KeyCells of(Key least, Key greatest) {
    const Key range = greatest - least;
    const unsigned shift = leading_zeros(range | 1U) - (64 - kBits);
    const std::uint32_t upper = upper_of(range << shift);
    return {least, shift, (kCells << 16) / ((upper >> 16) + 1)};
  }
  // Less than kCells. Requires: key is in the range.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned of_key(Key key) const {
    const std::uint64_t upper = upper_of((key - least) << shift);
    return static_cast<unsigned>(upper * factor >> 32);
  }

 private:
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr std::uint32_t upper_of(Key shifted) {
    return static_cast<std::uint32_t>(shifted >> (kBits - 32));
  }
};

}  // namespace gsort::gpu
