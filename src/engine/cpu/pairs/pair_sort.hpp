// Stable sorts of pairs of keys and values in two arrays, and of the indices that sort keys, on one
// core or several.
//
//   few pairs        in the cache (cached_pairs.hpp)
//   in order         left as they are; their indices are 0, 1, 2, ...
//   keys of 8 bits   dealt out to the second arrays by their value, and moved back
//   keys of 16 bits  dealt out to the second arrays by their low byte, and back by their high one
//   otherwise        dealt out to the second arrays, by bounds from a sample (bucket_map.hpp), then
//                    each bucket is sorted back in the cache
//
// Raw keys become ordered ones as they are dealt out, and raw ones again when their bucket has been
// sorted. Floats that are equal in numeric order (-0 and +0, all NaN) keep their order and their
// bits: ordered keys keep all bits, and are compared by their class (ClassFold). A bucket that is
// still too large is dealt out again, by all workers if it is more than one worker's share. Buckets
// of one key are not sorted.
//
// Cost. Two reads and two writes of every pair, and one more read of the keys. Memory for the
// second arrays, and for each worker a line for each bucket and room for a bucket, about 2.5 MiB at
// most. argsort_keys also needs memory for the keys of a bucket that is larger than this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/key.hpp"

namespace gsort::cpu {

// The sizes that decide the speed.
struct PairTuning {
  std::size_t most_buckets = 1024;                  // of one distribution; twice, if these fit
  std::size_t bucket_bytes = 256 * 1024;            // wanted, up to most_buckets
  std::size_t cached_pairs = std::size_t{1} << 17;  // sorted without a distribution
  std::size_t worker_bytes = 256 * 1024;            // the least for each worker
};

// The memory for the second arrays: 0 for few pairs, otherwise at most that of the pairs and 64
// bytes.
template <class Key, class Value>
[[nodiscard]] std::size_t pairs_scratch_bytes(std::size_t count);

// Sorts raw keys, and their values with them, so that classes.to_ordered() of the keys ascends.
// Thread-safe on disjoint memory. Requires: as many values as keys; `scratch` has
// pairs_scratch_bytes(); threads > 0.
// Throws: std::bad_alloc, with keys and values unchanged.
template <class Key, class Value>
void sort_pairs(std::span<Key> keys, std::span<Value> values, const KeyMap<Key>& classes,
                unsigned threads, std::span<std::byte> scratch, const PairTuning& tuning = {});

// Writes the indices that sort the keys. Requires: as sort_pairs; Value can hold every index.
// Throws: as sort_pairs, but the indices are then undefined.
template <class Key, class Value>
void argsort_keys(std::span<const Key> keys, std::span<Value> indices, const KeyMap<Key>& classes,
                  unsigned threads, std::span<std::byte> scratch, const PairTuning& tuning = {});

#define GSORT_FOR_PAIRS(F)        \
  F(std::uint8_t, std::uint32_t)  \
  F(std::uint8_t, std::uint64_t)  \
  F(std::uint16_t, std::uint32_t) \
  F(std::uint16_t, std::uint64_t) \
  F(std::uint32_t, std::uint32_t) \
  F(std::uint32_t, std::uint64_t) \
  F(std::uint64_t, std::uint32_t) \
  F(std::uint64_t, std::uint64_t)
#define GSORT_EXTERN(Key, Value)                                                                  \
  extern template std::size_t pairs_scratch_bytes<Key, Value>(std::size_t);                       \
  extern template void sort_pairs(std::span<Key>, std::span<Value>, const KeyMap<Key>&, unsigned, \
                                  std::span<std::byte>, const PairTuning&);                       \
  extern template void argsort_keys(std::span<const Key>, std::span<Value>, const KeyMap<Key>&,   \
                                    unsigned, std::span<std::byte>, const PairTuning&);
GSORT_FOR_PAIRS(GSORT_EXTERN)
#undef GSORT_EXTERN

}  // namespace gsort::cpu
