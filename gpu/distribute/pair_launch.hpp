// The arguments of the kernels that sort pairs by distribution, beside those in launch.hpp, and
// their launches. Each queues one kernel on `stream`, with the shape that tuning.hpp has for
// PairOf<Key, Value> or kPairDistribution has, and checks the launch. Throws: Error(kDevice) naming
// the kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/distribute/launch.hpp"
#include "gpu/records/launch.hpp"

namespace gsort::gpu {

// A tile's pairs lie in shared memory with what ranks them: 192 KB, or 176 for 16 bytes a pair.
template <class Key, class Value>
inline constexpr DistributionTuning kPairDistribution{1024,
                                                      sizeof(Key) + sizeof(Value) == 8 ? 16U : 8U};

// Tiles are those of packed_pair_sort_kernel.
template <class Key, class Value>
inline constexpr CellSortTuning kCellPairSort{512, sizeof(Key) + sizeof(Value) == 8 ? 16U : 8U,
                                              1024};
static_assert(holds_packed_tiles<PairOf<std::uint32_t, std::uint32_t>>(
    kCellPairSort<std::uint32_t, std::uint32_t>));
static_assert(holds_packed_tiles<PairOf<std::uint32_t, std::uint64_t>>(
    kCellPairSort<std::uint32_t, std::uint64_t>));
static_assert(holds_packed_tiles<PairOf<std::uint64_t, std::uint32_t>>(
    kCellPairSort<std::uint64_t, std::uint32_t>));
static_assert(holds_packed_tiles<PairOf<std::uint64_t, std::uint64_t>>(
    kCellPairSort<std::uint64_t, std::uint64_t>));

// The tile, the places of its values, and counters of 16 bits for each warp and bin.
template <class Key, class Value>
inline constexpr unsigned kPairStageBytes = kPairDistribution<Key, Value>.tile_keys() *
                                                (sizeof(Key) + sizeof(Value) + 2) +
                                            kPairDistribution<Key, Value>.threads / 32 * kMostBins *
                                                2;

// Can the device's blocks have so much shared memory?
template <class Key, class Value>
[[nodiscard]] constexpr bool pairs_fit_block(unsigned architecture) {
  return kPairStageBytes<Key, Value> + kBinsBytes <= most_shared_bytes(architecture);
}

// One distribution, or the count before it; a block of either has the same stretch of tiles. What a
// distribution of keys takes, too, is in `keys`, whose chunks and counts are not used: pairs lie
// where the sorted array will have their bucket.
template <class Key, class Value>
struct PairDistributionPass {
  DistributionPass<Key> keys;
  const Value* values_in = nullptr;
  Value* values_out = nullptr;
  // Of each piece, which is what a block has of a bucket: how many pairs of each bin. A piece has
  // the number of its block and that of its bucket, added up: no two have the same.
  std::uint32_t* piece_counts = nullptr;
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

// Adds to keys.rooms and writes piece_counts.
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
