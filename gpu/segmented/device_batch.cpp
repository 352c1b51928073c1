// Sorting many arrays at once, by the parts of the sort of one array (device_sort.cpp).
//
// Problem. N arrays of d keys each. One launch an array starves the card; and a tile of 8192 keys
// that sorts one array of 100 wastes nearly all of its threads.
//
// Idea. The work of a thread, a warp and a block in the block sort is a tree of merges that meet in
// the tile. The tree stops where the array is complete:
//   d <= E / 2     a row of a thread's E registers holds several arrays, each with its own network
//   d <= tile      a tile holds several arrays of whole rows; as many levels as an array has
//                  (tile_lists.hpp)
//   d > tile       an array has tiles of its own; passes of k-way merging, with cuts that never
//                  leave the array (long_arrays.hpp)
// So d decides how many comparisons a key takes, and arrays that fit a tile are read and written
// once.
//
// Arrays of any lengths (sort_segmented_batch) take some launches more, and nothing from the host:
// a plan kernel finds windows of short arrays that fit a tile (segmented_windows.hpp), and lists
// the others by what becomes of them: middle arrays share tiles, too, longer ones have a tile of
// their own, or several and passes of merging. Only the device knows how many it listed, so
// blocks take tiles one by one until none is left (taken_jobs.cuh). Where arrays have 16 keys or
// fewer on average, rows of a tile would be fill for the most part: then the plan's threads, of
// which each looks at an array anyway, sort those of a few keys in registers (tiny_arrays.cuh).
//
// Cost. 2^28 u32 keys on an H200, where a copy takes 0.51 ms: 0.52 for d = 2, 4, 8, 16; 0.56 for
// 64, 1.18 for 1,024 (five levels, 0.12 to 0.15 ms each), 1.75 for 8,192 (eight levels), 2.75 for
// 65,536 (eight levels and a pass of 8). Lengths that fill no row cost up to twice as much: 1.02
// for d = 3. Given by offsets the same arrays take 1.15 ms for d = 2, 1.18 for 64, 2.0 for 1,024
// and 3.4 for 65,536; if the caller knows the longest, 1.00, 1.14, 2.0 and 3.0. CUB's segmented
// sort takes 2.69, 2.34, 20.7 and 10.4. Gains of the steps, ms for d = 2 | 64, none known:
//   3.8  | 3.1   as many blocks as there may be tiles, windows and rows of cuts: 1.8 to 2.8 ms
//                went into those with nothing to do
//   1.21 | 1.38  blocks take tiles, 2,048 of them in each launch
//   1.18 | 1.26  middle arrays apart from short ones, so that windows are larger
//   1.15 | 1.18  no more blocks than fit the card, for the cuts as well
// Before tiny arrays had threads of their own d = 2 took 9.0 ms.
#include "gpu/segmented/device_batch.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/segmented/launch.hpp"
#include "gpu/segmented/long_merges.hpp"
#include "gpu/segmented/segmented_shape.hpp"
#include "gpu/sort/device_sort.hpp"
#include "gpu/sort/sort_memory.hpp"
#include "gpu/sort/sort_shape.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kEvenOperation = "sorting a batch on the GPU";
constexpr const char* kSegmentedOperation = "sorting a segmented batch on the GPU";

template <class Key>
bool is_vector_aligned(const Key* keys) {
  return reinterpret_cast<std::uintptr_t>(keys) % 16 == 0;
}

// Arrays of one length.

std::uint64_t total_of(std::uint64_t array_count, std::uint64_t array_keys) {
  const bool fits = array_keys == 0 || array_count <= kMaxSortedKeys / array_keys;
  const std::uint64_t total = fits ? array_count * array_keys : kMaxSortedKeys + 1;
  require_count(total, kEvenOperation);
  return total;
}

// Rows of cuts of one array in pass `pass`.
std::uint64_t even_rows(const SortShape& shape, std::size_t pass, std::uint64_t array_keys,
                        const KernelTuning& tuning) {
  std::uint64_t run_length = shape.run_length;
  for (std::size_t i = 0; i < pass; ++i) run_length *= shape.fan_ins[i];
  return rows_of_array(array_keys, run_length, shape.fan_ins[pass],
                       tuning.merge_tile_keys(shape.fan_ins[pass]));
}

LongNeeds even_needs(std::uint64_t array_count, std::uint64_t array_keys,
                     const KernelTuning& tuning) {
  const SortShape shape = shape_of(array_keys, tuning);
  LongNeeds needs;
  if (shape.fan_ins.empty()) return needs;
  needs.keys = array_count * array_keys;
  needs.tiles = array_count * shape.run_count;
  for (std::size_t i = 0; i < shape.fan_ins.size(); ++i) {
    const std::uint64_t rows = array_count * even_rows(shape, i, array_keys, tuning);
    needs.row_numbers = std::max(needs.row_numbers, rows * (kRowHeader + shape.fan_ins[i]));
  }
  return needs;
}

