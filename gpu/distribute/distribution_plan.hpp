// The common parts of sorts of keys and of pairs by distribution: the tables of bins from a sample,
// and for two distributions the plan, the lists that the device fills, and the parameters of the
// kernels that follow. Host code.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/distribute/distribute_shape.hpp"
#include "gpu/distribute/launch.hpp"
#include "gpu/segmented/long_merges.hpp"

namespace gsort::gpu {

template <class Key>
[[nodiscard]] BinTables<Key> take_tables(ScratchCutter& cutter, std::uint64_t tables,
                                         unsigned bin_bits) {
  BinTables<Key> taken;
  taken.bin_bits = bin_bits;
  taken.splitters = cutter.take<Key>(tables * taken.bins());
  taken.cells = cutter.take<std::uint32_t>(tables * taken.cell_count());
  taken.heads = cutter.take<BinHead<Key>>(tables);
  return taken;
}

// The results of the launches, in device memory.
template <class Key>
struct DistributionTables {
  Key* sample = nullptr;
  BinTables<Key> first;
  BinTables<Key> second;
  BucketPlace* whole = nullptr;
};

// A different number in every call. Not from std::random_device, which makes a system call that can
// fail.
[[nodiscard]] inline std::uint64_t next_seed() {
  static std::atomic<std::uint64_t> seed{
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())};
  return seed.fetch_add(0x9e3779b97f4a7c15ULL, std::memory_order_relaxed);
}

template <class Key>
struct SampledInput {
  const Key* input = nullptr;
  std::uint64_t count = 0;
  KeyMap<Key> load_map;
  std::uint64_t* cleared = nullptr;  // numbers that are set to 0 on the way
  std::uint64_t cleared_count = 0;
  ScratchMemory scratch;   // of the sample's sort
  unsigned tile_keys = 0;  // of the first distribution
};

template <class Key>
void queue_sample_sort(Key* sample, std::uint64_t count, const ScratchMemory& scratch,
                       unsigned architecture, cudaStream_t stream) {
  if constexpr (sizeof(Key) == 4) {
    if (count == kBlockSampleKeys) return launch_sample_sort(sample, architecture, stream);
  }
  sort_keys<Key>(
      {.input = sample, .output = sample, .count = count, .scratch = scratch, .stream = stream});
}

// Queues the sample, its sort, and the tables.
template <class Key>
void queue_tables(const SampledInput<Key>& input, const DistributionShape& shape,
                  const DistributionChoice& choice, const DistributionTables<Key>& to,
                  unsigned architecture, cudaStream_t stream) {
  SamplePass<Key> sample;
  sample.input = input.input;
  sample.count = input.count;
  sample.maps = EndMaps<Key>::of(input.load_map, {});
  sample.cleared = input.cleared;
  sample.cleared_count = input.cleared_count;
  sample.sample = to.sample;
  sample.sample_bits = shape.sample_bits;
  sample.seed = choice.seed ? *choice.seed : next_seed();
  launch_sample_keys(sample, architecture, stream);
  queue_sample_sort(to.sample, shape.sample_keys(), input.scratch, architecture, stream);
  TablePass<Key> tables;
  tables.sample = to.sample;
  tables.sample_bits = shape.sample_bits;
  tables.first = to.first;
  tables.second = to.second;
  tables.whole = to.whole;
  tables.count = input.count;
  tables.tile_keys = input.tile_keys;
  launch_bin_tables(tables, architecture, stream);
}

// Everything that follows from the count, the choice and the card.
template <class Key, class Value>
struct DistributionPlan {
  KernelTuning tuning;
  DistributionShape shape;
  SortShape passes;
  DistributionBounds bounds;

  DistributionPlan(std::uint64_t count, const DistributionChoice& choice, unsigned architecture)
      : tuning(tuning_for<ElementOf<Key, Value>>(architecture)),
        shape(kHasValues<Value>
                  ? DistributionShape::of_pairs(count, tuning.block_sort_keys(), choice)
                  : DistributionShape::of(count, choice)),
        passes(shape_of(count, tuning)),
        bounds(DistributionBounds::of(count, shape, packed_tile_keys<Key>(tuning.block_sort_keys()),
                                      passes, tuning)) {}

  [[nodiscard]] LongNeeds needs(std::uint64_t count) const {
    return {count, bounds.long_tiles, bounds.rows * (kRowHeader + tuning.max_fan_in)};
  }
};

// The beginning of the scratch memory.
struct DistributionLists {
  DistributionCounts* counts;
  std::uint64_t* first_rooms;
  BucketPlace* whole;
  BucketPlace* buckets;
  LongArray* long_arrays;
  LongArray* tile_arrays;

  DistributionLists(ScratchCutter& cutter, const DistributionShape& shape,
                    const DistributionBounds& bounds)
      : counts(cutter.take<DistributionCounts>(1)),
        first_rooms(cutter.take<std::uint64_t>(shape.first_bins())),
        whole(cutter.take<BucketPlace>(2)),
        buckets(cutter.take<BucketPlace>(shape.first_bins() + 1)),
        long_arrays(cutter.take<LongArray>(bounds.long_arrays)),
        tile_arrays(cutter.take<LongArray>(bounds.tile_arrays)) {}

  // Queues the clearing of counts and first_rooms.
  void clear(cudaStream_t stream) const {
    const auto bytes = static_cast<std::size_t>(reinterpret_cast<std::byte*>(whole) -
                                                reinterpret_cast<std::byte*>(counts));
    check_cuda(cudaMemsetAsync(counts, 0, bytes, stream), CudaCall::kMemory,
               "clearing the counts of a distribution");
  }
};

// The parameters of the kernel that packs the bins of the second distribution into tiles.
template <class Key>
[[nodiscard]] PackPass<Key> pack_of(const DistributionPass<Key>& second,
                                    const DistributionLists& lists, LongArray* packed_tiles,
                                    unsigned sort_tile_keys) {
  PackPass<Key> pack;
  pack.tables = second.tables;
  pack.buckets = second.buckets;
  pack.bucket_count = second.bucket_count;
  pack.rooms = second.rooms;
  pack.sort_tile_keys = sort_tile_keys;
  pack.long_arrays = lists.long_arrays;
  pack.packed_tiles = packed_tiles;
  pack.packed_count = &lists.counts->packed_tiles;
  pack.counts = lists.counts;
  return pack;
}

// The parameters of the kernels that sort the tiles of the output.
template <class Key, class Value>
[[nodiscard]] LongSortPass<Key> tiles_of(const ElementSort<Key, Value>& sort,
                                         const DistributionPlan<Key, Value>& plan,
                                         const DistributionLists& lists,
                                         const LongScratch<Key>& merges) {
  LongSortPass<Key> tiles;
  tiles.input = sort.output.keys;
  tiles.after_even_passes = sort.output.keys;
  tiles.after_odd_passes = merges.buffer;
  tiles.samples = merges.samples;
  tiles.maps = EndMaps<Key>::of({}, sort.store_map);
  tiles.passes = long_passes_of(plan.passes);
  tiles.arrays.counts = &lists.counts->lists;
  tiles.arrays.long_arrays = lists.long_arrays;
  tiles.arrays.tile_arrays = lists.tile_arrays;
  tiles.arrays.slots = plan.bounds.slots;
  tiles.tile_count = plan.bounds.tile_arrays + plan.bounds.long_tiles;
  return tiles;
}

}  // namespace gsort::gpu
