// block_sort_windows: sorts a tile in shared memory that is nearly sorted.
//
// Problem. A tile is arranged cell by cell: all keys of a cell are less than those of later cells,
// but keys within a cell are in any order. Cells are short, but their lengths differ. If each
// thread of a warp sorted one cell, all would wait for the longest.
//
// Idea. Sorting any window of the tile keeps all keys in their cells. Each thread sorts a window of
// 16 keys by a network in registers, which is the same work for all threads. Then it sorts a second
// window: the latter half of its first one and the first half of the next one. These are two sorted
// lists of 8, which are merged by 25 compare-exchanges where sorting takes 63. So a window begins
// at every eighth place, and a cell is sorted if it lies in the last window that begins before it.
// This holds for any cell of at most 9 keys.
//
// Example, windows of 4, cells of at most 3: 2 1 4 6 | 5 7 9 8 becomes 1 2 4 6 | 5 7 8 9, where
// 4 6 | 5 7 are merged.
//
// Banks. A window has 64 or 128 bytes, so vectors at the same index in the windows of eight threads
// would share few banks. Therefore vector i of window w is stored at index i ^ w of this window for
// u64 keys, or at i ^ w / 2 for u32 keys. Keys may be in any order before the first sort, which
// moves the vectors to these places.
#pragma once

#include "gpu/merge/block_store.cuh"
#include "gpu/merge/thread_sort.hpp"
#include "gpu/merge/warp_sort.cuh"

namespace gsort::gpu {

inline constexpr unsigned kWindowWords = 16;

// The distance from the beginning of the last window that begins before the cell [begin, begin +
// count) to the cell's end. The cell will be sorted if this is at most kWindowWords.
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned reach_of_cell(unsigned begin, unsigned count) {
  return begin % (kWindowWords / 2) + count;
}

template <class Word>
inline constexpr unsigned kWindowVectors = kWindowWords / KeyVector<Word>::kKeys;

// Where vector `vector` of window `window` lies, once the windows are sorted.
template <class Word>
[[nodiscard]] __device__ unsigned place_of_vector(unsigned window, unsigned vector) {
  constexpr unsigned kVectors = kWindowVectors<Word>;
  constexpr unsigned kBankedVectors = 8;  // have all banks
  return window * kVectors + (vector ^ window / (kBankedVectors / kVectors) % kVectors);
}

// The list of cells that are too long for the windows. A warp sorts each of them before the windows
// are sorted.
struct LongCells {
  static constexpr unsigned kMost = 64;       // cells of a tile
  static constexpr unsigned kMostWords = 64;  // of each

  unsigned count;
  unsigned cells[kMost];  // begin << 16 | words

