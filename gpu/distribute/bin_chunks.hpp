// bin_chunks: where the keys of the first distribution's bins lie. For the host and the device.
//
// Problem. How many keys a bin has is known when all of them have been read. To count them first
// reads every key once more; room by an estimate may be too little.
//
// Idea. A bin has chunks of 2^shift keys, wherever they lie. A block adds the number of its keys to
// the bin's count, which gives it a stretch of the bin. If a chunk begins in the stretch, the block
// takes one that is free and publishes its number; if not, it waits for the number. A chunk has
// at least as many keys as a block adds at a time, so a stretch has keys of two chunks at most.
//
// Progress. A block waits for one that runs: that one has added to the count before, and it
// publishes its chunks before it waits.
//
// Room. Bins of n keys have at most n / 2^shift chunks that are full, and one each that is not.
//
// Example. Chunks of 4 keys. Bin 0 takes 3 keys: chunk 0. Bin 1 takes 2: chunk 1. Bin 0 takes 3
// more: one to chunk 0, two to chunk 2.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort::gpu {

inline constexpr unsigned kLeastChunkShift = 14;
inline constexpr std::uint64_t kMostChunks = 0xffff;  // numbers, plus one, are 16 bits

struct BinChunks {
  std::uint16_t* numbers = nullptr;  // of each bin's chunks, plus one; 0: not known yet
  std::uint64_t most_of_bin = 0;
  unsigned shift = kLeastChunkShift;

  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t keys() const {
    return std::uint64_t{1} << shift;
  }
  // The entry of the chunk that key `position` of the bin is in.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint16_t* entry(unsigned bin,
                                                                 std::uint64_t position) const {
    return numbers + bin * most_of_bin + (position >> shift);
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t place_in(unsigned number_plus_one,
                                                                   std::uint64_t position) const {
    return (std::uint64_t{number_plus_one - 1} << shift) + (position & (keys() - 1));
  }
  // Where key `position` of the bin lies. Requires: its chunk is known.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t place_of(unsigned bin,
                                                                   std::uint64_t position) const {
    return place_in(*entry(bin, position), position);
  }
};

}  // namespace gsort::gpu
