// Sorting keys on the GPU by distribution: a sample gives splitters, two passes send every key to a
// bin of about a quarter of a tile, and then tiles are sorted in shared memory.
//
// Problem. The merge sort (device_sort.cpp) takes 15 two-way levels after its block sort for 2^28
// u32 keys, in five passes. Each level costs 0.32 ms on an H200: 4.8 of 6.3 ms. Instructions take
// this time, not memory traffic, so better passes would not save it.
//
// Idea. Sort tiles last. If keys are in buckets that are in order already, and neighbouring buckets
// together fill a tile, then nothing is left to merge after these tiles are sorted. A distribution
// among 512 bins costs a look-up, a comparison and an atomic addition per key, and replaces nine
// levels.
//
// Steps, all queued at once; sizes that depend on keys stay on the device.
//   sample         keys at random places, sorted by sort_keys: the splitters of all bins
//   bin tables     one for the first distribution, one for each of its buckets (bin_table.hpp)
//   distribute     input -> buffer, where bins have chunks (bin_chunks.hpp): no count before
//   count          exact, so that the last bins need no spare room
//   distribute     buffer -> output
//   pack           neighbouring bins become tiles (pack_kernel.cuh)
//   cell sort      in place; a tile's keys lie evenly in a narrow range (cell_sort_kernel.cuh)
//   block sort     of tiles with too many keys in a cell
//   merge          only bins longer than a tile, by the passes of long arrays, in one launch
//                  (long_merges_kernel.cuh)
// Fewer keys take one distribution (distribute_once.cpp). More keys than kMostDistributedKeys are
// sorted in pieces, which are merged (sort_pieces).
//
// Skew. Splitters are keys of the sample, so bins have about equally many keys in any distribution;
// a frequent key has a bin of its own, which is not sorted, only moved. If the sample is not
// representative, some bins are long, and more keys are merged; nothing else changes.
//
// Deterministic. Atomic additions decide the order of keys within a bin and which block sorts which
// tile. The output depends on neither: equal keys are equal bytes.
//
// Example. Keys 5 3 8 1 7 2 6 4, two bins each time, splitters 5, then 3 and 7: 3 1 2 4 | 5 8 7 6,
// then 1 2 | 3 4 | 5 6 | 8 7; with tiles of 4 keys the cell sort sorts 1 2 3 4 and 5 6 8 7.
//
// Cost. n keys of w bytes: a count of wn, two distributions of 2wn, a cell sort of 2wn: 7wn bytes,
// where the merge sort of 2^28 u32 keys moves 12wn. On an H100 (3.0 TB/s), 2^28 random keys, in ms:
//                              bytes of u32   u32    bytes of u64   u64
//   sample and tables              0.02       0.2        0.02       0.2
//   count                          0.36       0.4        0.72       0.7
//   two distributions              1.43       2.5        2.86       4.2
//   cell sort, tiles 0.88 full     0.72       0.9        1.43       1.7
//   together                       2.5        4.1        5.0        6.9
// The count and the cell sort take little longer than moving their bytes. A distribution has 54
// warp instructions for 32 keys, and waits for the queue of its loads and stores: of 21 accesses to
// shared memory for 32 keys, 9 are bank conflicts.
//
// Source. Sample sort: Frazer and McKellar, J. ACM 17 (1970), doi:10.1145/321592.321600; on GPUs
// Leischner, Osipov and Sanders, IPDPS 2010, doi:10.1109/IPDPS.2010.5470444; buckets of equal keys:
// Axtmann, Witt, Ferizovic and Sanders, ESA 2017, doi:10.4230/LIPIcs.ESA.2017.9.
#include "gpu/distribute/device_distribute.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/distribute/distribute_once.hpp"
#include "gpu/distribute/distribution_plan.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/sort/sort_memory.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "sorting keys on the GPU by distribution";

template <class Key>
std::uint64_t most_distributed(const DistributionChoice& choice) {
  if (choice.most_keys) return *choice.most_keys;
  return choice.least_keys ? ~std::uint64_t{0} : kMostDistributedKeys;
}

// Keys whose buckets may be too large for a block are distributed once or twice.
template <class Key>
bool are_distributed_twice(std::uint64_t count, const DistributionChoice& choice) {
  if (count <= kOnceBinKeys << kMostBinBits && are_distributed_once<Key>(count, choice)) {
    return false;
  }
  const std::uint64_t least = choice.least_keys.value_or(kLeastDistributedKeys<Key>);
  return count <= most_distributed<Key>(choice) &&
         DistributionShape::of(count, choice).suits(count, least);
}

