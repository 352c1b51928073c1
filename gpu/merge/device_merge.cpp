// See device_merge.hpp, and merge_plan.hpp for the passes: from the input by way of output and
// buffer to the output.
//
// Two arrays. Merging the tiles takes a copy's time and 3 to 5% more; finding their cuts first is
// what remains: scattered reads, which memory serves at 12 to 14 in a nanosecond. Bisection makes
// 20 of them a tile beside those that all tiles share, so tiles are as large as shared memory
// allows at full occupancy: on an H200, 2^28 u32 keys, copy 0.506 ms, cuts and merge with tiles of
// 4,096 keys 0.079 + 0.528 ms, of 8,192 0.044 + 0.537, of 16,384 0.028 + 0.603. A search that is
// guided by the keys' values (guided_co_rank.hpp) reads a third of the lines: 0.593 -> 0.561 ms in
// all, 1.127 -> 1.061 for u64; that is 91% and 96% of a copy, of 2^30 keys 94% and 97%.
//
// What did not pay: samples of both arrays first (0.085 for the cuts); every block searching for
// its own cuts, by 2 to 32 lanes (0.75 at best: a block has no work to hide its wait behind), or
// only between cuts of every second to sixteenth tile (0.565 at best); cuts found by some blocks of
// the merge for others (0.604: the reads are not waited for, they are what memory is busy with), or
// flagged one by one so that the merge begins before all are found (0.552; no faster either if the
// cuts of the first tiles are found before all others, the beginnings of both arrays are fetched
// into the L2 cache meanwhile, and only then the merge begins, beside the other cuts: the scattered
// reads cost it what they cost alone); smaller tiles at the begin and the end of the grid, against
// blocks in step (0.551 to 0.566 beside 0.552); four or eight lanes a cut, which read a third less
// (0.548 beside 0.549); blocks that merge many tiles in a row, the next tile's keys on their way
// and its cuts found by a warp of their own among keys about to be read (0.71: shared memory for
// two tiles leaves too few warps), or the next cut alone searched while a tile is merged (0.64).
// Without its cuts the merge reaches 97% of a copy with tiles of 4,096 keys and 95% with tiles of
// 8,192; cuts of 2,000 tiles take 9 microseconds, as their reads wait for each other, and 12 more
// for every 32,768. Where 0.551 ms of 2^28 keys go, by the clocks of all blocks: 5 microseconds
// to launch and events, as for an empty kernel; 14.5 to the cuts; 5 until the first blocks, which
// all load and then all merge, have fallen out of step; the rest is steady, at 96.4% of a copy's
// rate, until the end, which all multiprocessors reach within 4. Of tiles of 4,096 keys: 23 to the
// cuts, 97.6%. In one run 2^28 keys took 0.554 ms, 92% of a copy, and 2^30 2.150 ms, 95%;
// on an H100, whose memory is slower: 97% and 99%.
//
// Neither pays to have no cuts. Warps that stay, each merging a long stretch of the output through
// two rings in shared memory, refilled behind the keys that it takes, so that the next tile begins
// where the last one ended: 0.627 ms with 32 keys a lane, 0.613 with 16. With neither search nor
// network still 0.59: a plain copy by blocks that stay reaches 85 to 92% of the device copy, by
// short blocks 91 to 98%, best where each moves 4 KB. One reason is that multiprocessors are not
// equally fast: those here merge 241 to 253 tiles each.
//
// Other shapes of the tile of 8,192 keys: 16 keys a thread 0.601 to 0.607, 8 keys 0.83, 4 or 6
// blocks on a multiprocessor, not 5, 0.573 to 0.582, where this took 0.550 to 0.559. Other merges,
// of 2^26 keys: a barrier less, where the lanes of a warp together find the co-rank behind its last
// row, 1% longer; stores of 32 bytes a pair of lanes straight from the registers, 4%. Other cuts:
// every eighth row first, the others from where these lie, all in float: 20.4 microseconds for 22.2
// with tiles of 4,096 keys, no faster in all; every 32nd by half a warp, 16 places at a time: 24
// for 21; the first blocks' keys fetched into the L2 cache meanwhile: these blocks end 2
// microseconds earlier, the cuts 3 later; those of the second blocks, while the first merge: no
// gain. Cuts for every 8th or 16th tile only, between which lines tell where the others must lie
// nearly, so that a block loads 128 to 192 keys more at each end of its slices, looks whether that
// was enough, and finds the true cut by itself where it was not (one tile in a thousand): the cuts
// take 13 to 16 microseconds for 17, but the merge 576 to 581 for 530, with an eighth more to load
// through an L2 cache that is the busiest part already; 560 with nine blocks on a multiprocessor
// for ten. Exact cuts, but all loads of whole lines of 128 bytes: 0.552 ms for 0.548.
//
// What is busiest is the way between the two halves of the L2 cache, which half of all that a block
// moves must take: 86% of the cycles under the profiler, with 2^26 keys. With 2^28 the L2 cache is
// 89% busy there, and device memory 79%.
//
// Hints to the L2 cache: reads as evict_first 0.575 ms; as evict_last 0.548 where 0.550 is usual,
// but what runs next finds the cache full (the next cuts take 1 to 3 microseconds longer); stores
// as .cs 0.554, as .wt or .cg no other time. All of this:
// tools/bench/results/h200-merge-trials.txt.
#include "gpu/merge/device_merge.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/table_copy.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/merge/launch.hpp"
#include "gpu/merge/merge_plan.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "merging slices on the GPU";
constexpr const char* kArrays = "merging two arrays on the GPU";

