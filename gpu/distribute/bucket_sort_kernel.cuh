// bucket_sort_kernel: sorts the buckets of one distribution, each as a tile by its cells
// (cell_sort_kernel.cuh). bucket_merge_kernel: merges those that are longer than a tile.
//
// If a bucket has too many words in one cell, it is sorted by merging. The tiles of a long bucket
// are sorted where they lie and listed, or only stored if all its keys are equal. A word of a
// listed tile then goes behind the lesser words of all tiles; bisection counts those of the other
// tiles. This needs no second array and little time, as few buckets have more than two tiles.
//
// Example. Tiles 2 5 | 3 9: one word of its own tile and one of the other tile are less than word
// 5, so its place is 2.
//
// Threads: a block sorts, stores or merges the tiles that it takes (taken_jobs.cuh). Shared memory:
// the tile, and one number per cell; or rows of E words and a pad, and one co-rank a thread. Device
// memory: each word is read and written once.
#pragma once

#include <cstdint>

#include "gpu/distribute/bucket_tiles.cuh"
#include "gpu/distribute/cell_sort_kernel.cuh"
#include "gpu/sort/block_sort_kernel.cuh"

namespace gsort::gpu {

// Sorts `count` words, at most one tile, as one list. Not inlined, because it would take registers
// from the sort by cells.
template <unsigned kThreads, unsigned kRowWords, class Word, class Target>
__device__ __noinline__ void block_sort_list(const Word* from, Target to, unsigned count,
                                             unsigned* co_ranks) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const TileWords<Word, kRowWords> tile{reinterpret_cast<Word*>(shared_bytes)};
  Word words[kRowWords];
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) {
    const unsigned place = i * kThreads + threadIdx.x;
    words[i] = place < count ? from[place] : static_cast<Word>(~Word{0});
  }
  block_sort_rows<kThreads>(tile, co_ranks, words);
  __syncthreads();  // all rows are written
  for (unsigned place = threadIdx.x; place < count; place += kThreads) {
    to.put(place, tile.words[tile.place_of(place)]);
  }
}

template <class Key, bool kAreLarge>
__global__ void __launch_bounds__(kBucketSort<Key, kAreLarge>.threads, 1)
    bucket_sort_kernel(const __grid_constant__ BucketSortPass<Key> pass) {
  constexpr CellSortTuning kTuning = kBucketSort<Key, kAreLarge>;
  constexpr unsigned kTileKeys = kTuning.tile_keys();
  __shared__ KeyCellScratch<Key, kTuning.threads, kTuning.cells()> scratch;
  __shared__ BucketTile found;
  __shared__ unsigned co_ranks[kTuning.threads + 1];
  static_assert(TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.threads) <=
                kBucketSortBytes<Key, kAreLarge>);
  static_assert(sizeof(scratch) + sizeof(found) + sizeof(co_ranks) + kTakenJobBytes <=
                kBucketSortStaticBytes);
  grid_begin();
  const std::uint64_t tiles = pass.buckets[pass.bucket_count].first_tile;
  block_take_jobs(tiles, pass.taken, [&](std::uint64_t tile) {
    block_find_tile<kTileKeys>(pass, tile, found);
    const BucketTile place = found;
    const std::uint64_t begin = place.bucket_begin + place.position;
    const unsigned count = place.count<kTileKeys>();
    Key* const words = pass.keys + begin;
    const KeyTarget<Key> to{pass.output + begin, pass.maps};
    if (place.bucket_keys <= kTileKeys) {
      if (!block_sort_by_cells<kTuning.threads, kTuning.keys_per_thread, kTuning.cells()>(
              words, to, count, pass.most_of_cell, scratch)) {
        block_sort_list<kTuning.threads, kTuning.keys_per_thread>(words, to, count, co_ranks);
      }
      return;
    }
    const BinTable<Key> table{pass.tables.splitters};
    if (table.is_single_bin(pass.tables.heads[0], place.bucket)) {
      for (unsigned i = threadIdx.x; i < count; i += kTuning.threads) to.put(i, words[i]);
      return;
    }
    const EndMaps<Key> as_they_are;
    block_sort_list<kTuning.threads, kTuning.keys_per_thread>(
        words, KeyTarget<Key>{words, as_they_are}, count, co_ranks);
    if (threadIdx.x == 0) pass.long_tiles[thread_add(&pass.counts->long_tiles, 1)] = place;
  });
}

inline constexpr unsigned kSampleSortThreads = 512;
inline constexpr unsigned kSampleRowKeys = kBlockSampleKeys / kSampleSortThreads;

// Sorts a sample of kBlockSampleKeys keys in place, by one block.
template <class Key>
__global__ void __launch_bounds__(kSampleSortThreads) sample_sort_kernel(Key* sample) {
  __shared__ unsigned co_ranks[kSampleSortThreads + 1];
  grid_begin();
  const EndMaps<Key> as_they_are;
  block_sort_list<kSampleSortThreads, kSampleRowKeys>(sample, KeyTarget<Key>{sample, as_they_are},
                                                      kBlockSampleKeys, co_ranks);
}

// Counts the words of a sorted tile that are less than `word`, or not greater.
template <class Key>
__device__ unsigned thread_count_less(const Key* tile, unsigned count, Key word, bool with_equal) {
  unsigned begin = 0;
  while (begin < count) {
    const unsigned middle = (begin + count) / 2;
    if (tile[middle] < word || (with_equal && tile[middle] == word)) {
      begin = middle + 1;
    } else {
      count = middle;
    }
  }
  return begin;
}

template <class Key, bool kAreLarge>
__global__ void __launch_bounds__(kBucketSort<Key, kAreLarge>.threads)
    bucket_merge_kernel(const __grid_constant__ BucketSortPass<Key> pass) {
  constexpr CellSortTuning kTuning = kBucketSort<Key, kAreLarge>;
  constexpr unsigned kTileKeys = kTuning.tile_keys();
  grid_begin();
  block_take_jobs(pass.counts->long_tiles, pass.taken_long, [&](std::uint64_t number) {
    const BucketTile own = pass.long_tiles[number];
    const Key* const words = pass.keys + own.bucket_begin;
    const KeyTarget<Key> to{pass.output + own.bucket_begin, pass.maps};
    const unsigned count = own.count<kTileKeys>();
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < count; i += kTuning.threads) {
      const Key word = words[own.position + i];
      std::uint64_t place = i;
      BucketTile other = own;
#pragma unroll 1
      for (other.position = 0; other.position < own.bucket_keys; other.position += kTileKeys) {
        if (other.position == own.position) continue;
        // Equal keys of earlier tiles come first.
        place += thread_count_less(words + other.position, other.count<kTileKeys>(), word,
                                   other.position < own.position);
      }
      to.put(static_cast<unsigned>(place), word);
    }
  });
}

}  // namespace gsort::gpu
