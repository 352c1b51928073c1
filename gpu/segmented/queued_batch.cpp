#include "gpu/segmented/queued_batch.hpp"

#include <algorithm>

#include "base/units.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/segmented/launch.hpp"
#include "gpu/segmented/long_merges.hpp"
#include "gpu/segmented/segmented_shape.hpp"
#include "gpu/sort/sort_shape.hpp"

namespace gsort::gpu {
namespace {

// The memory of arrays that are longer than a tile.
template <class Ends>
struct LongMemory {
  using Word = typename Ends::Word;
  Word* words = nullptr;  // after an even number of passes
  LongScratch<Word> merges;

  LongMemory(ScratchCutter& cutter, const Ends& ends, const LongNeeds& needs,
             const KernelTuning& tuning)
      : merges(cutter, needs, tuning) {
    if constexpr (Ends::kWordsLieInOutput) {
      words = ends.keys_out;
    } else {
      words = cutter.take<Word>(needs.keys);
    }
  }
};

template <class Ends>
LongTilesPass<Ends> tiles_of(const Ends& ends, const LongMemory<Ends>& memory,
                             const SortShape& shape) {
  LongTilesPass<Ends> pass;
  pass.ends = ends;
  pass.tiles.after_even_passes = memory.words;
  pass.tiles.after_odd_passes = memory.merges.buffer;
  pass.tiles.samples = memory.merges.samples;
  if constexpr (Ends::kWordsLieInOutput) pass.tiles.maps = ends.maps;
  pass.tiles.passes = long_passes_of(shape);
  return pass;
}

template <class Ends, class RowsOfPass>
void queue_merges(const LongTilesPass<Ends>& pass, const LongMemory<Ends>& memory,
                  unsigned architecture, cudaStream_t stream, const RowsOfPass& rows_of_pass) {
  using Merge = LongMergePass<typename Ends::Word>;
  const auto queue_pass = [&](const Merge& merge, bool /*to_output*/) {
    launch_long_partition<typename Ends::Word>(merge, architecture, stream);
    if constexpr (!Ends::kWordsLieInOutput) {
      if (merge.pass + 1 == merge.passes.pass_count) {
        return launch_last_pair_merge(merge, pass.ends, architecture, stream);
      }
    }
    if (merge.arrays.counts == nullptr) {
      launch_kway_merge(merge.merge, architecture, stream);
    } else {
      launch_listed_merge(merge, architecture, stream);
    }
  };
  Merge first;
  first.arrays = pass.tiles.arrays;
  for_each_long_pass(first, pass.tiles, memory.merges, rows_of_pass, queue_pass);
}

// Arrays of one length.

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

bool is_vector_aligned(const void* elements) {
  return reinterpret_cast<std::uintptr_t>(elements) % 16 == 0;
}

// Requires: arrays of at most a tile.
template <class Ends>
void queue_short_arrays(const QueuedBatch<Ends>& batch, unsigned architecture) {
  const KernelTuning tuning = tuning_for<typename Ends::Word>(architecture);
  BatchSortPass<Ends> pass;
  pass.ends = batch.ends;
  pass.layout =
      even_layout(batch.arrays.array_count, static_cast<unsigned>(batch.arrays.array_keys),
                  tuning.keys_per_thread, tuning.block_sort_threads);
  pass.vectors = pass.layout.dense && is_vector_aligned(batch.ends.keys_in) &&
                 is_vector_aligned(batch.ends.keys_out);
  launch_batch_sort(pass, architecture, batch.stream);
}

template <class Ends>
void queue_long_arrays(const QueuedBatch<Ends>& batch, unsigned architecture) {
  const std::uint64_t array_count = batch.arrays.array_count;
  const std::uint64_t array_keys = batch.arrays.array_keys;
  const KernelTuning tuning = tuning_for<typename Ends::Word>(architecture);
  const SortShape shape = shape_of(array_keys, tuning);
  ScratchCutter cutter(batch.scratch.memory);
  const LongMemory<Ends> memory(cutter, batch.ends, even_needs(array_count, array_keys, tuning),
                                tuning);
  LongTilesPass<Ends> pass = tiles_of(batch.ends, memory, shape);
  pass.tiles.arrays.array_count = array_count;
  pass.tiles.arrays.array_keys = array_keys;
  pass.tiles.arrays.array_tiles = shape.run_count;
  pass.tiles.tile_count = array_count * shape.run_count;
  launch_long_sort(pass, architecture, batch.stream);
  queue_merges(pass, memory, architecture, batch.stream,
               [&](LongArrays& even, unsigned number, unsigned /*fan_in*/) {
                 even.array_rows = even_rows(shape, number, array_keys, tuning);
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
      constexpr std::uint64_t kShortKeys = decltype(shape)::Windows::kShortKeys;
      if (decltype(shape)::kHasMiddle && longest > kShortKeys) {
        bounds.middle_arrays = count / (kShortKeys + 1);
        bounds.middle_windows = decltype(shape)::Middle::windows(count, kShortKeys);
      }
    });
    return bounds;
  }
};

template <class Ends>
struct SegmentedScratch {
  using Word = typename Ends::Word;
  ScratchCutter cutter;
  WindowBounds windows;
  std::uint64_t* first_arrays;
  std::uint32_t* listed_windows;
  SegmentedCounts* counts;
  LongArray* middle_arrays;
  std::uint64_t* first_middle_arrays;
  LongArray* tile_arrays;
  LongArray* long_arrays;
  LongMemory<Ends> memory;

