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

#include <array>
#include <type_traits>

#include "base/error.hpp"
#include "gpu/cuda/call_memory.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/segmented/queued_batch.hpp"
#include "gpu/sort/device_sort.hpp"
#include "gpu/sort/sort_memory.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kEvenOperation = "sorting a batch on the GPU";
constexpr const char* kSegmentedOperation = "sorting a segmented batch on the GPU";

std::uint64_t total_of(std::uint64_t array_count, std::uint64_t array_keys) {
  const bool fits = array_keys == 0 || array_count <= kMaxSortedKeys / array_keys;
  const std::uint64_t total = fits ? array_count * array_keys : kMaxSortedKeys + 1;
  require_count(total, kEvenOperation);
  return total;
}

template <class Sort>
void queue(const Sort& sort, const ArrayPlaces& arrays) {
  using Key = std::remove_pointer_t<decltype(sort.output)>;
  queue_batch<KeyEnds<Key>>({.ends = {.keys_in = sort.input,
                                      .keys_out = sort.output,
                                      .maps = EndMaps<Key>::of(sort.load_map, sort.store_map)},
                             .arrays = arrays,
                             .scratch = sort.scratch,
                             .stream = sort.stream});
}

}  // namespace

template <class Key>
std::size_t sort_batch_scratch_bytes(std::uint64_t array_count, std::uint64_t array_keys) {
  if (total_of(array_count, array_keys) == 0) return 0;
  if (array_count == 1) return sort_keys_scratch_bytes<Key>(array_keys);
  return batch_scratch_bytes<KeyEnds<Key>>({.array_count = array_count, .array_keys = array_keys});
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
  queue(sort, {.array_count = sort.array_count, .array_keys = sort.array_keys});
}

template <class Key>
std::size_t sort_segmented_batch_scratch_bytes(std::uint64_t array_count, std::uint64_t count,
                                               std::uint64_t longest) {
  require_count(count, kSegmentedOperation);
  require_count(array_count, kSegmentedOperation, "arrays");
  if (count == 0) return 0;
  static constexpr std::uint64_t kSomeOffsets = 0;  // they are not read
  return batch_scratch_bytes<KeyEnds<Key>>(
      {.array_count = array_count, .offsets = &kSomeOffsets, .count = count, .longest = longest});
}

template <class Key>
void sort_segmented_batch(const SegmentedSort<Key>& sort) {
  const auto& [input, output, offsets, array_count, count, longest, load_map, store_map, scratch,
               stream] = sort;
  require_count(count, kSegmentedOperation);
  require_count(array_count, kSegmentedOperation, "arrays");
  if (count == 0) return;
  if (array_count == 0) throw Error(ErrorKind::kUsage, kSegmentedOperation, "keys, but no arrays");
  const std::size_t needed = sort_segmented_batch_scratch_bytes<Key>(array_count, count, longest);
  const std::array inputs{extent_of(input, count, "the input"),
                          extent_of(offsets, array_count + 1, "the offsets")};
  const std::array outputs{extent_of(output, count, "the output")};
  require_call_memory({inputs, outputs, true, scratch, needed, kSegmentedOperation});
  queue(sort, {.array_count = array_count, .offsets = offsets, .count = count, .longest = longest});
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