// Lists what is behind the keys of the first distribution. The merge passes have samples and cuts
// there later, and where chunks are more than an array.
template <class Key>
struct EarlyScratch {
  ScratchCutter cutter;
  std::byte* sample_or_chunks;  // the sample is not read any more when chunks are taken
  std::uint64_t* second_rooms;
  BinTables<Key> first;
  BinTables<Key> second;
  LongArray* packed_tiles;  // read by the cell sort, before there are samples and cuts

  EarlyScratch(void* memory, const DistributionShape& shape, std::uint64_t tiles)
      : cutter(memory),
        sample_or_chunks(cutter.take<std::byte>(
            std::max(shape.sample_keys() * sizeof(Key), chunk_bytes(shape)))),
        second_rooms(cutter.take<std::uint64_t>(shape.last_bins())),
        first(take_tables<Key>(cutter, 1, shape.first_bits)),
        second(take_tables<Key>(cutter, shape.first_bins(), shape.second_bits)),
        packed_tiles(cutter.take<LongArray>(tiles)) {}

  [[nodiscard]] Key* sample() const { return reinterpret_cast<Key*>(sample_or_chunks); }
  [[nodiscard]] std::uint16_t* chunks() const {
    return reinterpret_cast<std::uint16_t*>(sample_or_chunks);
  }
  [[nodiscard]] static std::uint64_t chunk_bytes(const DistributionShape& shape) {
    return shape.first_bins() * shape.chunks_of_bin * sizeof(std::uint16_t);
  }
};

template <class Key>
using KeyPlan = DistributionPlan<Key, NoValue>;

template <class Key>
struct DistributionScratch {
  ScratchCutter cutter;
  DistributionLists lists;
  std::size_t before_merges;  // bytes
  LongScratch<Key> merges;
  EarlyScratch<Key> early;

  DistributionScratch(void* scratch, std::uint64_t count, const KeyPlan<Key>& plan)
      : cutter(scratch),
        lists(cutter, plan.shape, plan.bounds),
        before_merges(cutter.used_bytes()),
        merges(cutter, plan.needs(count), plan.tuning),
        early(scratch == nullptr ? nullptr : merges.buffer + plan.shape.chunked_keys(), plan.shape,
              plan.bounds.tile_arrays) {}

  [[nodiscard]] std::size_t bytes(const DistributionShape& shape) const {
    const std::size_t keys = shape.chunked_keys() * sizeof(Key);
    return std::max(cutter.used_bytes(), before_merges + keys + early.cutter.used_bytes());
  }
};

template <class Key>
DistributionTables<Key> tables_of(const DistributionScratch<Key>& places) {
  const EarlyScratch<Key>& early = places.early;
  return {early.sample(), early.first, early.second, places.lists.whole};
}

template <class Key>
DistributionPass<Key> first_pass(const KeySort<Key>& sort, const DistributionScratch<Key>& places) {
  DistributionPass<Key> pass;
  pass.input = sort.input.keys;
  pass.output = places.merges.buffer;
  pass.maps = EndMaps<Key>::of(sort.load_map, {});
  pass.tables = places.early.first;
  pass.buckets = places.lists.whole;
  pass.bucket_count = 1;
  pass.tile_count = div_up(sort.count, kFirstDistribution<Key>.tile_keys());
  pass.even_blocks = multiprocessors();
  pass.taken = &places.lists.counts->taken_jobs[0];
  pass.rooms = places.lists.first_rooms;
  pass.counts = places.lists.counts;
  return pass;
}

template <class Key>
void queue_distributions(const KeySort<Key>& sort, const KeyPlan<Key>& plan,
                         const DistributionScratch<Key>& places, unsigned architecture) {
  const EarlyScratch<Key>& early = places.early;
  DistributionPass<Key> first = first_pass(sort, places);
  const auto cleared = static_cast<std::size_t>(
      reinterpret_cast<std::byte*>(early.second_rooms + plan.shape.last_bins()) -
      early.sample_or_chunks);
  check_cuda(cudaMemsetAsync(early.sample_or_chunks, 0, cleared, sort.stream), CudaCall::kMemory,
             "clearing the chunks and bins of a distribution");
  first.chunks = {early.chunks(), plan.shape.chunks_of_bin, plan.shape.chunk_shift};
  launch_first_distribution(first, architecture, sort.stream);
  constexpr unsigned kTileKeys = kSecondDistribution<Key>.tile_keys();
  launch_bucket_places<Key>(
      {first.rooms, false, plan.shape.first_bins(), places.lists.buckets, kTileKeys}, architecture,
      sort.stream);

  DistributionPass<Key> second = first;
  second.input = places.merges.buffer;
  second.output = sort.output.keys;
  second.maps = EndMaps<Key>::of({}, sort.store_map);
  second.tables = early.second;
  second.buckets = places.lists.buckets;
  second.bucket_count = plan.shape.first_bins();
  second.tile_count = div_up(sort.count, kTileKeys) + second.bucket_count;
  second.taken = &places.lists.counts->taken_jobs[1];
  second.rooms = early.second_rooms;
  launch_bin_counts(second, architecture, sort.stream);
  const PackPass<Key> pack =
      pack_of(second, places.lists, early.packed_tiles, plan.tuning.block_sort_keys());
  launch_pack_bins(pack, architecture, sort.stream);
  second.taken = &places.lists.counts->taken_jobs[2];
  launch_second_distribution(second, architecture, sort.stream);
}

