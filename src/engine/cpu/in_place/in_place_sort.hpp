// Sorts keys in their array, on one core or several.
//
//   few keys         in the cache (cache_sort.hpp)
//   in order         nothing to do; in reverse order: reversed
//   of a few caches  halved (halve.hpp), then each part in the cache
//   otherwise        dealt out in place (block_partition.hpp) to buckets of a cache's size, by
//                    bounds from a sample (bucket_map.hpp), then each bucket in the cache
//
// Raw keys become ordered ones as they are dealt out, and raw ones again when their bucket has
// been sorted and is in the cache. A bucket that is still too large is halved, or dealt out again;
// all workers deal out a bucket that is more than the share of one. Buckets of equal keys are done.
//
// Cost. Two reads and two writes of every key to deal it out, one of each to sort it. Each worker
// takes a block for each bucket, and scratch memory if the cache sort needs it: about 2 MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/element.hpp"

namespace gsort::cpu {

// One core sorts fewer bytes than this before other cores could help.
inline constexpr std::size_t kLeastSharedBytes = std::size_t{1} << 20;

// The sizes that decide the speed; 0: the best size for the key type on Intel and AMD processors
// with AVX-512. More buckets are slower there: the blocks of a worker do not fit the L2 cache
// beside the keys that it has just read.
struct InPlaceTuning {
  std::size_t most_buckets = 0;           // of one distribution
  std::size_t block_bytes = 2048;         // moved as a whole
  std::size_t bucket_bytes = 256 * 1024;  // wanted, up to most_buckets
  std::size_t cache_bytes = 0;            // sorted without a distribution
  std::size_t worker_bytes = 256 * 1024;  // enough for one worker
};

// Sorts raw keys so that map.to_ordered() of them ascends. Thread-safe on disjoint keys.
// Requires: threads > 0. Throws: std::bad_alloc before it changes keys. Later it needs no more
// memory, or works without it.
template <class Key>
void sort_in_place(std::span<Key> keys, const KeyMap<Key>& map, unsigned threads,
                   const InPlaceTuning& tuning = {});

// The same for narrow keys, which are counted.
void sort_in_place(std::span<std::uint8_t> keys, const KeyMap<std::uint8_t>& map, unsigned threads);
void sort_in_place(std::span<std::uint16_t> keys, const KeyMap<std::uint16_t>& map,
                   unsigned threads);

extern template void sort_in_place(std::span<std::uint32_t>, const KeyMap<std::uint32_t>&, unsigned,
                                   const InPlaceTuning&);
extern template void sort_in_place(std::span<std::uint64_t>, const KeyMap<std::uint64_t>&, unsigned,
                                   const InPlaceTuning&);
extern template void sort_in_place(std::span<UInt128>, const KeyMap<UInt128>&, unsigned,
                                   const InPlaceTuning&);

}  // namespace gsort::cpu