// Requires: arrays of at most a tile.
template <class Key>
void queue_short_arrays(const BatchSort<Key>& sort, unsigned architecture) {
  const KernelTuning tuning = tuning_for<Key>(architecture);
  BatchSortPass<Key> pass;
  pass.input = sort.input;
  pass.output = sort.output;
  pass.maps = EndMaps<Key>::of(sort.load_map, sort.store_map);
  pass.layout = even_layout(sort.array_count, static_cast<unsigned>(sort.array_keys),
                            tuning.keys_per_thread, tuning.block_sort_threads);
  pass.vectors =
      pass.layout.dense && is_vector_aligned(sort.input) && is_vector_aligned(sort.output);
  launch_batch_sort(pass, architecture, sort.stream);
}

template <class Key>
void queue_long_arrays(const BatchSort<Key>& sort, unsigned architecture) {
  const std::uint64_t array_count = sort.array_count;
  const std::uint64_t array_keys = sort.array_keys;
  const KernelTuning tuning = tuning_for<Key>(architecture);
  const SortShape shape = shape_of(array_keys, tuning);
  ScratchCutter cutter(sort.scratch.memory);
  const LongScratch<Key> arrays(cutter, even_needs(array_count, array_keys, tuning), tuning);

  LongSortPass<Key> tiles;
  tiles.input = sort.input;
  tiles.after_even_passes = sort.output;
  tiles.after_odd_passes = arrays.buffer;
  tiles.samples = arrays.samples;
  tiles.maps = EndMaps<Key>::of(sort.load_map, sort.store_map);
  tiles.passes = long_passes_of(shape);
  tiles.arrays.array_count = array_count;
  tiles.arrays.array_keys = array_keys;
  tiles.arrays.array_tiles = shape.run_count;
  tiles.tile_count = array_count * shape.run_count;
  launch_long_sort(tiles, architecture, sort.stream);

  LongMergePass<Key> merges;
  merges.arrays = tiles.arrays;
  queue_long_merges(merges, tiles, arrays, architecture, sort.stream,
                    [&](LongArrays& even, unsigned pass, unsigned /*fan_in*/) {
                      even.array_rows = even_rows(shape, pass, array_keys, tuning);
                      return array_count * even.array_rows;
                    });
}

// Arrays of any lengths.

// The most that `count` keys in arrays of at most `longest` can demand.
struct SegmentedBounds {
  std::uint64_t tile_arrays = 0;  // and tiles of long arrays with these: see below
  std::uint64_t long_arrays = 0;
  std::uint64_t long_tiles = 0;
  std::uint64_t rows = 0;
  RowSlots slots;
};

SegmentedBounds segmented_bounds(std::uint64_t count, std::uint64_t longest, const SortShape& shape,
                                 const KernelTuning& tuning) {
  SegmentedBounds bounds;
  if (longest <= kSharedTileKeys) return bounds;
  // Tiles of long arrays have more than half a tile of keys on average, which is more than the
  // least that an array with one tile has: so this bounds all tiles together.
  bounds.tile_arrays = count / (kSharedTileKeys + 1);
  if (!shape.fan_ins.empty()) {
    // An array of more than a tile has less than one tile that is not full.
    bounds.long_arrays = count / (shape.run_length + 1);
    bounds.long_tiles = count / shape.run_length + bounds.long_arrays;
    bounds.slots = RowSlots::of(shape.run_length, tuning.merge_tile_keys(tuning.max_fan_in),
                                shape.fan_ins.front());
    bounds.rows = bounds.slots.first_row(bounds.long_tiles, bounds.long_arrays);
  }
  return bounds;
}

// The windows that the arrays may take; none of a kind that cannot be.
struct WindowBounds {
  WindowChoice choice;
  std::uint64_t windows = 0;
  std::uint64_t listed_windows = 0;  // of those, where the plan lists some
  std::uint64_t middle_arrays = 0;
  std::uint64_t middle_windows = 0;

  template <class Key>
  [[nodiscard]] static WindowBounds of(std::uint64_t array_count, std::uint64_t count,
                                       std::uint64_t longest, unsigned architecture) {
    WindowBounds bounds;
    bounds.choice = WindowChoice::of(array_count, count);
    with_segmented_shape<Key>(bounds.choice, architecture, [&](auto shape) {
      bounds.windows = decltype(shape)::Windows::windows(array_count, count);
      if (tiny_keys_for(array_count, count, longest) > 0) bounds.listed_windows = bounds.windows;
      if (bounds.choice.low && longest > kLowShortKeys) {
        bounds.middle_arrays = count / (kLowShortKeys + 1);
        bounds.middle_windows = decltype(shape)::Middle::windows(count);
      }
    });
    return bounds;
  }
};

