// See distribute_once.hpp. The steps are those of device_distribute.cpp, with one distribution:
//   sample        words at random places, sorted by sort_keys: the splitters of all bins
//   bin table     (bin_table.hpp)
//   count         of each bin; also keeps the bins of u32 keys for the distribution
//   distribute    input -> buffer, as words (elements.hpp)
//   bucket sort   buffer -> output, each bin as a tile of twice the mean (bucket_sort_kernel.cuh)
//   merge         only of buckets longer than a tile
// All words then lie in the L2 cache, and launches take most of the time.
//
// Pairs have words of their key and their place, so this is stable; values are read from the input
// when the keys are stored. Values that are sorted in place are copied first.
//
// Cost. n keys of w bytes: a count of wn, a distribution and a sort of 2wn each. n pairs of 4 + v
// bytes: 4n, 12n, and 8n + 32n for the sectors of values + (4 + v)n. Times of 2^22 random u32 keys
// on an H200, in µs: each kernel by itself, and the whole sort, in which launches overlap:
//   sample         3
//   its sort      24
//   bin table      9
//   count         15
//   distribution  23
//   bucket sort   31
//   all           99
// 2^22 pairs of u32 with u32 take 176, of which their bucket sort takes 88.
#include "gpu/distribute/distribute_once.hpp"

#include <algorithm>

#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/distribute/distribute_shape.hpp"
#include "gpu/distribute/distribution_plan.hpp"
#include "gpu/distribute/launch.hpp"

namespace gsort::gpu {
namespace {

// The most pairs: their places have 32 bits.
constexpr std::uint64_t kMostPlaces = std::uint64_t{1} << 32;

template <class Word>
constexpr bool are_large_buckets(std::uint64_t count) {
  return sizeof(Word) == 4 && count > kOnceBinKeys << kMostBinBits;
}

template <class Word>
constexpr unsigned bucket_tile_keys(std::uint64_t count) {
  return are_large_buckets<Word>(count) ? kBucketSort<Word, true>.tile_keys()
                                        : kBucketSort<Word>.tile_keys();
}

template <class Word>
DistributionShape shape_once(std::uint64_t count, const DistributionChoice& choice) {
  return DistributionShape::of_once(count, bucket_tile_keys<Word>(count), choice);
}

template <class Word>
inline constexpr unsigned kOnceTileKeys = kDistribution<Word, DistributionStep::kOnce>.tile_keys();

// How many blocks of the distribution run on a multiprocessor at once.
constexpr unsigned kBlocksOfMultiprocessor = 2;
// Bins are kept for at most this many keys. On an H200, this saves up to 20% of the time if keys
// are unevenly distributed; with 9 * 2^20 random keys, it would cost 4%.
constexpr std::uint64_t kMostKeptBins = std::uint64_t{1} << 23;

template <class Key, class Value>
struct OnceScratch {
  using Word = typename Elements<Key, Value>::Word;

  ScratchCutter cutter;
  DistributionCounts* counts;  // numbers from here to `whole` are cleared before the sort
  std::uint64_t* rooms;
  BucketPlace* whole;
  BucketPlace* buckets;
  BucketTile* long_tiles;
  Word* sample;
  BinTables<Word> tables;
  Word* words;
  Value* values;  // a copy, if they are sorted in place

  OnceScratch(void* memory, std::uint64_t count, const DistributionShape& shape)
      : cutter(memory),
        counts(cutter.take<DistributionCounts>(1)),
        rooms(cutter.take<std::uint64_t>(shape.first_bins())),
        whole(cutter.take<BucketPlace>(2)),
        buckets(cutter.take<BucketPlace>(shape.first_bins() + 1)),
        // A long bucket has more than a tile, and so less than twice as many tiles.
        long_tiles(cutter.take<BucketTile>(2 * (count / kBucketSort<Word>.tile_keys()) + 1)),
        sample(cutter.take<Word>(shape.sample_keys())),
        tables(take_tables<Word>(cutter, 1, shape.first_bits)),
        words(cutter.take<Word>(count)),
        values(cutter.take<Value>(kHasValues<Value> ? count : 0)) {}