template <class Key>
struct MergeArrays {
  Key* buffer = nullptr;  // of two and more passes
  MergeScratch<Key> scratch;
  std::size_t bytes = 0;
};

template <class Key>
MergeArrays<Key> cut_scratch(void* scratch, std::uint64_t total, std::uint32_t slice_count,
                             const KernelTuning& tuning) {
  MergeArrays<Key> arrays;
  ScratchCutter cutter(scratch);
  if (merge_shape_of(slice_count, tuning).passes > 1) arrays.buffer = cutter.take<Key>(total);
  arrays.scratch = cut_merge_scratch<Key>(cutter, total, slice_count, tuning);
  arrays.bytes = cutter.used_bytes();
  return arrays;
}

// Two runs need no samples and no tables: a thread a tile searches for its cut, guided by the keys,
// or, if all lies in the L2 cache, each tile's block searches for itself.
std::size_t two_way_scratch_bytes(std::uint64_t total, const KernelTuning& tuning) {
  const std::uint64_t rows = div_up(total, tuning.two_way_tile_keys()) + 1;
  return round_up(rows * (kRowHeader + 2) * sizeof(std::uint64_t), kScratchAlignment);
}

template <class Key>
void queue_two_way(MergePass<Key> pass, void* scratch, cudaStream_t stream) {
  const unsigned architecture = current_architecture();
  const SmallTuning small = small_tuning_for<Key>(architecture);
  const std::uint64_t total = pass.apart.length();
  pass.two_arrays = true;
  pass.fan_in = 2;
  pass.group_count = 1;
  pass.maps = !pass.store_map.is_identity();
  if (total <= small.most_merged_keys) {
    pass.rows_per_group = div_up(total, small.kernels.merge_tile_keys(2));
    launch_small_merge(pass, architecture, stream);
    return;
  }
  pass.row_count = div_up(total, tuning_for<Key>(architecture).two_way_tile_keys()) + 1;
  pass.rows = static_cast<std::uint64_t*>(scratch);
  launch_two_way_partition<Key>(pass, architecture, stream);
  launch_two_way_merge(pass, architecture, stream);
}

// Requires: more than two slices, `total` > 0 keys in all.
template <class Key>
void queue_slices(const SliceMerge<Key>& merge, std::uint64_t total) {
  const unsigned architecture = current_architecture();
  const KernelTuning tuning = tuning_for<Key>(architecture);
  const MergeArrays<Key> arrays =
      cut_scratch<Key>(merge.scratch.memory, total, merge.slice_count, tuning);
  MergePlan<Key> plan =
      plan_passes(merge.slice_counts, merge.slice_count, arrays.scratch, tuning, merge.store_map);
  launch_table_copy(plan.numbers.data(), plan.numbers.size(), arrays.scratch.tables, architecture,
                    merge.stream);
  launch_sample(merge.input, plan.passes.front().runs, arrays.scratch.samples, architecture,
                merge.stream);

  const Key* from = merge.input;
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    MergePass<Key>& pass = plan.passes[i];
    const std::size_t passes_after = plan.passes.size() - 1 - i;
    pass.input = from;
    pass.output = passes_after % 2 == 0 ? merge.output : arrays.buffer;
    launch_partition<Key>(pass, architecture, merge.stream);
    launch_kway_merge(pass, architecture, merge.stream);
    from = pass.output;
  }
}

}  // namespace