template <class Key>
struct SegmentedScratch {
  ScratchCutter cutter;
  WindowBounds windows;
  std::uint64_t* first_arrays;
  std::uint32_t* listed_windows;
  SegmentedCounts* counts;
  LongArray* middle_arrays;
  std::uint64_t* first_middle_arrays;
  LongArray* tile_arrays;
  LongArray* long_arrays;
  LongScratch<Key> merges;

  SegmentedScratch(void* scratch, std::uint64_t array_count, std::uint64_t count,
                   std::uint64_t longest, const SegmentedBounds& bounds, unsigned architecture)
      : cutter(scratch),
        windows(WindowBounds::of<Key>(array_count, count, longest, architecture)),
        first_arrays(cutter.take<std::uint64_t>(windows.windows)),
        listed_windows(cutter.take<std::uint32_t>(windows.listed_windows)),
        counts(cutter.take<SegmentedCounts>(1)),
        middle_arrays(cutter.take<LongArray>(windows.middle_arrays)),
        first_middle_arrays(cutter.take<std::uint64_t>(windows.middle_windows)),
        tile_arrays(cutter.take<LongArray>(bounds.tile_arrays)),
        long_arrays(cutter.take<LongArray>(bounds.long_arrays)),
        merges(cutter, needs_of(bounds, count, architecture), tuning_for<Key>(architecture)) {}

 private:
  static LongNeeds needs_of(const SegmentedBounds& bounds, std::uint64_t count,
                            unsigned architecture) {
    const std::uint64_t numbers_a_row = kRowHeader + tuning_for<Key>(architecture).max_fan_in;
    return {bounds.long_arrays == 0 ? 0 : count, bounds.long_tiles, bounds.rows * numbers_a_row};
  }
};

// Short arrays are sorted here; the others are in the tables afterwards.
template <class Key>
void queue_plan_and_short_arrays(const SegmentedPass<Key>& pass, unsigned architecture,
                                 cudaStream_t stream) {
  if (pass.longest <= pass.tiny_keys) return launch_segmented_plan(pass, architecture, stream);
  check_cuda(
      cudaMemsetAsync(pass.first_arrays, 0xff, pass.window_count * sizeof(std::uint64_t), stream),
      CudaCall::kMemory, "clearing the windows of a segmented batch");
  check_cuda(cudaMemsetAsync(pass.counts, 0, sizeof(SegmentedCounts), stream), CudaCall::kMemory,
             "clearing the counts of a segmented batch");
  launch_segmented_plan(pass, architecture, stream);
  launch_segmented_sort(pass, architecture, stream);
}

template <class Key>
void queue_listed_arrays(const SegmentedPass<Key>& plan, const SegmentedScratch<Key>& arrays,
                         const SegmentedBounds& bounds, const SortShape& shape,
                         unsigned architecture, cudaStream_t stream) {
  if (bounds.tile_arrays == 0) return;
  LongSortPass<Key> tiles;
  tiles.input = plan.input;
  tiles.after_even_passes = plan.output;
  tiles.after_odd_passes = arrays.merges.buffer;
  tiles.samples = arrays.merges.samples;
  tiles.maps = plan.maps;
  tiles.passes = long_passes_of(shape);
  tiles.arrays.counts = plan.counts;
  tiles.arrays.long_arrays = plan.long_arrays;
  tiles.arrays.tile_arrays = plan.tile_arrays;
  tiles.arrays.slots = bounds.slots;
  tiles.tile_count = bounds.tile_arrays;
  launch_listed_sort(tiles, architecture, stream);
  if (bounds.long_arrays == 0) return;
  LongMergePass<Key> merges;
  merges.arrays = tiles.arrays;
  queue_long_merges(merges, tiles, arrays.merges, architecture, stream,
                    [&](LongArrays&, unsigned, unsigned) { return bounds.rows; });
}

}  // namespace

template <class Key>
std::size_t sort_batch_scratch_bytes(std::uint64_t array_count, std::uint64_t array_keys) {
  if (total_of(array_count, array_keys) == 0) return 0;
  if (array_count == 1) return sort_keys_scratch_bytes<Key>(array_keys);
  return most_on_any_card([&](unsigned architecture) {
    const KernelTuning tuning = tuning_for<Key>(architecture);
    ScratchCutter cutter(nullptr);
    const LongScratch<Key> arrays(cutter, even_needs(array_count, array_keys, tuning), tuning);
    return cutter.used_bytes();
  });
}

