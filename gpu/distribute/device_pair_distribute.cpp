// See device_pair_distribute.hpp. The steps are those of device_distribute.cpp, whose samples,
// tables, lists of tiles and passes of long arrays serve pairs as well.
//
// Problem. Pairs with equal keys must keep their order. In the distribution of keys, atomic
// additions assign the places, so the order within a bin is that of the additions.
//
// Idea. Count before each distribution, piece by piece: a piece is a few tiles of one bucket. A
// bin's pairs of a piece begin behind those of the earlier pieces (pair_count_kernel.cuh). Within a
// piece, a block goes from tile to tile. Within a tile, each pair gets its rank among those of the
// same bin in the order of the input (pair_distribution_kernel.cuh). So both distributions are
// stable, and so is the sort of the packed tiles (cell_pair_sort_kernel.cuh).
//
// Example. Pairs 5a 3b 8c 1d 7e 2f 6g 3h, splitter 5, two pieces of four pairs: they count
// 2 2 | 2 2, so the second one's bins begin at 2 and 6: 3b 1d 2f 3h | 5a 8c 7e 6g.
//
// Cost. n pairs of k + v bytes: two counts of kn, two distributions and a sort of tiles of
// 2(k + v)n each: 8k + 6v bytes a pair, where the merge sort of 2^28 pairs in tiles of 4,096 and
// passes of 8 moves 14(k + v). 2^28 random pairs on an H100 (3.0 TB/s), in ms:
//                              u64 with u32   u64 with u64
//   this sort                      14.9           17.3
//   the merge sort                 19.8           24.9
// The distributions take most of this time. They wait for their stores: with more bins, a tile
// writes fewer pairs to each. So bins are as large as tiles allow. A distribution has 129 warp
// instructions for 32 pairs, 58 of them for bins and ranks.
#include "gpu/distribute/device_pair_distribute.hpp"

#include <algorithm>
#include <bit>

#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/distribute/distribution_plan.hpp"
#include "gpu/distribute/tile_jobs.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/records/device_digit_sort.hpp"
#include "gpu/sort/sort_memory.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "sorting pairs on the GPU by distribution";

// The smallest tile of all architectures: with it, there are most bins and the sample is largest.
template <class Key, class Value>
constexpr unsigned least_tile_pairs() {
  unsigned least = ~0U;
  for (const TuningRow& row : kTunings) {
    least = std::min(least, TuningOf<PairOf<Key, Value>>::in(row).block_sort_keys());
  }
  return least;
}

template <class Key, class Value>
bool are_distributed(std::uint64_t count, const DistributionChoice& choice) {
  return DistributionShape::of_pairs(count, least_tile_pairs<Key, Value>(), choice)
      .suits(count, choice.least_keys.value_or(kLeastDistributedPairs));
}

template <class Key, class Value>
struct PairPlan : DistributionPlan<Key, Value> {
  static constexpr DistributionTuning kTuning = kPairDistribution<Key, Value>;

  using DistributionPlan<Key, Value>::DistributionPlan;

  [[nodiscard]] std::uint64_t tiles(std::uint64_t count, std::uint64_t buckets) const {
    return div_up(count, kTuning.tile_keys()) + (buckets > 1 ? buckets : 0);
  }
  // The numbers of pieces that both distributions need; the second one has no fewer.
  [[nodiscard]] std::uint64_t piece_numbers(std::uint64_t count) const {
    const std::uint64_t buckets = this->shape.first_bins();
    const std::uint64_t pieces = TileJobs::most(tiles(count, buckets)) + buckets;
    return pieces << std::max(this->shape.first_bits, this->shape.second_bits);
  }
};

// Memory for the distributions; the merge passes have samples and cuts there later.
template <class Key>
struct EarlyPairScratch {
  Key* sample;
  BinTables<Key> first;
  BinTables<Key> second;
  std::uint64_t* second_rooms;
  std::uint64_t* pieces;
  LongArray* packed_tiles;  // read by the cell sort, before there are samples and cuts
  std::size_t bytes;

  EarlyPairScratch(ScratchCutter cutter, const DistributionShape& shape, std::uint64_t numbers,
                   std::uint64_t tiles)
      : sample(cutter.take<Key>(shape.sample_keys())),
        first(take_tables<Key>(cutter, 1, shape.first_bits)),
        second(take_tables<Key>(cutter, shape.first_bins(), shape.second_bits)),
        second_rooms(cutter.take<std::uint64_t>(shape.last_bins())),
        pieces(cutter.take<std::uint64_t>(numbers)),
        packed_tiles(cutter.take<LongArray>(tiles)),
        bytes(cutter.used_bytes()) {}
};

template <class Key, class Value>
struct PairDistributionScratch {
  ScratchCutter cutter;
  DistributionLists lists;
  Value* values;             // the second buffer
  std::size_t before_early;  // bytes
  LongScratch<Key> merges;
  EarlyPairScratch<Key> early;

