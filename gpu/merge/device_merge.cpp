// See device_merge.hpp. More than two slices go through passes (merge_shape.hpp), from the input by
// way of output and buffer to the output; two arrays are merged as told here.
//
// Problem. Merging the tiles of two arrays takes a copy's time and 3 to 5% more. What costs beside
// it is finding where tiles begin: scattered reads, which memory serves at 12 to 14 in a
// nanosecond.
//
// Idea. Few cuts, and few reads a cut. Tiles are as large as shared memory allows at full
// occupancy; a search guided by the keys' values (guided_co_rank.hpp) reads a third of the lines
// that bisection reads. A merge so small that all of it lies in the L2 cache has no kernel for the
// cuts: each tile's block searches for itself.
//
// Example. a = 1 4 6 9, b = 2 3 5 7, tiles of 4: the cut of output 4 is 2 keys of a and 2 of b, so
// one block merges 1 4 with 2 3, the other 6 9 with 5 7.
//
// Cost. On an H200, 2^28 u32 keys, copy 0.512 ms: 0.551 ms in all, 5 microseconds of them for
// launches and events, 14 for the cuts; then tiles are merged at 96% of a copy's rate. That is 92%
// of a copy, of 2^30 keys 93% (u64 94%). Busiest is the way between the two halves of the L2 cache
// (86% of the cycles with 2^26 keys).
//
// Source. S. Odeh et al., "Merge path", doi:10.1109/IPDPSW.2012.202. Measurements are in
// tools/bench/results/README.md, trials in tools/bench/results/tried.md.
#include "gpu/merge/device_merge.hpp"

#include <algorithm>
#include <array>

#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/table_copy.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/merge/launch.hpp"
#include "gpu/merge/merge_shape.hpp"

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
void require_load_map(const KeyMap<Key>& map, const char* operation) {
  if (kMapsLoads<Key> || map.is_identity()) return;
  throw Error(ErrorKind::kUsage, operation, "slices of keys of 16 bytes are ordered keys");
}

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
  pass.loads_mapped = !pass.load_map.is_identity();
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

// Queues the only pass of a merge, whose rows are cut, piece by piece.
template <class Key>
void queue_pieces(const MergePass<Key>& pass, std::uint64_t total, std::uint64_t piece_keys,
                  const PieceQueued& queued, unsigned architecture, cudaStream_t stream) {
  const std::uint64_t tile_keys = tuning_for<Key>(architecture).merge_tile_keys(pass.fan_in);
  const std::uint64_t piece_rows = std::max<std::uint64_t>(piece_keys / tile_keys, 1);
  const std::uint64_t rows = pass.row_count - 1;  // the last one is the end
  for (std::uint64_t row = 0; row < rows; row += piece_rows) {
    MergePass<Key> piece = pass;
    piece.rows += row * (kRowHeader + pass.fan_in);
    piece.row_count = std::min(piece_rows, rows - row);
    launch_kway_merge(piece, architecture, stream);
    queued(row * tile_keys, std::min((row + piece.row_count) * tile_keys, total));
  }
}

// Requires: more than two slices, `total` > 0 keys in all.
template <class Key>
void queue_slices(const SliceMerge<Key>& merge, std::uint64_t total, std::uint64_t piece_keys,
                  const PieceQueued& queued) {
  const unsigned architecture = current_architecture();
  const KernelTuning tuning = tuning_for<Key>(architecture);
  const MergeArrays<Key> arrays =
      cut_scratch<Key>(merge.scratch.memory, total, merge.slice_count, tuning);
  MergePasses<Key> all = make_passes(merge.slice_counts, merge.slice_count, arrays.scratch, tuning,
                                     merge.load_map, merge.store_map);
  launch_table_copy(all.numbers.data(), all.numbers.size(), arrays.scratch.tables, architecture,
                    merge.stream);
  launch_sample(merge.input, all.passes.front().runs, arrays.scratch.samples, architecture,
                merge.stream);

  const Key* from = merge.input;
  for (std::size_t i = 0; i < all.passes.size(); ++i) {
    MergePass<Key>& pass = all.passes[i];
    const std::size_t passes_after = all.passes.size() - 1 - i;
    pass.input = from;
    pass.output = passes_after % 2 == 0 ? merge.output : arrays.buffer;
    launch_partition<Key>(pass, architecture, merge.stream);
    if (all.passes.size() == 1 && piece_keys < total) {
      return queue_pieces(pass, total, piece_keys, queued, architecture, merge.stream);
    }
    launch_kway_merge(pass, architecture, merge.stream);
    from = pass.output;
  }
  queued(0, total);
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
  const auto& [a, a_count, b, b_count, output, load_map, store_map, scratch, stream] = merge;
  const std::array<std::uint64_t, 2> counts{a_count, b_count};
  const std::uint64_t total = sum_of_slices(counts.data(), 2, kArrays);
  require_load_map(load_map, kArrays);
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
  pass.load_map = load_map;
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
  merge_slices_in_pieces<Key>(merge, ~std::uint64_t{0}, [](std::uint64_t, std::uint64_t) {});
}

template <class Key>
void merge_slices_in_pieces(const SliceMerge<Key>& merge, std::uint64_t piece_keys,
                            const PieceQueued& queued) {
  const auto& [input, slice_counts, slice_count, output, load_map, store_map, scratch, stream] =
      merge;
  require_memory(slice_counts, slice_count, 1, kOperation, "the table of slice counts");
  const std::uint64_t total = sum_of_slices(slice_counts, slice_count, kOperation);
  require_load_map(load_map, kOperation);
  if (total == 0) return;
  const std::uint64_t bytes = total * sizeof(Key);
  const std::size_t needed = merge_slices_scratch_bytes<Key>(total, slice_count);
  require_memory(input, bytes, sizeof(Key), kOperation, "the input");
  require_memory(output, bytes, sizeof(Key), kOperation, "the output");
  require_apart(input, bytes, output, bytes, kOperation, "input and output");
  require_scratch(scratch, needed, kOperation);
  require_apart(input, bytes, scratch.memory, needed, kOperation, "input and scratch memory");
  require_apart(output, bytes, scratch.memory, needed, kOperation, "output and scratch memory");
  if (slice_count > 2) return queue_slices(merge, total, piece_keys, queued);
  MergePass<Key> pass;
  pass.input = input;
  pass.output = output;
  pass.load_map = load_map;
  pass.store_map = store_map;
  pass.apart = {0, slice_counts[0], slice_counts[0], total - slice_counts[0]};
  queue_two_way(pass, scratch.memory, stream);
  queued(0, total);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define GSORT_MERGES(Key)                                                                          \
  template std::size_t merge_slices_scratch_bytes<Key>(std::uint64_t, std::uint32_t);              \
  template void merge_slices(const SliceMerge<Key>&);                                              \
  template void merge_slices_in_pieces(const SliceMerge<Key>&, std::uint64_t, const PieceQueued&); \
  template std::size_t merge_arrays_scratch_bytes<Key>(std::uint64_t);                             \
  template void merge_arrays(const ArrayMerge<Key>&)
GSORT_MERGES(std::uint32_t);
GSORT_MERGES(std::uint64_t);
GSORT_MERGES(UInt128);
#undef GSORT_MERGES
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gsort::gpu