template <class Key>
void sort_batch(const BatchSort<Key>& sort) {
  const std::uint64_t count = total_of(sort.array_count, sort.array_keys);
  if (count == 0) return;
  const KeySort<Key> all{sort.input,     sort.output,  count,      sort.load_map,
                         sort.store_map, sort.scratch, sort.stream};
  require_sort_memory(all, sort_batch_scratch_bytes<Key>(sort.array_count, sort.array_keys),
                      kEvenOperation);
  if (sort.array_count == 1) return sort_keys(all);
  const unsigned architecture = current_architecture();
  if (sort.array_keys <= tuning_for<Key>(architecture).block_sort_keys()) {
    queue_short_arrays(sort, architecture);
  } else {
    queue_long_arrays(sort, architecture);
  }
}

template <class Key>
std::size_t sort_segmented_batch_scratch_bytes(std::uint64_t array_count, std::uint64_t count,
                                               std::uint64_t longest) {
  require_count(count, kSegmentedOperation);
  require_count(array_count, kSegmentedOperation, "arrays");
  if (count == 0) return 0;
  longest = std::min(longest, count);
  return most_on_any_card([&](unsigned architecture) {
    const KernelTuning tuning = tuning_for<Key>(architecture);
    const SegmentedBounds bounds =
        segmented_bounds(count, longest, shape_of(longest, tuning), tuning);
    return SegmentedScratch<Key>(nullptr, array_count, count, longest, bounds, architecture)
        .cutter.used_bytes();
  });
}

template <class Key>
void sort_segmented_batch(const SegmentedSort<Key>& sort) {
  const auto& [input, output, offsets, array_count, count, longest_known, load_map, store_map,
               scratch, stream] = sort;
  require_count(count, kSegmentedOperation);
  require_count(array_count, kSegmentedOperation, "arrays");
  if (count == 0) return;
  if (array_count == 0) throw Error(ErrorKind::kUsage, kSegmentedOperation, "keys, but no arrays");
  const std::uint64_t longest = std::min(longest_known, count);
  const std::size_t needed = sort_segmented_batch_scratch_bytes<Key>(array_count, count, longest);
  const std::array inputs{extent_of(input, count, "the input"),
                          extent_of(offsets, array_count + 1, "the offsets")};
  const std::array outputs{extent_of(output, count, "the output")};
  require_call_memory({inputs, outputs, true, scratch, needed, kSegmentedOperation});

  const unsigned architecture = current_architecture();
  const KernelTuning tuning = tuning_for<Key>(architecture);
  const SortShape shape = shape_of(longest, tuning);
  const SegmentedBounds bounds = segmented_bounds(count, longest, shape, tuning);
  const SegmentedScratch<Key> places(scratch.memory, array_count, count, longest, bounds,
                                     architecture);
  SegmentedPass<Key> pass;
  pass.input = input;
  pass.output = output;
  pass.maps = EndMaps<Key>::of(load_map, store_map);
  pass.offsets = offsets;
  pass.array_count = array_count;
  pass.tile_keys = tuning.block_sort_keys();
  pass.windows = places.windows.choice;
  pass.tiny_keys = tiny_keys_for(array_count, count, longest);
  pass.longest = longest;
  pass.window_count = places.windows.windows;
  pass.first_arrays = places.first_arrays;
  pass.listed_windows = places.listed_windows;
  pass.counts = places.counts;
  pass.middle_window_count = places.windows.middle_windows;
  pass.middle_arrays = places.middle_arrays;
  pass.first_middle_arrays = places.first_middle_arrays;
  pass.long_arrays = places.long_arrays;
  pass.tile_arrays = places.tile_arrays;
  queue_plan_and_short_arrays(pass, architecture, stream);
  if (pass.middle_window_count > 0) launch_middle_sort(pass, architecture, stream);
  queue_listed_arrays(pass, places, bounds, shape, architecture, stream);
}

template std::size_t sort_batch_scratch_bytes<std::uint32_t>(std::uint64_t, std::uint64_t);
template std::size_t sort_batch_scratch_bytes<std::uint64_t>(std::uint64_t, std::uint64_t);
template void sort_batch(const BatchSort<std::uint32_t>&);
template void sort_batch(const BatchSort<std::uint64_t>&);
template std::size_t sort_segmented_batch_scratch_bytes<std::uint32_t>(std::uint64_t, std::uint64_t,
                                                                       std::uint64_t);
template std::size_t sort_segmented_batch_scratch_bytes<std::uint64_t>(std::uint64_t, std::uint64_t,
                                                                       std::uint64_t);
template void sort_segmented_batch(const SegmentedSort<std::uint32_t>&);
template void sort_segmented_batch(const SegmentedSort<std::uint64_t>&);

}  // namespace gsort::gpu