  [[nodiscard]] std::uint64_t* cleared() const { return reinterpret_cast<std::uint64_t*>(counts); }
  [[nodiscard]] std::uint64_t cleared_count() const {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uint64_t*>(whole) - cleared());
  }
};

// The shift that moves the last of `count` places to the top of 32 bits.
template <class Value>
unsigned place_shift_of(std::uint64_t count) {
  return kHasValues<Value> && count > 1 ? 32 - bits_of(count - 1) : 0;
}

// The values to read: the input's, or a copy of them.
template <class Key, class Value>
const Value* keep_values(const PairSort<Key, Value>& sort, Value* copy) {
  if constexpr (kHasValues<Value>) {
    if (sort.input.values != sort.output.values) return sort.input.values;  // may be null
    check_cuda(cudaMemcpyAsync(copy, sort.input.values, sort.count * sizeof(Value),
                               cudaMemcpyDeviceToDevice, sort.stream),
               CudaCall::kCopy, "copying values");
  }
  return copy;
}

// Where the count keeps the bins of all keys: in the output, which the distribution does not write.
// Returns nullptr if the output is the input or too small, or if there are too many keys. Bins must
// fit in the L2 cache beside keys and words, so only those of keys of 4 bytes are kept.
template <class Key, class Value>
std::uint16_t* room_for_bins(const PairSort<Key, Value>& sort) {
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

template <class Key, class Value>
bool are_distributed_once(std::uint64_t count, const DistributionChoice& choice) {
  using Word = typename Elements<Key, Value>::Word;
  const bool has_bits = choice.first_bits != 0 || choice.second_bits != 0;
  if (!choice.once.value_or(!has_bits && count <= kMostDistributedOnce<Key, Value>)) return false;
  const std::uint64_t least = choice.least_keys.value_or(kLeastDistributedOnce<Key, Value>);
  return (!kHasValues<Value> || count <= kMostPlaces) &&
         shape_once<Word>(count, choice).suits(count, least);
}

template <class Key, class Value>
bool once_fits_block(std::uint64_t count, unsigned shared_bytes) {
  using Word = typename Elements<Key, Value>::Word;
  return are_large_buckets<Word>(count) ? buckets_fit_block<Word, true>(shared_bytes)
                                        : buckets_fit_block<Word>(shared_bytes);
}

template <class Key, class Value>
std::size_t sort_once_scratch_bytes(std::uint64_t count, const DistributionChoice& choice) {
  using Word = typename Elements<Key, Value>::Word;
  if (!are_distributed_once<Key, Value>(count, choice)) return 0;
  return OnceScratch<Key, Value>(nullptr, count, shape_once<Word>(count, choice))
      .cutter.used_bytes();
}

template <class Key, class Value>
void sort_once(const PairSort<Key, Value>& sort, const DistributionChoice& choice) {
  using Word = typename Elements<Key, Value>::Word;
  const unsigned architecture = current_architecture();
  const DistributionShape shape = shape_once<Word>(sort.count, choice);
  const OnceScratch<Key, Value> places(sort.scratch.memory, sort.count, shape);
  const unsigned place_shift = place_shift_of<Value>(sort.count);
  constexpr unsigned kTileKeys = kOnceTileKeys<Word>;
  const Value* const values = keep_values(sort, places.values);
  // The words' array is not used yet, so it is the scratch memory of the sample's sort.
  queue_tables<Key, Word>({.input = sort.input.keys,
                           .count = sort.count,
                           .load_map = sort.load_map,
                           .place_shift = place_shift,
                           .cleared = places.cleared(),
                           .cleared_count = places.cleared_count(),
                           .scratch = {places.words, sort.count * sizeof(Word)},
                           .tile_keys = kTileKeys},
                          shape, choice, {places.sample, places.tables, {}, places.whole},
                          architecture, sort.stream);
  DistributionPass<Word, Key> pass;
  pass.input = sort.input.keys;
  pass.output = places.words;
  pass.maps = EndMaps<Key>::of(sort.load_map, {});
  pass.place_shift = place_shift;
  pass.tables = places.tables;
  pass.buckets = places.whole;
  pass.bucket_count = 1;
  pass.tile_count = div_up(sort.count, kTileKeys);
  pass.even_blocks = kBlocksOfMultiprocessor * multiprocessors();
  pass.taken = &places.counts->taken_jobs[0];
  pass.rooms = places.rooms;
  if constexpr (sizeof(Word) == 4) pass.bins = room_for_bins(sort);
  pass.counts = places.counts;
  launch_once_counts(pass, architecture, sort.stream);
  const unsigned bucket_tile = bucket_tile_keys<Word>(sort.count);
  launch_bucket_places<Word>({pass.rooms, true, shape.first_bins(), places.buckets, bucket_tile},
                             architecture, sort.stream);
  pass.taken = &places.counts->taken_jobs[1];
  launch_once_distribution(pass, architecture, sort.stream);
  BucketSortPass<Key, Value> buckets;
  buckets.words = places.words;
  buckets.output = {sort.output.keys, EndMaps<Key>::of({}, sort.store_map), values,
                    sort.output.values, place_shift};
  buckets.tables = places.tables;
  buckets.buckets = places.buckets;
  buckets.bucket_count = shape.first_bins();
  buckets.tile_count = div_up(sort.count, bucket_tile) + buckets.bucket_count;
  buckets.are_large = are_large_buckets<Word>(sort.count);
  buckets.long_tiles = places.long_tiles;
  buckets.most_of_cell = choice.most_of_cell.value_or(kMostOfCell);
  buckets.counts = places.counts;
  buckets.taken = &places.counts->taken_jobs[2];
  buckets.taken_long = &places.counts->taken_jobs[3];
  launch_bucket_sort(buckets, architecture, sort.stream);
  launch_bucket_merge(buckets, architecture, sort.stream);
}

#define GSORT_ELEMENTS(Key, Value)                                                          \
  template bool are_distributed_once<Key, Value>(std::uint64_t, const DistributionChoice&); \
  template bool once_fits_block<Key, Value>(std::uint64_t, unsigned);                       \
  template std::size_t sort_once_scratch_bytes<Key, Value>(std::uint64_t,                   \
                                                           const DistributionChoice&);      \
  template void sort_once(const PairSort<Key, Value>&, const DistributionChoice&)
GSORT_ELEMENTS(std::uint32_t, NoValue);
GSORT_ELEMENTS(std::uint64_t, NoValue);
GSORT_ELEMENTS(std::uint32_t, std::uint32_t);
GSORT_ELEMENTS(std::uint32_t, std::uint64_t);
#undef GSORT_ELEMENTS

}  // namespace gsort::gpu
