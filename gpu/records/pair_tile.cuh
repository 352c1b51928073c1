// Tiles of pair words in shared memory, for the levels of block_merge.cuh, and the staged values.
//
// Shared memory of a kernel of pairs: the tile's values in the order of the input, then the words,
// as pair_code.hpp makes them:
//   u32 keys, whole | values | rows of E words and a pad, 8 bytes each                            |
//   u64 keys, whole | values | rows of E upper halves and a pad, 8 bytes | rows of lower, 4 bytes |
//   prefixes        | values | keys | rows of E words and a pad, 4 bytes                          |
// A word's lower half has the same place among lower halves as the upper half among upper ones. The
// gather is free of conflicts in both: with an odd number of words a row neighbouring rows lie in
// neighbouring banks, of 8 bytes or of 4.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gpu/merge/block_merge.cuh"
#include "gpu/records/pair_code.hpp"
#include "gpu/records/pair_word.hpp"

namespace gsort::gpu {

template <unsigned kOffset = 0>
__device__ void thread_load_shared(unsigned address, NarrowPairWord& word) {
  thread_load_shared<kOffset>(address, word.bits);
}

// A wide word of which only the upper half has been read; the lower half decides ties.
struct LazyWidePairWord {
  std::uint64_t high;
  unsigned address;  // of the upper half
  float low_offset;  // see half_place()

  [[nodiscard]] __device__ std::uint32_t low() const {
    std::uint32_t low;
    thread_load_shared(half_place(address, low_offset), low);
    return low;
  }
  [[nodiscard]] friend __device__ bool operator<(const LazyWidePairWord& a,
                                                 const LazyWidePairWord& b) {
    return a.high != b.high ? a.high < b.high : a.low() < b.low();
  }
};

template <unsigned kRowWords>
struct RegionWords<WidePairWord, kRowWords> {
  unsigned origin;   // of the upper halves
  float low_offset;  // see half_place()

  __device__ unsigned place_of(unsigned row) const {
    return origin + row * ((kRowWords + 1) * static_cast<unsigned>(sizeof(std::uint64_t)));
  }
  __device__ LazyWidePairWord read(unsigned place, unsigned residue) const {
    const unsigned address = place + residue * static_cast<unsigned>(sizeof(std::uint64_t));
    LazyWidePairWord word{0, address, low_offset};
    thread_load_shared(address, word.high);
    return word;
  }
};

template <unsigned kRowWords>
struct TileWords<WidePairWord, kRowWords> {
  static constexpr unsigned kRowStride = kRowWords + 1;
  static constexpr unsigned kWarpStride = 32 + 32 / kRowWords;
  static_assert(32 % kRowWords == 0);

  std::uint64_t* highs;
  std::uint32_t* lows;

  static __device__ TileWords in(unsigned char* memory, unsigned rows) {
    auto* const highs = reinterpret_cast<std::uint64_t*>(memory);
    return {highs, reinterpret_cast<std::uint32_t*>(highs + (rows + 1) * kRowStride)};
  }
  static __device__ constexpr unsigned place_of(unsigned word) { return word + word / kRowWords; }
  static constexpr unsigned bytes(unsigned rows) {
    return (rows + 1) * kRowStride *
           static_cast<unsigned>(sizeof(std::uint64_t) + sizeof(std::uint32_t));
  }
  __device__ TileWords at(std::ptrdiff_t place) const { return {highs + place, lows + place}; }
  __device__ WidePairWord get(int place) const { return {highs[place], lows[place]}; }
  __device__ void put(int place, WidePairWord word) const {
    highs[place] = word.high;
    lows[place] = word.low;
  }
  __device__ RegionWords<WidePairWord, kRowWords> region(unsigned first_row) const {
    const unsigned high = shared_address(highs);
    const unsigned low = shared_address(lows);
    return {high + first_row * (kRowStride * static_cast<unsigned>(sizeof(std::uint64_t))),
            as_denormal(static_cast<int>(low - high / 2))};
  }
};

// Reads the words of residues 0 .. kRowWords - 1 of the thread's parts of A and B.
template <unsigned kRowWords>
__device__ void thread_gather(const RegionWords<WidePairWord, kRowWords>& region,
                              const GatherRows& rows, WidePairWord (&words)[kRowWords]) {
  constexpr unsigned kHighBytes = sizeof(std::uint64_t);
  constexpr unsigned kLowBytes = sizeof(std::uint32_t);
  const GatherOffsets offsets = gather_offsets(rows, (kRowWords + 1) * kHighBytes, region.origin);
  static_for<kRowWords>([&](auto residue) {
    constexpr unsigned kResidue = decltype(residue)::value;
    const unsigned high = offsets.row_offset(static_cast<float>(kResidue));
    thread_load_shared<kResidue * kHighBytes>(high, words[kResidue].high);
    thread_load_shared<kResidue * kLowBytes>(half_place(high, region.low_offset),
                                             words[kResidue].low);
  });
}

// The shared memory of a kernel of pairs, with `kRows` rows of words.
template <class Code, class Value, unsigned kRows, unsigned kRowWords>
struct PairTile {
  using Word = typename Code::Word;
  static constexpr unsigned kPairs = kRows * kRowWords;
  static constexpr unsigned kValueBytes = kPairs * sizeof(Value);
  static constexpr unsigned kStagedBytes = kPairs * Code::kStagedBytes;
  static constexpr unsigned kBytes =
      kValueBytes + kStagedBytes + TileWords<Word, kRowWords>::bytes(kRows);
  static_assert(kPairs - 1 <= kMaxPairIndex);

  Value* values;
  TileWords<Word, kRowWords> words;

  static __device__ PairTile in(unsigned char* memory) {
    return {reinterpret_cast<Value*>(memory),
            TileWords<Word, kRowWords>::in(staged_in(memory) + kStagedBytes, kRows)};
  }
  // Where the code stages parts of keys.
  static __device__ unsigned char* staged_in(unsigned char* memory) { return memory + kValueBytes; }
};

// The shared memory of a tile of pairs, in any code.
template <class Key, class Value, unsigned kRows, unsigned kRowWords>
inline constexpr unsigned kPairTileBytes =
    std::max(PairTile<WholeKeyCode<Key>, Value, kRows, kRowWords>::kBytes,
             PairTile<PrefixCodeFor<Key, kRows * kRowWords>, Value, kRows, kRowWords>::kBytes);

}  // namespace gsort::gpu