template <class Key>
void queue_tiles_and_merges(const KeySort<Key>& sort, const KeyPlan<Key>& plan,
                            const DistributionScratch<Key>& places, unsigned most_of_cell,
                            unsigned architecture) {
  const LongSortPass<Key> tiles = tiles_of(sort, plan, places.lists, places.merges);
  const PackedSortPass<Key> pass{tiles, places.early.packed_tiles, places.lists.tile_arrays,
                                 most_of_cell, places.lists.counts};
  launch_cell_sort(pass, architecture, sort.stream);
  launch_packed_sort(pass, architecture, sort.stream);
  LongMergePass<Key> merges;
  merges.arrays = tiles.arrays;
  launch_long_merges(long_merges_of(merges, tiles, places.merges), architecture, sort.stream);
}

// The scratch of two distributions, on any architecture; 0 if there are none.
template <class Key>
std::size_t scratch_bytes_of(std::uint64_t count, const DistributionChoice& choice) {
  if (!are_distributed_twice<Key>(count, choice)) return 0;
  return most_on_any_card([&](unsigned architecture) {
    const KeyPlan<Key> plan(count, choice, architecture);
    return DistributionScratch<Key>(nullptr, count, plan).bytes(plan.shape);
  });
}

// Keys that are sorted in pieces. Sorted pieces lie in the scratch memory, and are merged from
// there into the output. The sort of a piece has its own scratch memory where later pieces will
// lie. For the last piece, this is the beginning of the output: if it is also the input, the pieces
// there have been read. So the whole sort needs one more array, and what one piece needs beside its
// keys.
template <class Key>
struct Pieces {
  std::uint64_t count = 0;    // 0: the keys are not sorted in pieces
  std::uint64_t length = 0;   // of all but the last one
  std::uint64_t last = 0;     // shorter: the scratch of its sort fits the output of the others
  DistributionChoice choice;  // of each piece

  [[nodiscard]] static Pieces of(std::uint64_t keys, const DistributionChoice& choice) {
    constexpr std::uint64_t kAligned = kScratchAlignment / sizeof(Key);
    Pieces pieces;
    const std::uint64_t most = most_distributed<Key>(choice);
    if (keys <= most || div_up(keys, most) > kMostPieces) return pieces;
    pieces.choice = choice;
    pieces.choice.most_keys = ~std::uint64_t{0};
    const std::uint64_t count = div_up(keys, most);
    for (std::uint64_t last = keys / count; last > 0; last -= div_up(last, 32)) {
      pieces.length = round_up(div_up(keys - last, count - 1), kAligned);
      const std::uint64_t before = (count - 1) * pieces.length;
      if (before >= keys) break;
      pieces.last = keys - before;
      const std::size_t needed = pieces.needed(pieces.last) + kScratchAlignment;
      if (needed > before * sizeof(Key)) continue;
      pieces.count = count;
      break;
    }
    return pieces;
  }

  // Scratch memory of the sort of one piece.
  [[nodiscard]] std::size_t needed(std::uint64_t keys) const {
    return sort_keys_by_distribution_scratch_bytes<Key>(keys, choice);
  }
  [[nodiscard]] std::uint64_t keys() const { return (count - 1) * length + last; }
  [[nodiscard]] std::size_t merge_offset() const {
    return round_up(keys() * sizeof(Key), kScratchAlignment);
  }
  [[nodiscard]] std::size_t merge_bytes() const {
    return merge_slices_scratch_bytes<Key>(keys(), static_cast<std::uint32_t>(count));
  }
  // Scratch memory of all pieces and their merge.
  [[nodiscard]] std::size_t scratch_bytes() const {
    if (count == 0) return 0;
    return std::max((count - 1) * length * sizeof(Key) + needed(length),
                    merge_offset() + merge_bytes());
  }
};

