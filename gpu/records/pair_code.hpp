// How the pairs of one tile become words, and words keys again (pair_word.hpp). A word that tells
// less about its key is shorter, and cheaper to compare and to move; what it leaves out depends on
// how far apart the tile's keys are, so each tile chooses.
//
// WholeKeyCode: the whole key, in words of 45 bits (u32) or 77 (u64). Right for any keys.
//
// PrefixCode: words of 32 bits: the upper bits of the difference to the tile's least key, as many
// as there is room for beside the index. The nearer a tile's keys are to each other, the more of
// them that is; the more keys a pass has merged, the nearer they are: of random u32 keys, 2,000 out
// of 2^22 differ in 21 bits, and a word holds them all. Where bits are left out, keys that share a
// prefix end up in the order of the input, which may be wrong, and are put right afterwards
// (pair_ties.cuh): of 2,000 keys that are spread evenly, two pairs. Where there are many of them,
// the tile begins anew with whole keys.
//
// Example of PrefixCode, for decimal digits, prefixes of 2 digits: the keys 70434 70256 70999 70431
// differ from the least by 178 0 743 175, three digits, of which one is left out. Words 17|0 0|1
// 74|2 17|3; in order 0|1 17|0 17|3 74|2, of which 17|0 and 17|3 have to be compared by their keys,
// and change places.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.hpp"
#include "gpu/records/pair_word.hpp"

namespace gsort::gpu {

// Decides the code of a tile.
template <class Key>
struct KeyRange {
  Key least = static_cast<Key>(~Key{0});
  Key greatest = 0;
};

template <class KeyType>
struct WholeKeyCode {
  using Key = KeyType;
  using Word = PairWord<Key>;
  static constexpr unsigned kStagedBytes = 0;  // of a pair's key, beside its word
  static constexpr bool kMayMisplace = false;

  GSORT_HOST_DEVICE void stage(Key /*key*/, unsigned /*index*/) const {}
  [[nodiscard]] GSORT_HOST_DEVICE Word word_of(Key key, unsigned index) const {
    return Word::of(key, index);
  }
  [[nodiscard]] GSORT_HOST_DEVICE Key key_of(Word word) const { return word.key(); }
  [[nodiscard]] static GSORT_HOST_DEVICE unsigned index_of(Word word) { return word.index(); }
};

template <class KeyType, unsigned kIndexBitsOfWord>
struct PrefixCode {
  using Key = KeyType;
  using Word = std::uint32_t;
  static constexpr unsigned kStagedBytes = sizeof(Key);
  static constexpr bool kMayMisplace = true;
  static constexpr unsigned kIndexBits = kIndexBitsOfWord;
  static constexpr unsigned kMaxIndex = (1U << kIndexBits) - 1;  // also that of a fill
  static constexpr unsigned kPrefixBits = 32 - kIndexBits;

  Key least;
  unsigned left_out;  // bits below the prefix
  Key* staged;        // keys by their pairs' indices, if bits are left out

  [[nodiscard]] static GSORT_HOST_DEVICE PrefixCode of(KeyRange<Key> range, unsigned char* memory) {
    const Key span = range.greatest - range.least;
#ifdef __CUDA_ARCH__
    const int width = 64 - __clzll(static_cast<long long>(span));
#else
    const int width = static_cast<int>(std::bit_width(span));
#endif
    constexpr int kMostInPrefix = static_cast<int>(kPrefixBits);
    return {range.least, static_cast<unsigned>(width > kMostInPrefix ? width - kMostInPrefix : 0),
            reinterpret_cast<Key*>(memory)};
  }

  // Keeps what the word leaves out.
  GSORT_HOST_DEVICE void stage(Key key, unsigned index) const {
    if (left_out > 0) staged[index] = key;
  }
  [[nodiscard]] GSORT_HOST_DEVICE Word word_of(Key key, unsigned index) const {
    return static_cast<Word>((key - least) >> left_out) << kIndexBits | index;
  }
  [[nodiscard]] GSORT_HOST_DEVICE Key key_of(Word word) const {
    return left_out > 0 ? staged[index_of(word)] : least + (word >> kIndexBits);
  }
  [[nodiscard]] static GSORT_HOST_DEVICE unsigned index_of(Word word) {
    return word & kMaxIndex;
  }

  // Whether words may share a prefix though their keys differ.
  [[nodiscard]] GSORT_HOST_DEVICE bool may_misplace() const {
    return left_out > 0;
  }
  [[nodiscard]] static GSORT_HOST_DEVICE bool share_prefix(Word word, Word other) {
    return (word ^ other) <= kMaxIndex;
  }
  // Whether, of two words that share a prefix, the first one's pair comes behind the other's.
  [[nodiscard]] GSORT_HOST_DEVICE bool goes_behind(Word word, Word other) const {
    const Key key = staged[index_of(word)];
    const Key other_key = staged[index_of(other)];
    return key != other_key ? key > other_key : word > other;
  }
};

// For tiles of at most `kTilePairs` pairs.
template <class Key, unsigned kTilePairs>
using PrefixCodeFor = PrefixCode<Key, static_cast<unsigned>(std::bit_width(kTilePairs - 1))>;

}  // namespace gsort::gpu
