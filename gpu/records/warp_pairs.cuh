// How the threads of a block have pairs of a tile, and which lanes of a warp have equal numbers:
// for the stable passes of device_digit_sort.cpp and gpu/distribute/device_pair_distribute.cpp.
#pragma once

#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

// Where the thread's first pair is in a tile; the others follow 32 apart.
template <unsigned kPairs>
__device__ unsigned thread_first_pair() {
  return threadIdx.x / 32 * 32 * kPairs + threadIdx.x % 32;
}

// Loads the thread's keys, or its values, of a tile. A word past the count is 0.
template <class Word, unsigned kPairs>
__device__ void thread_load_words(const Word* tile, unsigned tile_words, unsigned count,
                                  Word (&words)[kPairs]) {
  const unsigned first = thread_first_pair<kPairs>();
  const Word* const from = tile + first;
  if (count == tile_words) {
#pragma unroll
    for (unsigned i = 0; i < kPairs; ++i) words[i] = from[32 * i];
  } else {
#pragma unroll
    for (unsigned i = 0; i < kPairs; ++i) {
      words[i] = first + 32 * i < count ? from[32 * i] : Word{0};
    }
  }
}

// The lanes of `lanes` whose numbers have the same bits `first` and `second` as this lane's. In
// PTX, since the compiler takes more instructions.
__device__ inline unsigned warp_find_same_bits(unsigned lanes, unsigned number, unsigned first,
                                               unsigned second) {
#ifdef __CUDA_ARCH__
  asm volatile(
      "{\n"
      "  .reg .pred is_set, is_next;\n"
      "  .reg .b32 own, same, next;\n"
      "  and.b32 own, %1, %2;\n"
      "  setp.ne.u32 is_set, own, 0;\n"
      "  vote.sync.ballot.b32 same, is_set, 0xffffffff;\n"
      "  @!is_set not.b32 same, same;\n"
      "  and.b32 own, %1, %3;\n"
      "  setp.ne.u32 is_next, own, 0;\n"
      "  vote.sync.ballot.b32 next, is_next, 0xffffffff;\n"
      "  @!is_next not.b32 next, next;\n"
      "  lop3.b32 %0, %0, same, next, 0x80;\n"
      "}"
      : "+r"(lanes)
      : "r"(number), "r"(first), "r"(second));
  return lanes;
#else
  for (const unsigned bit : {first, second}) {
    const bool is_set = (number & bit) != 0;
    lanes &= __ballot_sync(kWholeWarp, is_set ? 1 : 0) ^ (is_set ? 0U : kWholeWarp);
  }
  return lanes;
#endif
}

// The lanes whose numbers, of kBits bits, are the same as this one's.
template <unsigned kBits>
__device__ unsigned warp_find_peers(unsigned number) {
  unsigned peers = kWholeWarp;
#pragma unroll
  for (unsigned bit = 0; bit < kBits; bit += 2) {
    const unsigned second = bit + 1 < kBits ? bit + 1 : bit;
    peers = warp_find_same_bits(peers, number, 1U << bit, 1U << second);
  }
  return peers;
}

}  // namespace gsort::gpu
