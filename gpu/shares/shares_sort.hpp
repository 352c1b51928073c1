// Sorting over several devices in one call: keys, or pairs of keys and values, that lie in the
// memories of several devices. Any host code may include this file. Read next: host_shares.hpp, for
// those in host memory.
//
// Each device sorts its share, in ordered form. share_cuts.hpp finds which slice of each share
// belongs to which device: device i gets as many keys as it had, those that come after the keys of
// the devices before it. Slices go from device to device, over NVLink or the bus between the
// devices where these have access to each other, else through host memory. Then each device merges
// the slices that it got. Phases follow each other; within one all devices work at once.
//
//   shares      7 1 5 | 3 9 2     sorted   1 5 7 | 2 3 9
//   cuts at 3   1 | 2                      1 - 5 7 | 2 3 - 9
//   slices      1, 2 3 | 5 7, 9   merged   1 2 3 | 5 7 9
//
// Parts are merged whole: a merge writes to memory from which other devices still fetch, and
// another array for it would need half as much memory again.
//
// Values go with their keys. Sorts of pairs are stable over all devices: shares are sorted and
// merged stably, in the order of their numbers, and a cut takes equal keys from lower shares
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/key.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/records/device_pairs.hpp"

namespace gsort::gpu {

// The pairs that one device holds.
template <class Key, class Value>
struct PairShare {
  int ordinal = 0;
  Key* keys = nullptr;      // count keys in its memory
  std::uint64_t count = 0;  // may be 0
  ScratchMemory scratch{};  // its memory, of sort_..._shares_scratch_bytes(count, shares)
  Value* values = nullptr;  // as many as keys
};

template <class Key>
using DeviceShare = PairShare<Key, NoValue>;

// Memory of a device with `count` of the keys: one more array of keys (two for more than eight
// shares), and a few per cent.
template <class Key>
[[nodiscard]] std::size_t sort_shares_scratch_bytes(std::uint64_t count, std::uint32_t shares);

// Sorts the keys of all shares as one sequence, in place: the first share then has the first keys.
// Returns when it is done; what was queued for the keys before the call must be done by then. A
// device may have several shares. The calling thread's current device stays.
// Requires: Key is std::uint32_t or std::uint64_t; keys aligned to sizeof(Key), all memory apart.
// Throws: Error(kUsage), with nothing done, for no shares, null pointers with a count, overlap,
// misalignment, more than 2^35 keys in a share, and too little scratch; DeviceError when CUDA
// fails: the shares then hold keys, but not all keys that they held.
template <class Key>
void sort_shares(std::span<const DeviceShare<Key>> shares, const KeyMap<Key>& map);

// The same, but the result may have another form: `load_map` turns keys into ordered keys, and
// `store_map` turns these into the keys that the shares then hold.
template <class Key>
void sort_shares(std::span<const DeviceShare<Key>> shares, const KeyMap<Key>& load_map,
                 const KeyMap<Key>& store_map);

// The same for pairs: one more array of keys and one of values (two of each for more than eight
// shares), a few per cent, and, for floats, another array of keys.
template <class Key, class Value>
[[nodiscard]] std::size_t sort_pair_shares_scratch_bytes(std::uint64_t count, std::uint32_t shares,
                                                         bool are_floats = false);

// The same for pairs, stably: of equal keys, those of lower shares come first. If `map` folds
// classes, keys are floats, and keep their bits. Value is std::uint32_t or std::uint64_t.
template <class Key, class Value>
void sort_pair_shares(std::span<const PairShare<Key, Value>> shares, const KeyMap<Key>& map);

#define GSORT_DECLARE(Key)                                                                  \
  extern template std::size_t sort_shares_scratch_bytes<Key>(std::uint64_t, std::uint32_t); \
  extern template void sort_shares(std::span<const DeviceShare<Key>>, const KeyMap<Key>&);  \
  extern template void sort_shares(std::span<const DeviceShare<Key>>, const KeyMap<Key>&,   \
                                   const KeyMap<Key>&);
GSORT_DECLARE(std::uint32_t)
GSORT_DECLARE(std::uint64_t)
#undef GSORT_DECLARE
#define GSORT_DECLARE(Key, Value)                                                              \
  extern template std::size_t sort_pair_shares_scratch_bytes<Key, Value>(std::uint64_t,        \
                                                                         std::uint32_t, bool); \
  extern template void sort_pair_shares(std::span<const PairShare<Key, Value>>, const KeyMap<Key>&);
GSORT_DECLARE(std::uint32_t, std::uint32_t)
GSORT_DECLARE(std::uint32_t, std::uint64_t)
GSORT_DECLARE(std::uint64_t, std::uint32_t)
GSORT_DECLARE(std::uint64_t, std::uint64_t)
#undef GSORT_DECLARE

}  // namespace gsort::gpu
