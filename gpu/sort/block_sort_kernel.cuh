// block_sort_kernel: sorts each tile of the input; tile i becomes run i.
//
// Threads: block b sorts tile b; thread t sorts any E keys of it in registers, then makes row t
// in every merge level: lists of 1, 2, 4 ... rows become lists of 2, 4, 8 ... rows.
// Shared memory: the tile, rows of E keys and a pad; one co-rank a thread.
// Device memory: each key is read once and written once, 2 * sizeof(Key) bytes an element.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/merge/block_merge.cuh"
#include "gpu/merge/block_store.cuh"
#include "gpu/merge/merge_pass.hpp"
#include "gpu/sort/launch.hpp"

namespace gsort::gpu {

// Loads any kRowWords keys of the tile into registers, each key of the tile into exactly one
// thread; what the tile lacks is filled with the greatest key.
template <class Key, unsigned kThreads, unsigned kRowWords>
__device__ void thread_load_unordered(const Key* tile, std::uint64_t count,
                                      Key (&keys)[kRowWords]) {
  using Vector = KeyVector<Key>;
  const bool aligned = reinterpret_cast<std::uintptr_t>(tile) % sizeof(Vector) == 0;
  if (aligned && count >= kThreads * kRowWords) {
    const auto* const vectors = reinterpret_cast<const Vector*>(tile);
#pragma unroll
    for (unsigned i = 0; i < kRowWords / Vector::kKeys; ++i) {
      const Vector vector = vectors[i * kThreads + threadIdx.x];
#pragma unroll
      for (unsigned j = 0; j < Vector::kKeys; ++j) keys[i * Vector::kKeys + j] = vector.keys[j];
    }
  } else {
#pragma unroll
    for (unsigned i = 0; i < kRowWords; ++i) {
      const unsigned word = i * kThreads + threadIdx.x;
      keys[i] = word < count ? tile[word] : Key{0};
    }
  }
}

// Maps loaded keys to ordered ones; places past the tile's count get the greatest key.
template <class Key, unsigned kThreads, unsigned kRowWords>
__device__ void thread_order_keys(const BlockSortPass<Key>& pass, std::uint64_t count,
                                  Key (&keys)[kRowWords]) {
  if (pass.loads_mapped) {
#pragma unroll
    for (Key& key : keys) key = pass.load_map.to_ordered(key);
  }
  if (count < kThreads * kRowWords) {
#pragma unroll
    for (unsigned i = 0; i < kRowWords; ++i) {
      if (i * kThreads + threadIdx.x >= count) keys[i] = static_cast<Key>(~Key{0});
    }
  }
}

// One level: lists of list_rows rows become lists of twice as many. `keys` is the thread's row
// before and after.
template <Sharers kSharers, class Key, unsigned kRowWords>
__device__ void block_join_lists(TileWords<Key, kRowWords> tile, unsigned row, unsigned list_rows,
                                 unsigned* co_ranks, Key (&keys)[kRowWords]) {
  const unsigned first_row = row & ~(2 * list_rows - 1);
  if ((row & list_rows) == 0) {
    thread_store_row(tile, row, keys);
  } else {
    thread_store_row_reversed(tile, row, first_row + list_rows, list_rows, keys);
  }
  sync_sharers<kSharers>();  // the level's lists are written
  const MergeRegion region{first_row, 2 * list_rows, list_rows * kRowWords};
  block_merge_level<kSharers>(tile, region, row, co_ranks, keys);
}

// Merges the block's rows, each sorted, and leaves thread t's part as row t of the tile.
template <unsigned kThreads, class Key, unsigned kRowWords>
__device__ void block_merge_rows(TileWords<Key, kRowWords> tile, unsigned* co_ranks,
                                 Key (&keys)[kRowWords]) {
  const unsigned row = threadIdx.x;
#pragma unroll 1
  for (unsigned list_rows = 1; list_rows < 32; list_rows *= 2) {
    block_join_lists<Sharers::kWarp>(tile, row, list_rows, co_ranks, keys);
  }
#pragma unroll 1
  for (unsigned list_rows = 32; list_rows < kThreads; list_rows *= 2) {
    block_join_lists<Sharers::kBlock>(tile, row, list_rows, co_ranks, keys);
  }
  thread_store_row(tile, row, keys);
}

// Sorts the block's keys, wherever each of them is, and leaves thread t's part as row t of the
// tile.
template <unsigned kThreads, class Key, unsigned kRowWords>
__device__ void block_sort_rows(TileWords<Key, kRowWords> tile, unsigned* co_ranks,
                                Key (&keys)[kRowWords]) {
  thread_sort(keys);
  block_merge_rows<kThreads>(tile, co_ranks, keys);
}

template <class Key, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    block_sort_kernel(const BlockSortPass<Key> pass) {
  constexpr unsigned kTileKeys = kThreads * kRowWords;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ unsigned co_ranks[kThreads + 1];
  const TileWords<Key, kRowWords> tile{reinterpret_cast<Key*>(shared_bytes)};
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * kTileKeys;
  const std::uint64_t count = pass.count - begin < kTileKeys ? pass.count - begin : kTileKeys;

  grid_begin();
  Key keys[kRowWords];
  thread_load_unordered<Key, kThreads>(pass.input + begin, count, keys);
  thread_order_keys<Key, kThreads>(pass, count, keys);
  block_sort_rows<kThreads>(tile, co_ranks, keys);

  TileTarget<Key> target{
      pass.output + begin, static_cast<unsigned>(count), nullptr, 0, pass.stores_mapped,
      pass.store_map};
  if (pass.samples != nullptr) {
    target.samples = pass.samples + (begin >> kWrittenSampleShift<Key>)+blockIdx.x;
  }
  warp_store_tile(tile, target);
}

}  // namespace gsort::gpu