template <class Key>
void sort_pieces(const KeySort<Key>& sort, const Pieces<Key>& pieces) {
  auto* const sorted = static_cast<Key*>(sort.scratch.memory);
  std::array<std::uint64_t, kMostPieces> lengths{};
  for (std::uint64_t piece = 0; piece < pieces.count; ++piece) {
    const bool is_last = piece + 1 == pieces.count;
    lengths[piece] = is_last ? pieces.last : pieces.length;
    KeySort<Key> own = sort;
    own.input = behind(sort.input, piece * pieces.length);
    own.output = sorted + piece * pieces.length;
    own.count = lengths[piece];
    own.store_map = {};
    const std::size_t bytes = pieces.needed(own.count);
    const auto place = reinterpret_cast<std::uintptr_t>(sort.output.keys);
    auto* const early = reinterpret_cast<std::byte*>(sort.output.keys) +
                        (round_up(place, kScratchAlignment) - place);
    own.scratch = {is_last ? static_cast<void*>(early) : own.output.keys + pieces.length, bytes};
    sort_keys_by_distribution(own, pieces.choice);
  }
  merge_slices<Key>({.input = sorted,
                     .slice_counts = lengths.data(),
                     .slice_count = static_cast<std::uint32_t>(pieces.count),
                     .output = sort.output,
                     .store_map = sort.store_map,
                     .scratch = {reinterpret_cast<std::byte*>(sorted) + pieces.merge_offset(),
                                 pieces.merge_bytes()},
                     .stream = sort.stream});
}

}  // namespace

template <class Key>
std::size_t sort_keys_by_distribution_scratch_bytes(std::uint64_t count,
                                                    const DistributionChoice& choice) {
  // More keys may need less: one more than a power of two is distributed in another shape, and
  // three pieces need less than two. So the maximum is taken.
  const std::uint64_t most = most_distributed<Key>(choice);
  const std::uint64_t power = std::min(std::bit_floor(count), most);
  const bool has_three_pieces = count > 0 && (count - 1) / 2 >= most;
  const std::uint64_t two_pieces = has_three_pieces ? 2 * most : count;
  return std::max({sort_keys_scratch_bytes<Key>(count), scratch_bytes_of<Key>(count, choice),
                   scratch_bytes_of<Key>(power, choice),
                   sort_once_scratch_bytes<Key>(count, choice),
                   sort_once_scratch_bytes<Key>(std::min(count, kMostDistributedOnce<Key>), choice),
                   Pieces<Key>::of(count, choice).scratch_bytes(),
                   Pieces<Key>::of(two_pieces, choice).scratch_bytes()});
}

template <class Key>
void sort_keys_by_distribution(const KeySort<Key>& sort, const DistributionChoice& choice) {
  const auto pieces = Pieces<Key>::of(sort.count, choice);
  const bool once = pieces.count == 0 && are_distributed_once<Key>(sort.count, choice) &&
                    once_fits_block<Key>(sort.count, shared_bytes_of_block());
  if (pieces.count == 0 && !once && !are_distributed_twice<Key>(sort.count, choice)) {
    return sort_keys(sort);
  }
  const std::size_t needed = sort_keys_by_distribution_scratch_bytes<Key>(sort.count, choice);
  require_sort_memory(sort, needed, kOperation);
  if (!keys_fit_block<Key>(shared_bytes_of_block())) return sort_keys(sort);
  if (pieces.count > 0) return sort_pieces(sort, pieces);
  if (once) return sort_once(sort, choice);
  const unsigned architecture = current_architecture();
  const KeyPlan<Key> plan(sort.count, choice, architecture);
  const DistributionScratch<Key> places(sort.scratch.memory, sort.count, plan);
  places.lists.clear(sort.stream);
  // The array that is not used yet is the scratch memory of the sample's sort.
  queue_tables<Key>({.input = sort.input.keys,
                     .count = sort.count,
                     .load_map = sort.load_map,
                     .scratch = {places.merges.buffer, sort.count * sizeof(Key)},
                     .tile_keys = kFirstDistribution<Key>.tile_keys()},
                    plan.shape, choice, tables_of(places), architecture, sort.stream);
  queue_distributions(sort, plan, places, architecture);
  queue_tiles_and_merges(sort, plan, places, choice.most_of_cell.value_or(kMostOfCell),
                         architecture);
}

template std::size_t sort_keys_by_distribution_scratch_bytes<std::uint32_t>(
    std::uint64_t, const DistributionChoice&);
template std::size_t sort_keys_by_distribution_scratch_bytes<std::uint64_t>(
    std::uint64_t, const DistributionChoice&);
template void sort_keys_by_distribution(const KeySort<std::uint32_t>&, const DistributionChoice&);
template void sort_keys_by_distribution(const KeySort<std::uint64_t>&, const DistributionChoice&);

}  // namespace gsort::gpu
