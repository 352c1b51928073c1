// Sorting keys, or pairs of keys and values, in host memory on several devices, whose links to the
// host work at the same time. Devices need not be alike: each takes the next chunk of the input
// when it is free, as long as its memory has room, and later the next piece of the sorted sequence
// (work_shares.hpp). Any host code may include this file.
//
// Each device copies its chunks in, sorts them, and merges up to eight neighbours to a run. Exact
// cuts of all runs bound the pieces (shared_runs.hpp). A device fetches the slices of a piece,
// merges them and copies the piece to the host; it does all three at once, for different pieces.
//
//   chunks            7 1 | 5 3 | 9 2 | 8 4       the first device is three times as fast
//   runs              1 3 5 7, 4 8 | 2 9          of the first device | of the second
//   pieces of three   1 2 3, 4 5 7 | 8 9
//
// Results do not depend on which device did what: pairs are sorted stably, and a cut takes equal
// keys from lower chunks first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/key.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/records/device_pairs.hpp"

namespace gsort::gpu {

// A device that takes part in a sort of host memory. One with less scratch memory than
// sort_host_shares_scratch_bytes(count, devices) has room for fewer chunks, or for none; then
// others must have more.
struct SharingDevice {
  int ordinal = 0;
  ScratchMemory scratch{};  // its memory
};

// The least keys of a chunk, unless there are fewer in all.
inline constexpr std::uint64_t kLeastChunkKeys = std::uint64_t{1} << 21;

// Memory of each device for a sort of `count` keys in host memory: two arrays of its share of the
// keys, and an eighth; more for a share of less than eight chunks, and four arrays for one chunk.
// Only devices with more can take more than their share.
template <class Key>
[[nodiscard]] std::size_t sort_host_shares_scratch_bytes(
    std::uint64_t count, std::uint32_t devices, std::uint64_t least_chunk_keys = kLeastChunkKeys);

// Keys in host memory; the output may be the input.
template <class Key>
struct HostShareSort {
  const Key* input = nullptr;
  Key* output = nullptr;
  std::uint64_t count = 0;
  KeyMap<Key> map{};
  std::uint64_t least_chunk_keys = kLeastChunkKeys;  // another in tests; not 0
};

// Sorts keys in host memory. Fast only if the memory is pinned (cudaHostRegister, cudaMallocHost).
// Returns when it is done. The calling thread's current device stays.
// Requires: Key is std::uint32_t or std::uint64_t.
// Throws: Error(kUsage), with nothing done, for no devices, null pointers with a count, overlap,
// misalignment, more than 2^35 keys for each device, and scratch memory that does not hold all
// keys; DeviceError when CUDA fails: then only the output may have changed.
template <class Key>
void sort_host_shares(const HostShareSort<Key>& sort, std::span<const SharingDevice> devices);

// The same for pairs: arrays of keys and of values.
template <class Key, class Value>
[[nodiscard]] std::size_t sort_host_pairs_scratch_bytes(
    std::uint64_t count, std::uint32_t devices, std::uint64_t least_chunk_keys = kLeastChunkKeys);

// Pairs in host memory. Either array of the output may be that of the input.
template <class Key, class Value>
struct HostPairSort {
  ConstPairs<Key, Value> input{};
  Pairs<Key, Value> output{};
  std::uint64_t count = 0;
  KeyMap<Key> map{};
  std::uint64_t least_chunk_keys = kLeastChunkKeys;  // another in tests; not 0
  // The values are the numbers of the pairs, from 0 on: the input has no values, the output gets no
  // keys. Requires: a Value can hold these numbers.
  bool takes_numbers = false;
};

// Sorts pairs in host memory on several devices, stably. If the map folds classes, keys are floats,
// and keep their bits. Value is std::uint32_t or std::uint64_t.
// Requires and throws: as sort_host_shares.
template <class Key, class Value>
void sort_host_pairs(const HostPairSort<Key, Value>& sort, std::span<const SharingDevice> devices);

#define GSORT_DECLARE(Key)                                                                      \
  extern template std::size_t sort_host_shares_scratch_bytes<Key>(std::uint64_t, std::uint32_t, \
                                                                  std::uint64_t);               \
  extern template void sort_host_shares(const HostShareSort<Key>&, std::span<const SharingDevice>);
GSORT_DECLARE(std::uint32_t)
GSORT_DECLARE(std::uint64_t)
#undef GSORT_DECLARE
#define GSORT_DECLARE(Key, Value)                                        \
  extern template std::size_t sort_host_pairs_scratch_bytes<Key, Value>( \
      std::uint64_t, std::uint32_t, std::uint64_t);                      \
  extern template void sort_host_pairs(const HostPairSort<Key, Value>&,  \
                                       std::span<const SharingDevice>);
GSORT_DECLARE(std::uint32_t, std::uint32_t)
GSORT_DECLARE(std::uint32_t, std::uint64_t)
GSORT_DECLARE(std::uint64_t, std::uint32_t)
GSORT_DECLARE(std::uint64_t, std::uint64_t)
#undef GSORT_DECLARE

}  // namespace gsort::gpu
