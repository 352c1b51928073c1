// KeyCells: equal cells of a range of keys. The cell of a key is calculated, and ascends with the
// key, so keys of different cells need no comparison. In a range as narrow as a tile's, cells have
// about equally many keys if the distribution is smooth.
//
// The difference to the range's least key is shifted so that the range has 32 bits. It is
// multiplied by a factor that is rounded down, so the last cells may get no keys. For keys of 32
// bits, the factor includes the shift.
//
// Example. Keys 10 to 15, 4 cells: the range 5 becomes 0xa0000000, the factor is
// (4 << 16) / 0xa001 = 6: the cells of 10 to 15 are 0 0 1 2 3 3.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "gpu/distribute/bin_table.hpp"

namespace gsort::gpu {

[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned leading_zeros(std::uint64_t bits) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>(__clzll(static_cast<long long>(bits)));
#else
  return bits == 0 ? 64U : static_cast<unsigned>(__builtin_clzll(bits));
#endif
}

// The upper half of the product.
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint32_t multiply_high(std::uint32_t a,
                                                                      std::uint32_t b) {
#ifdef __CUDA_ARCH__
  return __umulhi(a, b);
#else
  return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
#endif
}

// The factor for the upper 32 bits of a shifted difference; `most` is the greatest of these.
template <unsigned kCells>
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint32_t cell_factor(std::uint32_t most) {
  static_assert(kCells <= 1U << 15);
  return (kCells << 16) / ((most >> 16) + 1);
}

template <class Key, unsigned kCells>
struct KeyCells {
  static_assert(sizeof(Key) == 8);

  Key least;
  unsigned shift;
  std::uint32_t factor;

  // Requires: least <= greatest.
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr KeyCells of(Key least, Key greatest) {
    const Key range = greatest - least;
    const unsigned shift = leading_zeros(range | 1U);
    return {least, shift, cell_factor<kCells>(static_cast<std::uint32_t>(range << shift >> 32))};
  }
  // For a range of one key: the key is in cell `cell`.
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr KeyCells of_one(Key key, unsigned cell) {
    return {key - 1, 63, 2 * cell};
  }
  // Less than kCells. Requires: key is in the range.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned of_key(Key key) const {
    return multiply_high(static_cast<std::uint32_t>((key - least) << shift >> 32), factor);
  }
  // Upper half: the cell. Lower half: the place of the key in this cell.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t place_of(Key key) const {
    return std::uint64_t{static_cast<std::uint32_t>((key - least) << shift >> 32)} * factor;
  }
  // The distance between the places of neighbouring keys; 0: several keys have the same place.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t step() const {
    return shift < 32 ? 0 : std::uint64_t{factor} << (shift - 32);
  }
  // Whether each cell has one key value: the range is narrow.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool are_single() const {
    return std::uint64_t{kCells / 2} << shift == 0;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool is_single(unsigned /*cell*/) const {
    return are_single();
  }
};

template <unsigned kCells>
struct KeyCells<std::uint32_t, kCells> {
  std::uint32_t base;
  std::uint32_t factor;

  [[nodiscard]] static GSORT_HOST_DEVICE constexpr KeyCells of(std::uint32_t least,
                                                               std::uint32_t greatest) {
    const std::uint32_t range = greatest - least;
    const unsigned shift = leading_zeros(range | 1U) - 32;
    const std::uint64_t factor = std::uint64_t{cell_factor<kCells>(range << shift)} << shift;
    if (factor >> 32 == 0) return {least, static_cast<std::uint32_t>(factor)};
    return {least - 1, ~0U};  // fewer values than cells: cell i has least + i
  }
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr KeyCells of_one(std::uint32_t key,
                                                                   unsigned cell) {
    return {key - 1 - cell, ~0U};
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned of_key(std::uint32_t key) const {
    return multiply_high(key - base, factor);
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t place_of(std::uint32_t key) const {
    return std::uint64_t{key - base} * factor;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t step() const { return factor; }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool are_single() const { return factor == ~0U; }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool is_single(unsigned /*cell*/) const {
    return are_single();
  }
};

// NestedCells: the equal cells of a tile (KeyCells), divided again where they have many keys, as
// around clusters and equal keys.
//
// Idea. The keys of each equal cell have been counted. A few neighbouring cells are a nest. The new
// cells are shared out to the nests in proportion to their keys, but no nest gets more cells than
// it has key values: then neighbouring values have neighbouring counters, which lie in different
// banks. A key takes a multiplication for its nest, one look-up, and a multiplication for its cell.
//
// Example. 9 cells for 2 nests. Each nest with keys gets one cell, and the other 7 are shared out:
// nests with 6 keys and 1 key get 1 + 6 and 1 + 1 cells.
template <class Key, unsigned kCells>
struct NestedCells {
  static constexpr unsigned kNests = 2048;
  static constexpr unsigned kNestBits = bits_of(kCells / kNests) - 1;  // log2 of its equal cells
  static_assert(kCells < 1U << 16 && kNests << kNestBits == kCells);

  KeyCells<Key, kCells> equal;
  std::uint32_t nests[kNests];         // its number of cells << 16 | the first one
  std::uint32_t singles[kCells / 32];  // a bit for each cell that has one key value

  // The number of values in a nest if each has its own place; otherwise ~0U.
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr unsigned values_of_nest(
      const KeyCells<Key, kCells>& equal) {
    const std::uint64_t step = equal.step() >> kNestBits;
    return step == 0 ? ~0U : static_cast<unsigned>(((std::uint64_t{1} << 32) + step - 1) / step);
  }
  // The number of cells of a nest that has `keys` of the tile's `count` keys.
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr unsigned cells_of(unsigned keys, unsigned count,
                                                                     unsigned values) {
    if (keys == 0) return 0;
    const unsigned cells = 1 + (keys * (((kCells - kNests) << 16) / count) >> 16);
    return cells < values ? cells : values;
  }
  // Less than kCells; ascends with the key. Requires: the key was counted.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned of_key(Key key) const {
    const std::uint64_t place = equal.place_of(key) >> kNestBits;
    const std::uint32_t nest = nests[place >> 32];
    return (nest & 0xffffU) + multiply_high(static_cast<std::uint32_t>(place), nest >> 16);
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool is_single(unsigned cell) const {
    return (singles[cell / 32] >> cell % 32 & 1U) != 0;
  }
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr bool are_single() { return false; }
};

}  // namespace gsort::gpu