  PairDistributionScratch(void* scratch, std::uint64_t count, const PairPlan<Key, Value>& plan)
      : cutter(scratch),
        lists(cutter, plan.shape, plan.bounds),
        values(cutter.take<Value>(count)),
        before_early(cutter.used_bytes() + round_up(count * sizeof(Key), kScratchAlignment)),
        merges(cutter, plan.needs(count), plan.tuning),
        early(ScratchCutter(merges.samples), plan.shape, plan.piece_numbers(count),
              plan.bounds.tile_arrays) {}

  [[nodiscard]] std::size_t bytes() const {
    return std::max(cutter.used_bytes(), before_early + early.bytes);
  }
};

// One distribution, except where bins begin and what lies between the count and the distribution.
template <class Key, class Value>
PairDistributionPass<Key, Value> pass_of(ConstPairs<Key, Value> from, Pairs<Key, Value> to,
                                         const PairDistributionScratch<Key, Value>& places) {
  PairDistributionPass<Key, Value> pass;
  pass.keys.input = from.keys;
  pass.keys.output = to.keys;
  pass.values_in = from.values;
  pass.values_out = to.values;
  pass.pieces = places.early.pieces;
  pass.keys.even_blocks = multiprocessors();
  return pass;
}

template <class Key, class Value>
void queue_first_distribution(const PairSort<Key, Value>& sort, const PairPlan<Key, Value>& plan,
                              const PairDistributionScratch<Key, Value>& places,
                              unsigned architecture) {
  auto pass = pass_of<Key, Value>(sort.input, {places.merges.buffer, places.values}, places);
  pass.keys.maps = EndMaps<Key>::of(sort.load_map, {});
  pass.keys.tables = places.early.first;
  pass.keys.buckets = places.lists.whole;
  pass.keys.bucket_count = 1;
  pass.keys.tile_count = plan.tiles(sort.count, 1);
  pass.keys.rooms = places.lists.first_rooms;
  pass.bin_places = places.lists.buckets;
  pass.keys.taken = &places.lists.counts->taken_jobs[0];
  launch_pair_counts(pass, architecture, sort.stream);
  launch_bucket_places<Key>({pass.keys.rooms, false, plan.shape.first_bins(), places.lists.buckets,
                             plan.kTuning.tile_keys()},
                            architecture, sort.stream);
  pass.keys.taken = &places.lists.counts->taken_jobs[1];
  launch_pair_distribution(pass, architecture, sort.stream);
}

template <class Key, class Value>
void queue_second_distribution(const PairSort<Key, Value>& sort, const PairPlan<Key, Value>& plan,
                               const PairDistributionScratch<Key, Value>& places,
                               unsigned architecture) {
  auto pass = pass_of<Key, Value>({places.merges.buffer, places.values}, sort.output, places);
  pass.keys.maps = EndMaps<Key>::of({}, sort.store_map);
  pass.keys.tables = places.early.second;
  pass.keys.buckets = places.lists.buckets;
  pass.keys.bucket_count = plan.shape.first_bins();
  pass.keys.tile_count = plan.tiles(sort.count, pass.keys.bucket_count);
  pass.keys.rooms = places.early.second_rooms;
  pass.keys.taken = &places.lists.counts->taken_jobs[2];
  launch_pair_counts(pass, architecture, sort.stream);
  const PackPass<Key> pack =
      pack_of(pass.keys, places.lists, places.early.packed_tiles, plan.tuning.block_sort_keys());
  launch_pack_bins(pack, architecture, sort.stream);
  pass.keys.taken = &places.lists.counts->taken_jobs[3];
  launch_pair_distribution(pass, architecture, sort.stream);
}

template <class Key, class Value>
void queue_tiles_and_merges(const PairSort<Key, Value>& sort, const PairPlan<Key, Value>& plan,
                            const PairDistributionScratch<Key, Value>& places,
                            unsigned architecture) {
  const PairLongSortPass<Key, Value> tiles{
      tiles_of<Key, Value>(sort, plan, places.lists, places.merges), sort.output.values,
      sort.output.values, places.values};
  const PackedPairSortPass<Key, Value> pass{tiles, places.early.packed_tiles,
                                            places.lists.tile_arrays, places.lists.counts};
  launch_cell_pair_sort(pass, architecture, sort.stream);
  launch_packed_pair_sort(pass, architecture, sort.stream);
  LongMergePass<Key> merges;
  merges.arrays = tiles.keys.arrays;
  const auto rows_of_pass = [&](LongArrays&, unsigned, unsigned) { return plan.bounds.rows; };
  const auto queue_pass = [&](const LongMergePass<Key>& keys, bool to_output) {
    launch_long_partition<PairOf<Key, Value>>(keys, architecture, sort.stream);
    const PairMergePass<Key, Value> merge{
        keys.merge, to_output ? tiles.values_after_odd_passes : tiles.values_after_even_passes,
        to_output ? tiles.values_after_even_passes : tiles.values_after_odd_passes, 0};
    launch_listed_pair_merge<Key, Value>({merge, keys.arrays, keys.pass}, architecture,
                                         sort.stream);
  };
  for_each_long_pass(merges, tiles.keys, places.merges, rows_of_pass, queue_pass);
}