  // If words have 8 bytes, it is faster to rank all words of the tile within their cells.
  template <class Word>
  [[nodiscard]] static constexpr bool suit() {
    return sizeof(Word) == 4;
  }
  // Returns false if the cell has more than kMostWords, or the list is full.
  __device__ bool add(unsigned begin, unsigned words) {
    if (words > kMostWords) return false;
    const unsigned place = atomicAdd(&count, 1U);
    if (place < kMost) cells[place] = begin << 16 | words;
    return place < kMost;
  }
};

// Sorts the long cells. Requires: the tile lies cell by cell; no call of add() returned false. Ends
// with a barrier if there are any.
template <unsigned kThreads, class Word>
__device__ void block_sort_long_cells(const LongCells& long_cells, Word* tile) {
  if (long_cells.count == 0) return;
#pragma unroll 1
  for (unsigned i = threadIdx.x / 32; i < long_cells.count; i += kThreads / 32) {
    const unsigned cell = long_cells.cells[i];
    warp_sort_list<LongCells::kMostWords>(tile + (cell >> 16), cell & 0xffffU);
  }
  __syncthreads();  // the long cells are sorted
}

// The sorted place of the key at `place` of the tile, whose cell is [begin, end): behind the keys
// of the cell that are less, and behind equal ones in front of it.
template <class Key>
__device__ unsigned thread_rank_in_cell(const Key* tile, Key key, unsigned place, unsigned begin,
                                        unsigned end) {
  unsigned rank = begin;
#pragma unroll 1
  for (unsigned i = begin; i < end; ++i) {
    const Key other = tile[i];
    if (other < key || (other == key && i < place)) ++rank;
  }
  return rank;
}

// Writes the greatest possible words behind the tile's last one, up to the end of its window.
template <unsigned kThreads, class Word>
__device__ void thread_fill_window(Word* tile, unsigned count) {
  static_assert(kThreads >= kWindowWords);
  const unsigned place = count + threadIdx.x;
  if (place < (count + kWindowWords - 1) / kWindowWords * kWindowWords) {
    tile[place] = static_cast<Word>(~Word{0});
  }
}

// Sorts the first `count` words of the tile. Requires: no cell's reach is more than kWindowWords,
// and the last window is filled. Ends with a barrier.
template <unsigned kThreads, class Word>
__device__ void block_sort_windows(Word* tile, unsigned count) {
  using Vector = KeyVector<Word>;
  constexpr unsigned kVectors = kWindowVectors<Word>;
  auto* const vectors = reinterpret_cast<Vector*>(tile);
  const auto visit_windows = [&](unsigned windows, const auto& place, const auto& sort) {
#pragma unroll 1
    for (unsigned window = threadIdx.x; window < windows; window += kThreads) {
      Word words[kWindowWords];
#pragma unroll
      for (unsigned i = 0; i < kVectors; ++i) {
        const Vector vector = vectors[place(window, i)];
#pragma unroll
        for (unsigned j = 0; j < Vector::kKeys; ++j) words[i * Vector::kKeys + j] = vector.keys[j];
      }
      sort(words);
#pragma unroll
      for (unsigned i = 0; i < kVectors; ++i) {
        Vector vector;
#pragma unroll
        for (unsigned j = 0; j < Vector::kKeys; ++j) vector.keys[j] = words[i * Vector::kKeys + j];
        vectors[place(window, i)] = vector;
      }
    }
  };
  const unsigned windows = (count + kWindowWords - 1) / kWindowWords;
  visit_windows(
      windows, [](unsigned window, unsigned i) { return place_of_vector<Word>(window, i); },
      [](auto& words) { thread_sort(words); });
  __syncthreads();  // the windows are sorted
  visit_windows(
      windows - 1,
      [](unsigned window, unsigned i) {
        return i < kVectors / 2 ? place_of_vector<Word>(window, i + kVectors / 2)
                                : place_of_vector<Word>(window + 1, i - kVectors / 2);
      },
      [](auto& words) { thread_sort<kWindowWords / 2>(words); });
  __syncthreads();  // all words are sorted
}

// How many words of a sorted tile a thread stores at once.
inline constexpr unsigned kStoredWords = 4;

// Calls store(first, words) for kStoredWords words of a sorted tile at a time, until all kWords of
// the thread are stored. Word i has the place first + i * kThreads + threadIdx.x, which may be
// behind the tile.
template <unsigned kThreads, unsigned kWords, class Word, class Store>
__device__ void thread_store_sorted(const Word* tile, const Store& store) {
  constexpr auto kVectorWords = static_cast<unsigned>(KeyVector<Word>::kKeys);
  static_assert(kThreads % (8 * kWindowWords) == 0);  // then all words of a thread lie alike
  const unsigned vector = threadIdx.x % kWindowWords / kVectorWords;
  const Word* const own = tile +
                          place_of_vector<Word>(threadIdx.x / kWindowWords, vector) * kVectorWords +
                          threadIdx.x % kVectorWords;
#pragma unroll
  for (unsigned i = 0; i < kWords; i += kStoredWords) {
    Word words[kStoredWords];
#pragma unroll
    for (unsigned j = 0; j < kStoredWords; ++j) words[j] = own[(i + j) * kThreads];
    store(i * kThreads, words);
  }
}

}  // namespace gsort::gpu
