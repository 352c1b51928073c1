// The parameters of the kernels that sort by distribution, and their launches. Each launch queues
// one kernel on `stream`, with the shape that tuning.hpp, kDistribution or kPairDistribution has,
// and checks for errors. Throws: Error(kDevice) naming the kernel.
#pragma once

#include <algorithm>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "base/units.hpp"
#include "element/key.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/distribute/bin_chunks.hpp"
#include "gpu/distribute/bin_table.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/records/launch.hpp"
#include "gpu/segmented/launch.hpp"
#include "gpu/sort/long_arrays.hpp"

namespace gsort::gpu {

enum class DistributionStep : std::uint8_t { kFirst, kSecond, kOnce };

// A distribution's tile: what a block reads, sorts by bins in shared memory, and writes.
struct DistributionTuning {
  unsigned threads;
  unsigned keys_per_thread;

  [[nodiscard]] constexpr unsigned tile_keys() const { return threads * keys_per_thread; }
};

// On an H100 the two distributions of 2^28 random keys take 1.28 and 1.19 ms (u32), 2.05 and 2.12
// (u64); with two blocks of 512 threads on a multiprocessor 2.68 and 2.52 (u64).
template <class Key, DistributionStep kStep>
inline constexpr DistributionTuning kDistribution{1024, 16};
// Smaller tiles, so that fewer keys still occupy all multiprocessors.
template <class Key>
inline constexpr DistributionTuning kDistribution<Key, DistributionStep::kOnce>{512, 16};
template <class Key>
inline constexpr DistributionTuning kFirstDistribution =
    kDistribution<Key, DistributionStep::kFirst>;
template <class Key>
inline constexpr DistributionTuning kSecondDistribution =
    kDistribution<Key, DistributionStep::kSecond>;

// cell_sort_kernel's tile, and the least number of threads per multiprocessor, which bounds
// registers.
struct CellSortTuning {
  unsigned threads;
  unsigned keys_per_thread;
  unsigned cells_per_thread;  // a multiple of 4
  unsigned resident_threads;

  [[nodiscard]] constexpr unsigned tile_keys() const { return threads * keys_per_thread; }
  [[nodiscard]] constexpr unsigned cells() const { return threads * cells_per_thread; }
  [[nodiscard]] constexpr unsigned cell_bytes() const { return cells() * sizeof(unsigned); }
};
template <class Key>
inline constexpr CellSortTuning kCellSort{512, 16, 8, sizeof(Key) == 4 ? 1536U : 1024U};
// Used by bucket_sort_kernel. Large buckets are those of more than 2^22 keys of 32 bits.
template <class Word, bool kAreLarge = false>
inline constexpr CellSortTuning kBucketSort{1024, 16, 8, 1024};
template <>
inline constexpr CellSortTuning kBucketSort<std::uint32_t, true>{1024, 32, 16, 1024};
// cell_sort_kernel's tile holds a packed tile of any architecture.
template <class Element>
[[nodiscard]] constexpr bool holds_packed_tiles(const CellSortTuning& tuning) {
  return std::ranges::all_of(kTunings, [&](const TuningRow& row) {
    return TuningOf<Element>::in(row).block_sort_keys() <= tuning.tile_keys();
  });
}
static_assert(holds_packed_tiles<std::uint32_t>(kCellSort<std::uint32_t>));
static_assert(holds_packed_tiles<std::uint64_t>(kCellSort<std::uint64_t>));
// If an equal cell of a tile has more keys than this, they are not ranked.
inline constexpr unsigned kMostRanked = 32;
// The same for the cells of a sample.
inline constexpr unsigned kMostOfCell = 512;

// The most bytes that a distribution kernel has beside the tile: the table, and where bins go.
inline constexpr unsigned kBinsBytes = 35U << 10;

// Whether this much shared memory per block is enough for a distribution of keys.
template <class Key>
[[nodiscard]] constexpr bool keys_fit_block(unsigned shared_bytes) {
  const unsigned tile =
      std::max(kFirstDistribution<Key>.tile_keys(), kSecondDistribution<Key>.tile_keys());
  return tile * sizeof(Key) + kBinsBytes <= shared_bytes;
}
// The shared memory that a block needs to sort whole buckets.
template <class Word, bool kAreLarge = false>
inline constexpr unsigned kBucketSortBytes = kBucketSort<Word, kAreLarge>.tile_keys() *
                                                 static_cast<unsigned>(sizeof(Word)) +
                                             kBucketSort<Word, kAreLarge>.cell_bytes();
inline constexpr unsigned kBucketSortStaticBytes = 20U << 10;  // limit, besides these
template <class Word, bool kAreLarge = false>
[[nodiscard]] constexpr bool buckets_fit_block(unsigned shared_bytes) {
  return kBucketSortBytes<Word, kAreLarge> + kBucketSortStaticBytes <= shared_bytes;
}

// The most keys of a packed tile: it is loaded as vectors that may begin before it.
template <class Key>
[[nodiscard]] constexpr unsigned packed_tile_keys(unsigned tile_keys) {
  return tile_keys - (16 / static_cast<unsigned>(sizeof(Key)) - 1);
}

// The counters of the device.
struct DistributionCounts {
  SegmentedCounts lists;
  std::uint64_t chunks = 0;  // that bins of the first distribution took
  std::uint64_t packed_tiles = 0;
  std::uint64_t taken_packed_tiles = 0;
  std::uint64_t taken_jobs[4] = {};  // for each count and distribution, after the first jobs
  std::uint64_t long_tiles = 0;      // of buckets of one distribution
};

// Tables of the same size, one for each bucket.
template <class Key>
struct BinTables {
  Key* splitters = nullptr;
  std::uint32_t* cells = nullptr;
  BinHead<Key>* heads = nullptr;
  unsigned bin_bits = 0;

  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned bins() const { return 1U << bin_bits; }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned cell_bits() const {
    return bin_bits + kCellBitsMore;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned cell_count() const {
    return 1U << cell_bits();
  }
};

// Keys that are distributed among bins of their own. Entry i + 1 is where bucket i ends.
struct BucketPlace {
  std::uint64_t begin = 0;       // of its keys in the sorted array
  std::uint64_t first_tile = 0;  // of its tiles
};

// A tile of a bucket, as its block sees it. It has no initial values because it lies in shared
// memory.
struct BucketTile {
  std::uint64_t bucket_begin;  // of the bucket's keys in the sorted array
  std::uint64_t bucket_keys;
  std::uint64_t tiles_end;  // of its bucket
  std::uint64_t position;   // of its first key in the bucket
  unsigned bucket;

