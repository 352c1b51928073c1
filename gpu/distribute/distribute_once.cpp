// See distribute_once.hpp. The steps are those of device_distribute.cpp, with one distribution:
//   sample        keys at random places, sorted by sort_keys: the splitters of all bins
//   bin table     (bin_table.hpp)
//   count         of each bin; also keeps the bins of u32 keys for the distribution
//   distribute    input -> buffer
//   bucket sort   buffer -> output, each bin as a tile of twice the mean (bucket_sort_kernel.cuh)
//   merge         only of buckets longer than a tile
// All keys then lie in the L2 cache, and launches take most of the time.
//
// Cost. n keys of w bytes: a count of wn, a distribution and a sort of 2wn each. Times of 2^22
// random u32 keys on an H200, in µs: each kernel by itself, and the whole sort, in which launches
// overlap:
//   sample         3
//   its sort      24
//   bin table      9
//   count         15
//   distribution  23
//   bucket sort   31
//   all           99
#include "gpu/distribute/distribute_once.hpp"

#include <algorithm>

#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/distribute/distribute_shape.hpp"
#include "gpu/distribute/distribution_plan.hpp"
#include "gpu/distribute/launch.hpp"

namespace gsort::gpu {
namespace {

template <class Key>
constexpr bool are_large_buckets(std::uint64_t count) {
  return sizeof(Key) == 4 && count > kOnceBinKeys << kMostBinBits;
}

template <class Key>
constexpr unsigned bucket_tile_keys(std::uint64_t count) {
  return are_large_buckets<Key>(count) ? kBucketSort<Key, true>.tile_keys()
                                       : kBucketSort<Key>.tile_keys();
}

template <class Key>
DistributionShape shape_once(std::uint64_t count, const DistributionChoice& choice) {
  return DistributionShape::of_once(count, bucket_tile_keys<Key>(count), choice);
}

template <class Key>
inline constexpr unsigned kOnceTileKeys = kDistribution<Key, DistributionStep::kOnce>.tile_keys();

// How many blocks of the distribution run on a multiprocessor at once.
constexpr unsigned kBlocksOfMultiprocessor = 2;
// Bins are kept for at most this many keys. On an H200, this saves up to 20% of the time if keys
// are unevenly distributed; with 9 * 2^20 random keys, it would cost 4%.
constexpr std::uint64_t kMostKeptBins = std::uint64_t{1} << 23;

template <class Key>
struct OnceScratch {
  ScratchCutter cutter;
  DistributionCounts* counts;  // numbers from here to `whole` are cleared before the sort
  std::uint64_t* rooms;
  BucketPlace* whole;
  BucketPlace* buckets;
  BucketTile* long_tiles;
  Key* sample;
  BinTables<Key> tables;
  Key* keys;

  OnceScratch(void* memory, std::uint64_t count, const DistributionShape& shape)
      : cutter(memory),
        counts(cutter.take<DistributionCounts>(1)),
        rooms(cutter.take<std::uint64_t>(shape.first_bins())),
        whole(cutter.take<BucketPlace>(2)),
        buckets(cutter.take<BucketPlace>(shape.first_bins() + 1)),
        // A long bucket has more than a tile, and so less than twice as many tiles.
        long_tiles(cutter.take<BucketTile>(2 * (count / kBucketSort<Key>.tile_keys()) + 1)),
        sample(cutter.take<Key>(shape.sample_keys())),
        tables(take_tables<Key>(cutter, 1, shape.first_bits)),
        keys(cutter.take<Key>(count)) {}

  [[nodiscard]] std::uint64_t* cleared() const { return reinterpret_cast<std::uint64_t*>(counts); }
  [[nodiscard]] std::uint64_t cleared_count() const {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uint64_t*>(whole) - cleared());
  }
};

// Where the count keeps the bins of all keys: in the output, which the distribution does not write.
// Returns nullptr if the output is the input or too small, or if there are too many keys. Bins must
// fit in the L2 cache beside keys and words, so only those of keys of 4 bytes are kept.
template <class Key>
std::uint16_t* room_for_bins(const KeySort<Key>& sort) {
  constexpr std::uintptr_t kAlignment = 16;  // of a BinVector
  const auto begin = reinterpret_cast<std::uintptr_t>(sort.output.keys);
  const std::uint64_t bins = round_up(sort.count, kOnceTileKeys<Key>);
  const std::uint64_t needed = round_up(begin, kAlignment) - begin + bins * sizeof(std::uint16_t);
  if (sort.count > kMostKeptBins || sort.input.keys == sort.output.keys ||
      needed > sort.count * sizeof(Key)) {
    return nullptr;
  }
  return reinterpret_cast<std::uint16_t*>(round_up(begin, kAlignment));
}

}  // namespace

