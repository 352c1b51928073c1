// warp_sort_cell: sorts the keys of a crowded cell in shared memory, if most of them are copies of
// a few keys.
//
// Problem. A key that repeats m times fills a cell, and ranking m keys takes m^2 comparisons.
//
// Idea. Equal keys need no ranks, only a count. Each lane looks at one key; together they look all
// over the cell. A key that several lanes have is counted, and all other keys move to the front of
// the cell. This is repeated with these keys, until the counted keys and the keys that are left are
// at most one item for each lane. An item's place is the number of keys in all lesser items.
//
// Example. Cell 7 3 7 7 9 7. Several lanes have 7: there are four of it, and 3 and 9 are left. The
// items 7 7 7 7, 3 and 9 go to places 1, 0 and 5.
//
// Cost. For each counted key the cell is read once, with about one instruction for three keys. An
// item takes about seven instructions.
#pragma once

#include <cstdint>

#include "gpu/distribute/launch.hpp"
#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

inline constexpr unsigned kMostCounted = 8;   // different keys of a cell
inline constexpr unsigned kLeastHolders = 4;  // lanes that have a key that is counted

// Each lane takes a key of [keys, keys + count), which `own` becomes. Returns a lane whose key at
// least kLeastHolders lanes have, or 32 if there is none. Requires: count > 0.
template <class Key>
__device__ unsigned warp_find_frequent(const Key* keys, unsigned count, Key& own) {
  own = keys[threadIdx.x % 32 * count / 32];
  unsigned lane = 0;
  while (lane < 32) {
    const unsigned holders = __ballot_sync(kWholeWarp, own == __shfl_sync(kWholeWarp, own, lane));
    if (static_cast<unsigned>(__popc(static_cast<int>(holders))) >= kLeastHolders) break;
    ++lane;
  }
  return lane;
}

// Moves keys other than `key` to the front. Returns their number.
template <class Key>
__device__ unsigned warp_move_others(Key* keys, unsigned count, Key key) {
  constexpr unsigned kReads = 4;  // at once, to wait less
  const unsigned lane = threadIdx.x % 32;
  unsigned others = 0;
#pragma unroll 1
  for (unsigned begin = 0; begin < count; begin += 32 * kReads) {
    Key read[kReads];
#pragma unroll
    for (unsigned i = 0; i < kReads; ++i) {
      const unsigned place = begin + 32 * i + lane;
      read[i] = place < count ? keys[place] : key;
    }
    __syncwarp();  // all are read
#pragma unroll
    for (unsigned i = 0; i < kReads; ++i) {
      const unsigned differ = __ballot_sync(kWholeWarp, read[i] != key);
      const unsigned before = differ & ((1U << lane) - 1);
      if (read[i] != key) keys[others + __popc(static_cast<int>(before))] = read[i];
      others += __popc(static_cast<int>(differ));
    }
  }
  __syncwarp();  // the others are written
  return others;
}

// Returns false, with keys overwritten, if too many of them are different. Not inlined:
// the compiler would calculate parts of it earlier, and take registers from the sort of other
// tiles.
template <class Key>
__device__ __noinline__ bool warp_sort_cell(Key* keys, unsigned count) {
  const unsigned lane = threadIdx.x % 32;
  Key item{0};
  unsigned copies = 0;
  unsigned counted = 0;
#pragma unroll 1
  while (count > 32 - kMostCounted) {
    Key own;
    const unsigned found = warp_find_frequent(keys, count, own);
    if (found == 32 || counted == kMostCounted) return false;
    const Key frequent = __shfl_sync(kWholeWarp, own, found);
    const unsigned others = warp_move_others(keys, count, frequent);
    if (lane == counted++) {
      item = frequent;
      copies = count - others;
    }
    count = others;
  }
  const unsigned items = counted + count;
  if (lane >= counted && lane < items) {
    item = keys[lane - counted];
    copies = 1;
  }
  unsigned place = 0;
#pragma unroll 1
  for (unsigned i = 0; i < items; ++i) {
    const Key other = __shfl_sync(kWholeWarp, item, i);
    const unsigned other_copies = __shfl_sync(kWholeWarp, copies, i);
    if (other < item || (other == item && i < lane)) place += other_copies;
  }
  __syncwarp();  // all items are read
  if (lane >= counted && lane < items) keys[place] = item;
#pragma unroll 1
  for (unsigned i = 0; i < counted; ++i) {
    const Key frequent = __shfl_sync(kWholeWarp, item, i);
    const unsigned begin = __shfl_sync(kWholeWarp, place, i);
    const unsigned end = begin + __shfl_sync(kWholeWarp, copies, i);
    for (unsigned j = begin + lane; j < end; j += 32) keys[j] = frequent;
  }
  return true;
}

// Sorts those of the warp's cells that are crowded; cell i ends at ends[i] in the tile. Returns
// false if one of them has too many different keys.
template <unsigned kThreads, unsigned kCells, class Key>
__device__ bool warp_sort_crowded_cells(Key* tile, const unsigned* ends) {
  static_assert(kCells % kThreads == 0);
#pragma unroll 1
  for (unsigned cell = threadIdx.x; cell < kCells; cell += kThreads) {
    const unsigned begin = cell == 0 ? 0 : ends[cell - 1];
    const unsigned count = ends[cell] - begin;
    unsigned crowded = __ballot_sync(kWholeWarp, count > kMostOfCell);
#pragma unroll 1
    for (; crowded != 0; crowded &= crowded - 1) {
      const int lane = __ffs(static_cast<int>(crowded)) - 1;
      Key* const keys = tile + __shfl_sync(kWholeWarp, begin, lane);
      if (!warp_sort_cell(keys, __shfl_sync(kWholeWarp, count, lane))) return false;
    }
  }
  return true;
}

}  // namespace gsort::gpu