template <class Key>
std::size_t merge_arrays_scratch_bytes(std::uint64_t total) {
  require_count(total, kArrays);
  std::size_t most = 0;
  for (const TuningRow& row : kTunings) {
    most = std::max(most, two_way_scratch_bytes(total, tuning_for<Key>(row.architecture)));
  }
  return most;
}

template <class Key>
void merge_arrays(const ArrayMerge<Key>& merge) {
  const auto& [a, a_count, b, b_count, output, store_map, scratch, stream] = merge;
  const std::array<std::uint64_t, 2> counts{a_count, b_count};
  const std::uint64_t total = sum_of_slices(counts.data(), 2, kArrays);
  if (total == 0) return;
  const std::uint64_t bytes = total * sizeof(Key);
  const std::size_t needed = merge_arrays_scratch_bytes<Key>(total);
  require_memory(output, bytes, sizeof(Key), kArrays, "the output");
  require_scratch(scratch, needed, kArrays);
  require_apart(output, bytes, scratch.memory, needed, kArrays, "output and scratch memory");
  const std::array<const Key*, 2> inputs{a, b};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint64_t input_bytes = counts[i] * sizeof(Key);
    require_memory(inputs[i], input_bytes, sizeof(Key), kArrays, "an input");
    require_apart(inputs[i], input_bytes, output, bytes, kArrays, "input and output");
    require_apart(inputs[i], input_bytes, scratch.memory, needed, kArrays,
                  "input and scratch memory");
  }
  MergePass<Key> pass;
  pass.input = a_count > 0 ? a : b;
  pass.output = output;
  pass.store_map = store_map;
  pass.apart = two_runs_of(a, a_count, b, b_count);
  queue_two_way(pass, scratch.memory, stream);
}

template <class Key>
std::size_t merge_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  require_count(total, kOperation);
  if (slice_count <= 2) return merge_arrays_scratch_bytes<Key>(total);
  std::size_t most = 0;
  for (const TuningRow& row : kTunings) {
    const KernelTuning tuning = tuning_for<Key>(row.architecture);
    most = std::max(most, cut_scratch<Key>(nullptr, total, slice_count, tuning).bytes);
  }
  return most;
}

template <class Key>
void merge_slices(const SliceMerge<Key>& merge) {
  const auto& [input, slice_counts, slice_count, output, store_map, scratch, stream] = merge;
  require_memory(slice_counts, slice_count, 1, kOperation, "the table of slice counts");
  const std::uint64_t total = sum_of_slices(slice_counts, slice_count, kOperation);
  if (total == 0) return;
  const std::uint64_t bytes = total * sizeof(Key);
  const std::size_t needed = merge_slices_scratch_bytes<Key>(total, slice_count);
  require_memory(input, bytes, sizeof(Key), kOperation, "the input");
  require_memory(output, bytes, sizeof(Key), kOperation, "the output");
  require_apart(input, bytes, output, bytes, kOperation, "input and output");
  require_scratch(scratch, needed, kOperation);
  require_apart(input, bytes, scratch.memory, needed, kOperation, "input and scratch memory");
  require_apart(output, bytes, scratch.memory, needed, kOperation, "output and scratch memory");
  if (slice_count > 2) return queue_slices(merge, total);
  MergePass<Key> pass;
  pass.input = input;
  pass.output = output;
  pass.store_map = store_map;
  pass.apart = {0, slice_counts[0], slice_counts[0], total - slice_counts[0]};
  queue_two_way(pass, scratch.memory, stream);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define GSORT_MERGES(Key)                                                             \
  template std::size_t merge_slices_scratch_bytes<Key>(std::uint64_t, std::uint32_t); \
  template void merge_slices(const SliceMerge<Key>&);                                 \
  template std::size_t merge_arrays_scratch_bytes<Key>(std::uint64_t);                \
  template void merge_arrays(const ArrayMerge<Key>&)
GSORT_MERGES(std::uint32_t);
GSORT_MERGES(std::uint64_t);
#undef GSORT_MERGES
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gsort::gpu