template <class Key>
bool are_distributed_once(std::uint64_t count, const DistributionChoice& choice) {
  const bool has_bits = choice.first_bits != 0 || choice.second_bits != 0;
  if (!choice.once.value_or(!has_bits && count <= kMostDistributedOnce<Key>)) return false;
  const std::uint64_t least = choice.least_keys.value_or(kLeastDistributedKeys<Key>);
  return shape_once<Key>(count, choice).suits(count, least);
}

template <class Key>
bool once_fits_block(std::uint64_t count, unsigned shared_bytes) {
  return are_large_buckets<Key>(count) ? buckets_fit_block<Key, true>(shared_bytes)
                                       : buckets_fit_block<Key>(shared_bytes);
}

template <class Key>
std::size_t sort_once_scratch_bytes(std::uint64_t count, const DistributionChoice& choice) {
  if (!are_distributed_once<Key>(count, choice)) return 0;
  return OnceScratch<Key>(nullptr, count, shape_once<Key>(count, choice)).cutter.used_bytes();
}

template <class Key>
void sort_once(const KeySort<Key>& sort, const DistributionChoice& choice) {
  const unsigned architecture = current_architecture();
  const DistributionShape shape = shape_once<Key>(sort.count, choice);
  const OnceScratch<Key> places(sort.scratch.memory, sort.count, shape);
  constexpr unsigned kTileKeys = kOnceTileKeys<Key>;
  // The keys' second array is not used yet, so it is the scratch memory of the sample's sort.
  queue_tables<Key>({.input = sort.input.keys,
                     .count = sort.count,
                     .load_map = sort.load_map,
                     .cleared = places.cleared(),
                     .cleared_count = places.cleared_count(),
                     .scratch = {places.keys, sort.count * sizeof(Key)},
                     .tile_keys = kTileKeys},
                    shape, choice, {places.sample, places.tables, {}, places.whole}, architecture,
                    sort.stream);
  DistributionPass<Key> pass;
  pass.input = sort.input.keys;
  pass.output = places.keys;
  pass.maps = EndMaps<Key>::of(sort.load_map, {});
  pass.tables = places.tables;
  pass.buckets = places.whole;
  pass.bucket_count = 1;
  pass.tile_count = div_up(sort.count, kTileKeys);
  pass.even_blocks = kBlocksOfMultiprocessor * multiprocessors();
  pass.taken = &places.counts->taken_jobs[0];
  pass.rooms = places.rooms;
  if constexpr (sizeof(Key) == 4) pass.bins = room_for_bins(sort);
  pass.counts = places.counts;
  launch_once_counts(pass, architecture, sort.stream);
  const unsigned bucket_tile = bucket_tile_keys<Key>(sort.count);
  launch_bucket_places<Key>({pass.rooms, true, shape.first_bins(), places.buckets, bucket_tile},
                            architecture, sort.stream);
  pass.taken = &places.counts->taken_jobs[1];
  launch_once_distribution(pass, architecture, sort.stream);
  BucketSortPass<Key> buckets;
  buckets.keys = places.keys;
  buckets.output = sort.output.keys;
  buckets.maps = EndMaps<Key>::of({}, sort.store_map);
  buckets.tables = places.tables;
  buckets.buckets = places.buckets;
  buckets.bucket_count = shape.first_bins();
  buckets.tile_count = div_up(sort.count, bucket_tile) + buckets.bucket_count;
  buckets.are_large = are_large_buckets<Key>(sort.count);
  buckets.long_tiles = places.long_tiles;
  buckets.most_of_cell = choice.most_of_cell.value_or(kMostOfCell);
  buckets.counts = places.counts;
  buckets.taken = &places.counts->taken_jobs[2];
  buckets.taken_long = &places.counts->taken_jobs[3];
  launch_bucket_sort(buckets, architecture, sort.stream);
  launch_bucket_merge(buckets, architecture, sort.stream);
}

#define GSORT_KEYS(Key)                                                                        \
  template bool are_distributed_once<Key>(std::uint64_t, const DistributionChoice&);           \
  template bool once_fits_block<Key>(std::uint64_t, unsigned);                                 \
  template std::size_t sort_once_scratch_bytes<Key>(std::uint64_t, const DistributionChoice&); \
  template void sort_once(const KeySort<Key>&, const DistributionChoice&)
GSORT_KEYS(std::uint32_t);
GSORT_KEYS(std::uint64_t);
#undef GSORT_KEYS

}  // namespace gsort::gpu
