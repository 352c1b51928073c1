// The digit by which keys, or pairs, in the cache are dealt out (cache_sort.hpp). Its functions are
// inlined, so that they are compiled for the vector instruction set of their caller.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include <hwy/base.h>

namespace gsort::cpu {

// For formats in which keys with different bits are never equal.
template <class Key>
struct NoFold {
  HWY_INLINE Key operator()(Key key) const { return key; }
};

template <class Key, class Fold = NoFold<Key>>
HWY_INLINE void find_range(const Key* keys, std::size_t count, Key& least, Key& greatest,
                           const Fold& fold = {}) {
  Key low = fold(keys[0]);
  Key high = low;
  for (std::size_t i = 1; i < count; ++i) {
    const Key key = fold(keys[i]);
    low = key < low ? key : low;
    high = key > high ? key : high;
  }
  least = low;
  greatest = high;
}

// How a level deals keys out: to `buckets` buckets, by the digit (key - least) >> shift.
template <class Key>
struct Digit {
  Key least;
  unsigned shift;
  std::size_t buckets;

  HWY_INLINE std::size_t of(Key key) const {
    return static_cast<std::size_t>((key - least) >> shift);
  }
};

// Chooses a digit of 4 to `most_bits` bits: as many as make buckets of 16 keys on average.
template <class Key>
HWY_INLINE Digit<Key> choose_digit(std::size_t count, Key least, Key greatest, unsigned most_bits) {
  constexpr std::size_t kKeysPerBucket = 16;
  constexpr unsigned kLeastBits = 4;
  const unsigned wanted = std::clamp(static_cast<unsigned>(std::bit_width(count / kKeysPerBucket)),
                                     kLeastBits, most_bits);
  const auto width = static_cast<unsigned>(std::bit_width(static_cast<Key>(greatest - least)));
  const unsigned shift = width > wanted ? width - wanted : 0;
  return {least, shift, static_cast<std::size_t>((greatest - least) >> shift) + 1};
}

}  // namespace gsort::cpu
