// The parameters of the kernels of a batch sort, as merge_pass.hpp has for merges, and launches,
// one .cu file a kernel and key type. Each queues one kernel, with the shape that tuning.hpp has
// for `architecture`, and checks the launch. Throws: Error(kDevice) naming the kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"
#include "gpu/merge/merge_pass.hpp"
#include "gpu/segmented/batch_ends.hpp"
#include "gpu/segmented/segmented_windows.hpp"
#include "gpu/segmented/tile_lists.hpp"
#include "gpu/sort/long_arrays.hpp"

namespace gsort::gpu {

// Arrays of one length, of a tile at most: sorted in one launch.
template <class Ends>
struct BatchSortPass {
  Ends ends;
  EvenLayout layout;     // of tiles of block_sort_threads rows of keys_per_thread words
  bool vectors = false;  // the layout is dense, input and output are aligned to 16 bytes
};

// The tiles of long arrays, each sorted by itself.
template <class Key>
struct LongSortPass {
  const Key* input = nullptr;
  Key* after_even_passes = nullptr;  // where tiles go that an even number of passes follows: the
  Key* after_odd_passes = nullptr;   // batch's output, and the other buffer
  Key* samples = nullptr;
  EndMaps<Key> maps;
  LongArrays arrays;
  LongPasses passes;
  std::uint64_t tile_count = 0;  // the most tiles of listed arrays
};
// The same of any elements, which become words; `tiles` says where these go.
template <class Ends>
struct LongTilesPass {
  Ends ends;
  LongSortPass<typename Ends::Word> tiles;
};

// One merge pass of long arrays; `merge` says the rest: its rows are at most merge.row_count.
template <class Key>
struct LongMergePass {
  MergePass<Key> merge;
  LongArrays arrays;
  LongPasses passes;
  unsigned pass = 0;
};

// Where tiles and runs are between the passes.
template <class Key>
struct LongBuffers {
  Key* after_even_passes = nullptr;
  Key* after_odd_passes = nullptr;
  bool stores_mapped = false;  // in the last pass
};

// Sets the merge to pass `number`.
template <class Key>
GSORT_HOST_DEVICE constexpr void set_long_pass(LongMergePass<Key>& pass, unsigned number,
                                               const LongBuffers<Key>& buffers) {
  const unsigned passes_after = pass.passes.pass_count - 1 - number;
  const bool to_output = passes_after % 2 == 0;
  pass.pass = number;
  pass.merge.input = to_output ? buffers.after_odd_passes : buffers.after_even_passes;
  pass.merge.output = to_output ? buffers.after_even_passes : buffers.after_odd_passes;
  pass.merge.fan_in = pass.passes.fan_in(number);
  pass.merge.writes_samples = passes_after > 0;
  pass.merge.maps = passes_after == 0 && buffers.stores_mapped;
}

// All merge passes of listed long arrays.
template <class Key>
struct LongMergesPass {
  LongMergePass<Key> first;
  LongBuffers<Key> buffers;
};
// Blocks of long_merges_kernel on a multiprocessor.
inline constexpr unsigned kLongMergeBlocks = 4;

// Arrays of any lengths.
template <class Ends>
struct SegmentedPass {
  Ends ends;
  const std::uint64_t* offsets = nullptr;  // array_count + 1
  std::uint64_t array_count = 0;
  std::uint64_t longest = 0;    // there is room for no longer arrays
  std::uint64_t tile_keys = 0;  // the longest array that takes one tile
  WindowChoice windows;
  unsigned tiny_keys = 0;  // the longest array that the plan's kernel sorts: 0, 4, 8 or 16
  std::uint64_t window_count = 0;
  std::uint64_t* first_arrays = nullptr;  // of each window; kNoArray if it has none
  // Where tiny arrays are sorted by the plan's kernel, few windows may have others: these are
  // listed, in any order.
  std::uint32_t* listed_windows = nullptr;
  SegmentedCounts* counts = nullptr;
  std::uint64_t middle_window_count = 0;         // 0: no array can be of middle length
  LongArray* middle_arrays = nullptr;            // first_tile: the first of their rows
  std::uint64_t* first_middle_arrays = nullptr;  // of each of their windows
  LongArray* long_arrays = nullptr;
  LongArray* tile_arrays = nullptr;
};

template <class Ends>
void launch_batch_sort(const BatchSortPass<Ends>& pass, unsigned architecture, cudaStream_t stream);

// Tiles of arrays of one length, or of listed ones.
template <class Ends>
void launch_long_sort(const LongTilesPass<Ends>& pass, unsigned architecture, cudaStream_t stream);
template <class Ends>
void launch_listed_sort(const LongTilesPass<Ends>& pass, unsigned architecture,
                        cudaStream_t stream);

// Writes the rows of cuts that launch_kway_merge(pass.merge) reads, or launch_listed_merge(pass) of
// listed arrays. Element: the key type, or PairOf<Key, Value>, whose tuning the pass has.
template <class Element, class Key>
void launch_long_partition(const LongMergePass<Key>& pass, unsigned architecture,
                           cudaStream_t stream);
template <class Key>
void launch_listed_merge(const LongMergePass<Key>& pass, unsigned architecture,
                         cudaStream_t stream);
// The last pass over long arrays of pairs (last_pair_merge.cu).
void launch_last_pair_merge(const LongMergePass<PairEnds::Word>& pass, const PairEnds& ends,
                            unsigned architecture, cudaStream_t stream);
template <class Key>
void launch_long_merges(const LongMergesPass<Key>& pass, unsigned architecture,
                        cudaStream_t stream);

// Sorts the tiny arrays and fills the pass's tables. Requires: first_arrays all kNoArray, counts
// all zero; or longest <= tiny_keys, when it does not touch them.
template <class Ends>
void launch_segmented_plan(const SegmentedPass<Ends>& pass, unsigned architecture,
                           cudaStream_t stream);

// Sorts the short arrays that are not tiny, in all windows or in the listed ones.
template <class Ends>
void launch_segmented_sort(const SegmentedPass<Ends>& pass, unsigned architecture,
                           cudaStream_t stream);

// Sorts the listed middle arrays.
template <class Ends>
void launch_middle_sort(const SegmentedPass<Ends>& pass, unsigned architecture,
                        cudaStream_t stream);

}  // namespace gsort::gpu
