// The arguments of the kernels that sort pairs by distribution, beside those in launch.hpp, and
// their launches. Each queues one kernel on `stream`, with the shape that tuning.hpp has for
// PairOf<Key, Value> or kPairDistribution has, and checks the launch. Throws: Error(kDevice) naming
// the kernel.
#pragma once

#include <algorithm>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/distribute/launch.hpp"
#include "gpu/records/launch.hpp"

namespace gsort::gpu {

// A tile's keys or values lie in shared memory with what ranks them: 128 KB. More would leave the
// L1 cache too little for the loads on their way.
template <class Key, class Value>
inline constexpr DistributionTuning kPairDistribution{1024,
                                                      sizeof(Key) + sizeof(Value) == 8 ? 16U : 8U};

// Tiles are those of packed_pair_sort_kernel.
template <class Key, class Value>
inline constexpr CellSortTuning kCellPairSort{512, sizeof(Key) + sizeof(Value) == 8 ? 16U : 8U, 8,
                                              1024};
static_assert(holds_packed_tiles<PairOf<std::uint32_t, std::uint32_t>>(
    kCellPairSort<std::uint32_t, std::uint32_t>));
static_assert(holds_packed_tiles<PairOf<std::uint32_t, std::uint64_t>>(
    kCellPairSort<std::uint32_t, std::uint64_t>));
static_assert(holds_packed_tiles<PairOf<std::uint64_t, std::uint32_t>>(
    kCellPairSort<std::uint64_t, std::uint32_t>));
static_assert(holds_packed_tiles<PairOf<std::uint64_t, std::uint64_t>>(
    kCellPairSort<std::uint64_t, std::uint64_t>));

// The tile's keys or its values, and counters of 32 bits for each warp and bin.
template <class Key, class Value>
inline constexpr unsigned kPairStageBytes = kPairDistribution<Key, Value>.tile_keys() *
                                                static_cast<unsigned>(std::max(sizeof(Key),
                                                                               sizeof(Value))) +
                                            kPairDistribution<Key, Value>.threads / 32 * kMostBins *
                                                4;

// Whether this much shared memory per block is enough.
template <class Key, class Value>
[[nodiscard]] constexpr bool pairs_fit_block(unsigned shared_bytes) {
  return kPairStageBytes<Key, Value> + kBinsBytes <= shared_bytes;
}

inline constexpr unsigned kPieceSumThreads = 1024;

// One distribution, or the count before it. What a distribution of keys takes, too, is in `keys`,
// whose chunks and counts are not used: pairs lie where the sorted array will have their bucket.
template <class Key, class Value>
struct PairDistributionPass {
  DistributionPass<Key> keys;
  const Value* values_in = nullptr;
  Value* values_out = nullptr;
  // Of each piece: how many pairs of each bin; later, how many those before it have.
  std::uint64_t* pieces = nullptr;
  // Where the bins begin: of the first distribution as the buckets that they become; else nullptr,
  // and keys.rooms has it.
  const BucketPlace* bin_places = nullptr;
};

// The tiles of long arrays of pairs and packed tiles, as LongSortPass for keys.
template <class Key, class Value>
struct PairLongSortPass {
  LongSortPass<Key> keys;
  const Value* values_in = nullptr;
  Value* values_after_even_passes = nullptr;
  Value* values_after_odd_passes = nullptr;
};

template <class Key, class Value>
struct PackedPairSortPass {
  PairLongSortPass<Key, Value> buckets;  // input: the distributed pairs
  const LongArray* packed_tiles = nullptr;
  LongArray* crowded_tiles = nullptr;  // those that are merged: the tile arrays of `buckets`
  DistributionCounts* counts = nullptr;
};

// One merge pass of long arrays of pairs.
template <class Key, class Value>
struct ListedPairMergePass {
  PairMergePass<Key, Value> merge;
  LongArrays arrays;
  unsigned pass = 0;
};

// Writes keys.rooms and pieces.
template <class Key, class Value>
void launch_pair_counts(const PairDistributionPass<Key, Value>& pass, unsigned architecture,
                        cudaStream_t stream);
template <class Key, class Value>
void launch_pair_distribution(const PairDistributionPass<Key, Value>& pass, unsigned architecture,
                              cudaStream_t stream);
template <class Key, class Value>
void launch_cell_pair_sort(const PackedPairSortPass<Key, Value>& pass, unsigned architecture,
                           cudaStream_t stream);
template <class Key, class Value>
void launch_packed_pair_sort(const PackedPairSortPass<Key, Value>& pass, unsigned architecture,
                             cudaStream_t stream);
template <class Key, class Value>
void launch_listed_pair_merge(const ListedPairMergePass<Key, Value>& pass, unsigned architecture,
                              cudaStream_t stream);

}  // namespace gsort::gpu
