// worst_merge: the input on which a pairwise GPU merge sort meets the most bank conflicts.
//
// Problem. In the merge of a tile, every thread of a warp merges kPerThread consecutive outputs
// from shared memory, one key at a time. Memory has kWarp banks; threads that read different words
// of one bank at the same time wait for each other. Random input makes few such conflicts, so a
// benchmark on random keys alone flatters the sort.
//
// Idea. Choose how much each thread takes from A and from B so that as many threads as possible
// start at bank 0 and read the same banks in the same step: a thread takes all its keys from a list
// that is at a multiple of kWarp; if neither is, it takes as many as bring A to a multiple, and the
// rest from B. This decides, for each warp's outputs, which come from A and which from B; the next
// warp does the same with A and B exchanged, so that both lists are used up together. Applied
// backwards from the sorted order, merge by merge, it gives the permutation for which every merge
// is the worst one.
//
// Example. kWarp 4, kPerThread 3: thread 0 takes AAA, thread 1 BBB, and both lists stand at 3.
// Thread 2 takes A, which brings A to 4, and BB; thread 3 finds A at a multiple of 4 and takes AAA,
// from the same banks as thread 0. The next warp does the same with A and B exchanged: of 24
// outputs 12 come from each.
//
// Cost. O(log(count / tile)) per key, each a look-up in a table of 2 * kWarp * kPerThread entries.
// A warp's reads take 12 times as long as without conflicts, 3.4 times on random input (counted).
//
// Cost. O(log(count / tile)) per key, each a look-up in a table of 2 * kWarp * kPerThread entries.
//
// Source. After K. Berney, N. Sitchinava, "Engineering Worst-Case Inputs for Pairwise Merge Sort on
// GPUs", IPDPS 2020, doi:10.1109/IPDPS47924.2020.00119; the tile is Thrust's, which they attack.
#pragma once

#include <array>
#include <cstdint>

namespace gsort {

class WorstMerge {
 public:
  static constexpr std::uint32_t kWarp = 32;       // threads, and banks of shared memory
  static constexpr std::uint32_t kPerThread = 15;  // outputs a thread merges; coprime to the banks
  static constexpr std::uint32_t kTile = 512 * kPerThread;
  static constexpr std::uint32_t kPattern = 2 * kWarp * kPerThread;  // outputs of two warps
  static constexpr std::uint32_t kHalf = kPattern / 2;               // of which come from A

  WorstMerge();

  // The rank in sorted order of the element at `position` of an input of `count` elements. Tiles
  // are reversed within; a merge whose second run is not whole leaves its elements where they are.
  // Ensures: a permutation of [0, count).
  [[nodiscard]] std::uint64_t rank_of(std::uint64_t position, std::uint64_t count) const;

 private:
  // Where in the outputs of two warps the i-th element of A, and of B, goes.
  std::array<std::uint32_t, kHalf> from_a_{};
  std::array<std::uint32_t, kHalf> from_b_{};
};

}  // namespace gsort