  SegmentedScratch(void* scratch, const Ends& ends, const ArrayPlaces& arrays,
                   const SegmentedBounds& bounds, unsigned architecture)
      : cutter(scratch),
        windows(
            WindowBounds::of<Word>(arrays.array_count, arrays.count, arrays.longest, architecture)),
        first_arrays(cutter.take<std::uint64_t>(windows.windows)),
        listed_windows(cutter.take<std::uint32_t>(windows.listed_windows)),
        counts(cutter.take<SegmentedCounts>(1)),
        middle_arrays(cutter.take<LongArray>(windows.middle_arrays)),
        first_middle_arrays(cutter.take<std::uint64_t>(windows.middle_windows)),
        tile_arrays(cutter.take<LongArray>(bounds.tile_arrays)),
        long_arrays(cutter.take<LongArray>(bounds.long_arrays)),
        memory(cutter, ends, needs_of(bounds, arrays.count, architecture),
               tuning_for<Word>(architecture)) {}

 private:
  static LongNeeds needs_of(const SegmentedBounds& bounds, std::uint64_t count,
                            unsigned architecture) {
    const std::uint64_t numbers_a_row = kRowHeader + tuning_for<Word>(architecture).max_fan_in;
    return {bounds.long_arrays == 0 ? 0 : count, bounds.long_tiles, bounds.rows * numbers_a_row};
  }
};

// Short arrays are sorted here; the others are in the tables afterwards.
template <class Ends>
void queue_plan_and_short_arrays(const SegmentedPass<Ends>& pass, unsigned architecture,
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

template <class Ends>
void queue_listed_arrays(const SegmentedPass<Ends>& plan, const LongMemory<Ends>& memory,
                         const SegmentedBounds& bounds, const SortShape& shape,
                         unsigned architecture, cudaStream_t stream) {
  if (bounds.tile_arrays == 0) return;
  LongTilesPass<Ends> pass = tiles_of(plan.ends, memory, shape);
  pass.tiles.arrays.counts = plan.counts;
  pass.tiles.arrays.long_arrays = plan.long_arrays;
  pass.tiles.arrays.tile_arrays = plan.tile_arrays;
  pass.tiles.arrays.slots = bounds.slots;
  pass.tiles.tile_count = bounds.tile_arrays;
  launch_listed_sort(pass, architecture, stream);
  if (bounds.long_arrays == 0) return;
  queue_merges(pass, memory, architecture, stream,
               [&](LongArrays&, unsigned, unsigned) { return bounds.rows; });
}

template <class Ends>
void queue_arrays_of_any_lengths(const QueuedBatch<Ends>& batch, unsigned architecture) {
  const ArrayPlaces& arrays = batch.arrays;
  const KernelTuning tuning = tuning_for<typename Ends::Word>(architecture);
  const SortShape shape = shape_of(arrays.longest, tuning);
  const SegmentedBounds bounds = segmented_bounds(arrays.count, arrays.longest, shape, tuning);
  const SegmentedScratch<Ends> places(batch.scratch.memory, batch.ends, arrays, bounds,
                                      architecture);
  SegmentedPass<Ends> pass;
  pass.ends = batch.ends;
  pass.offsets = arrays.offsets;
  pass.array_count = arrays.array_count;
  pass.tile_keys = tuning.block_sort_keys();
  pass.windows = places.windows.choice;
  pass.tiny_keys = tiny_keys_for(arrays.array_count, arrays.count, arrays.longest);
  pass.longest = arrays.longest;
  pass.window_count = places.windows.windows;
  pass.first_arrays = places.first_arrays;
  pass.listed_windows = places.listed_windows;
  pass.counts = places.counts;
  pass.middle_window_count = places.windows.middle_windows;
  pass.middle_arrays = places.middle_arrays;
  pass.first_middle_arrays = places.first_middle_arrays;
  pass.long_arrays = places.long_arrays;
  pass.tile_arrays = places.tile_arrays;
  queue_plan_and_short_arrays(pass, architecture, batch.stream);
  if (pass.middle_window_count > 0) launch_middle_sort(pass, architecture, batch.stream);
  queue_listed_arrays(pass, places.memory, bounds, shape, architecture, batch.stream);
}

// As they are sorted: none is longer than all elements together.
ArrayPlaces bounded(ArrayPlaces arrays) {
  arrays.longest = std::min(arrays.longest, arrays.count);
  return arrays;
}

}  // namespace

template <class Ends>
std::size_t batch_scratch_bytes(const ArrayPlaces& arrays) {
  return most_on_any_card([&](unsigned architecture) {
    const KernelTuning tuning = tuning_for<typename Ends::Word>(architecture);
    if (arrays.offsets != nullptr) {
      const ArrayPlaces known = bounded(arrays);
      const SegmentedBounds bounds =
          segmented_bounds(known.count, known.longest, shape_of(known.longest, tuning), tuning);
      return SegmentedScratch<Ends>(nullptr, {}, known, bounds, architecture).cutter.used_bytes();
    }
    ScratchCutter cutter(nullptr);
    const LongNeeds needs = even_needs(arrays.array_count, arrays.array_keys, tuning);
    const LongMemory<Ends> memory(cutter, {}, needs, tuning);
    return cutter.used_bytes();
  });
}

template <class Ends>
void queue_batch(const QueuedBatch<Ends>& batch) {
  const unsigned architecture = current_architecture();
  if (batch.arrays.offsets != nullptr) {
    QueuedBatch<Ends> known = batch;
    known.arrays = bounded(batch.arrays);
    queue_arrays_of_any_lengths(known, architecture);
  } else if (batch.arrays.array_keys <=
             tuning_for<typename Ends::Word>(architecture).block_sort_keys()) {
    queue_short_arrays(batch, architecture);
  } else {
    queue_long_arrays(batch, architecture);
  }
}

#define GSORT_QUEUED_BATCH(Ends)                                      \
  template std::size_t batch_scratch_bytes<Ends>(const ArrayPlaces&); \
  template void queue_batch(const QueuedBatch<Ends>&)
GSORT_QUEUED_BATCH(KeyEnds<std::uint32_t>);
GSORT_QUEUED_BATCH(KeyEnds<std::uint64_t>);
GSORT_QUEUED_BATCH(PairEnds);
#undef GSORT_QUEUED_BATCH

}  // namespace gsort::gpu