  // The keys of the tile at `position`.
  template <unsigned kTileKeys>
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned count() const {
    const std::uint64_t left = bucket_keys - position;
    return left < kTileKeys ? static_cast<unsigned>(left) : kTileKeys;
  }
};

template <class Key>
struct SamplePass {
  const Key* input = nullptr;
  std::uint64_t count = 0;
  EndMaps<Key> maps;
  std::uint64_t* cleared = nullptr;  // numbers that are set to 0
  std::uint64_t cleared_count = 0;
  Key* sample = nullptr;
  unsigned sample_bits = 0;  // 2^sample_bits keys are taken
  std::uint64_t seed = 0;
};

template <class Key>
struct TablePass {
  const Key* sample = nullptr;  // sorted
  unsigned sample_bits = 0;
  BinTables<Key> first;  // one table
  BinTables<Key> second;
  BucketPlace* whole = nullptr;  // two entries: the bucket that has all keys
  std::uint64_t count = 0;
  unsigned tile_keys = 0;  // of the first distribution
};

// One distribution, of each bucket's keys among its bins.
template <class Key>
struct DistributionPass {
  const Key* input = nullptr;
  Key* output = nullptr;
  EndMaps<Key> maps;  // the store map is for keys that are not sorted any more
  BinTables<Key> tables;
  const BucketPlace* buckets = nullptr;
  unsigned bucket_count = 0;
  std::uint64_t tile_count = 0;    // at most
  unsigned even_blocks = 1;        // TileJobs
  std::uint64_t* taken = nullptr;  // jobs, of this launch
  // For each bucket's bins. First distribution: how many keys they have got. Second: how many they
  // have, then where the next key goes, and kFinalRoom.
  std::uint64_t* rooms = nullptr;
  // Single distribution: the bins of all keys, which the count keeps. nullptr: it keeps none, so
  // the distribution finds them again.
  std::uint16_t* bins = nullptr;
  BinChunks chunks;  // the first distribution writes them, the second one reads them
  DistributionCounts* counts = nullptr;
};
inline constexpr std::uint64_t kFinalRoom = std::uint64_t{1} << 63;  // its keys are all the same

// After the first distribution: the bins become buckets.
struct BucketPass {
  std::uint64_t* rooms = nullptr;
  bool sets_rooms = false;  // to where the buckets begin
  unsigned bins = 0;
  BucketPlace* buckets = nullptr;
  unsigned tile_keys = 0;
};

// After the count: bins are packed into tiles, or become long arrays.
template <class Key>
struct PackPass {
  BinTables<Key> tables;
  const BucketPlace* buckets = nullptr;
  unsigned bucket_count = 0;
  std::uint64_t* rooms = nullptr;
  unsigned sort_tile_keys = 0;
  LongArray* long_arrays = nullptr;
  LongArray* packed_tiles = nullptr;
  std::uint64_t* packed_count = nullptr;
  DistributionCounts* counts = nullptr;
};

// The sorts of packed tiles, and of the tiles of long arrays.
template <class Key>
struct PackedSortPass {
  LongSortPass<Key> buckets;  // input: the distributed keys
  const LongArray* packed_tiles = nullptr;
  LongArray* crowded_tiles = nullptr;  // those that are merged: the tile arrays of `buckets`
  unsigned most_of_cell = kMostOfCell;
  DistributionCounts* counts = nullptr;
};

// The sort of the buckets of one distribution, which lie one after the other, and the merge of
// those that are longer than a tile.
template <class Key>
struct BucketSortPass {
  Key* keys = nullptr;
  Key* output = nullptr;
  EndMaps<Key> maps;
  BinTables<Key> tables;
  const BucketPlace* buckets = nullptr;  // in tiles of kBucketSort
  unsigned bucket_count = 0;
  std::uint64_t tile_count = 0;  // at most
  bool are_large = false;
  BucketTile* long_tiles = nullptr;  // sorted where they lie, but not merged
  unsigned most_of_cell = kMostOfCell;
  DistributionCounts* counts = nullptr;
  std::uint64_t* taken = nullptr;       // tiles
  std::uint64_t* taken_long = nullptr;  // tiles of long buckets
};

template <class Key>
void launch_sample_keys(const SamplePass<Key>& pass, unsigned architecture, cudaStream_t stream);
// A sample of this many u32 keys is sorted by one block in one launch; sort_keys takes two.
inline constexpr unsigned kBlockSampleKeys = 1U << 12;
void launch_sample_sort(std::uint32_t* sample, unsigned architecture, cudaStream_t stream);
template <class Key>
void launch_bin_tables(const TablePass<Key>& pass, unsigned architecture, cudaStream_t stream);
template <class Key>
void launch_bin_counts(const DistributionPass<Key>& pass, unsigned architecture,
                       cudaStream_t stream);
template <class Key>
void launch_bucket_places(const BucketPass& pass, unsigned architecture, cudaStream_t stream);
template <class Key>
void launch_first_distribution(const DistributionPass<Key>& pass, unsigned architecture,
                               cudaStream_t stream);
template <class Key>
void launch_second_distribution(const DistributionPass<Key>& pass, unsigned architecture,
                                cudaStream_t stream);
template <class Key>
void launch_once_counts(const DistributionPass<Key>& pass, unsigned architecture,
                        cudaStream_t stream);
template <class Key>
void launch_once_distribution(const DistributionPass<Key>& pass, unsigned architecture,
                              cudaStream_t stream);
template <class Key>
void launch_bucket_sort(const BucketSortPass<Key>& pass, unsigned architecture,
                        cudaStream_t stream);
template <class Key>
void launch_bucket_merge(const BucketSortPass<Key>& pass, unsigned architecture,
                         cudaStream_t stream);
template <class Key>
void launch_pack_bins(const PackPass<Key>& pass, unsigned architecture, cudaStream_t stream);
template <class Key>
void launch_cell_sort(const PackedSortPass<Key>& pass, unsigned architecture, cudaStream_t stream);
template <class Key>
void launch_packed_sort(const PackedSortPass<Key>& pass, unsigned architecture,
                        cudaStream_t stream);

// A tile's keys or values and the counters that rank them take 128 KB of shared memory. More would
// leave the L1 cache too little space for the loads in flight.
template <class Key, class Value>
inline constexpr DistributionTuning kPairDistribution{1024, 8};

// Tiles are those of packed_pair_sort_kernel.
template <class Key, class Value>
inline constexpr CellSortTuning kCellPairSort{512, 8, 8, 1024};
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

// One distribution of pairs, or the count before it. `keys` has the parameters of a distribution of
// keys; its chunks and counts are not used, because pairs lie where the sorted array will have
// their bucket.
template <class Key, class Value>
struct PairDistributionPass {
  DistributionPass<Key> keys;
  const Value* values_in = nullptr;
  Value* values_out = nullptr;
  // For each piece and bin: the number of pairs; later, the number in the pieces before it.
  std::uint64_t* pieces = nullptr;
  // Where the bins begin, in the first distribution: as the buckets that they become. In others
  // nullptr: keys.rooms has it.
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