// The scratch memory of a distribution, on any architecture; 0 if there is none.
template <class Key, class Value>
std::size_t scratch_bytes_of(std::uint64_t count, const DistributionChoice& choice) {
  if (!are_distributed<Key, Value>(count, choice)) return 0;
  return most_on_any_card([&](unsigned architecture) {
    const PairPlan<Key, Value> plan(count, choice, architecture);
    return PairDistributionScratch<Key, Value>(nullptr, count, plan).bytes();
  });
}

template <class Key, class Value>
void queue_distribution(const PairSort<Key, Value>& sort, const DistributionChoice& choice,
                        const PairPlan<Key, Value>& plan, unsigned architecture) {
  const PairDistributionScratch<Key, Value> places(sort.scratch.memory, sort.count, plan);
  places.lists.clear(sort.stream);
  check_cuda(cudaMemsetAsync(places.early.second_rooms, 0,
                             plan.shape.last_bins() * sizeof(std::uint64_t), sort.stream),
             CudaCall::kMemory, "clearing the bins of a distribution");
  const EarlyPairScratch<Key>& early = places.early;
  // The array that is not used yet is the scratch memory of the sample's sort.
  queue_tables<Key>({.input = sort.input.keys,
                     .count = sort.count,
                     .load_map = sort.load_map,
                     .scratch = {places.merges.buffer, sort.count * sizeof(Key)},
                     .tile_keys = plan.kTuning.tile_keys()},
                    plan.shape, choice,
                    {early.sample, early.first, early.second, places.lists.whole}, architecture,
                    sort.stream);
  queue_first_distribution(sort, plan, places, architecture);
  queue_second_distribution(sort, plan, places, architecture);
  queue_tiles_and_merges(sort, plan, places, architecture);
}

template <class Key, class Value>
void sort_or_distribute(const PairSort<Key, Value>& sort, const DistributionChoice& choice) {
  if (!are_distributed<Key, Value>(sort.count, choice)) return sort_pairs(sort);
  const std::size_t needed = sort_many_pairs_scratch_bytes<Key, Value>(sort.count, choice);
  require_sort_memory(sort, needed, kOperation);
  if (!pairs_fit_block<Key, Value>(shared_bytes_of_block())) return sort_pairs(sort);
  const unsigned architecture = current_architecture();
  queue_distribution(sort, choice, PairPlan<Key, Value>(sort.count, choice, architecture),
                     architecture);
}

template <class Value>
void sort_or_distribute(const PairSort<std::uint32_t, Value>& sort,
                        const DistributionChoice& choice) {
  if (!are_sorted_by_digits(sort.count, choice)) return sort_pairs(sort);
  const std::size_t needed =
      sort_many_pairs_scratch_bytes<std::uint32_t, Value>(sort.count, choice);
  require_sort_memory(sort, needed, kOperation);
  sort_pairs_by_digits(sort);
}

}  // namespace

bool are_sorted_by_digits(std::uint64_t count, const DistributionChoice& choice) {
  return count > 0 && count >= choice.least_keys.value_or(kLeastPairsByDigits) &&
         count <= kMostPairsByDigits;
}

template <class Key, class Value>
std::size_t sort_many_pairs_scratch_bytes(std::uint64_t count, const DistributionChoice& choice) {
  const std::size_t merged = sort_pairs_scratch_bytes<Key, Value>(count);
  if constexpr (sizeof(Key) == 4) {
    const std::uint64_t most = std::min(count, kMostPairsByDigits);
    return std::max(merged, sort_pairs_by_digits_scratch_bytes<Value>(most));
  } else {
    // A power of two needs more than one pair more, which is distributed in another shape.
    return std::max({merged, scratch_bytes_of<Key, Value>(count, choice),
                     scratch_bytes_of<Key, Value>(std::bit_floor(count), choice)});
  }
}

template <class Key, class Value>
void sort_many_pairs(const PairSort<Key, Value>& sort, const DistributionChoice& choice) {
  sort_or_distribute(sort, choice);
}

#define GSORT_PAIRS(Key, Value)                                                              \
  template std::size_t sort_many_pairs_scratch_bytes<Key, Value>(std::uint64_t,              \
                                                                 const DistributionChoice&); \
  template void sort_many_pairs(const PairSort<Key, Value>&, const DistributionChoice&)
GSORT_PAIRS(std::uint32_t, std::uint32_t);
GSORT_PAIRS(std::uint32_t, std::uint64_t);
GSORT_PAIRS(std::uint64_t, std::uint32_t);
GSORT_PAIRS(std::uint64_t, std::uint64_t);
#undef GSORT_PAIRS

}  // namespace gsort::gpu
