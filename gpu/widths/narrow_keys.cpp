// See any_width.hpp. Words are ordered numbers, so the calls on them have no maps.
#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "gpu/cuda/call_memory.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/merge/merge_shape.hpp"
#include "gpu/segmented/pair_batch_memory.hpp"
#include "gpu/widths/any_width.hpp"
#include "gpu/widths/launch.hpp"

namespace gsort::gpu::narrow {
namespace {

constexpr const char* kSorting = "sorting keys on the GPU";
constexpr const char* kMergingArrays = "merging two arrays on the GPU";
constexpr const char* kMerging = "merging slices on the GPU";
constexpr const char* kBatch = "sorting a batch on the GPU";
constexpr const char* kSegmented = "sorting a segmented batch on the GPU";
constexpr const char* kSortingPairs = "sorting pairs on the GPU";
constexpr const char* kMergingPairs = "merging slices of pairs on the GPU";
constexpr const char* kMergingPairArrays = "merging two arrays of pairs on the GPU";
constexpr const char* kArgsort = "sorting indices on the GPU";

using Word = std::uint32_t;

// Words of all keys, those that a merge writes, and scratch memory for a call on words.
struct WordScratch {
  Word* words;
  Word* merged;
  ScratchMemory for_call;
  std::size_t bytes;

  // Requires: call_bytes is of a call that has checked the count.
  WordScratch(void* memory, std::uint64_t count, bool merges, std::size_t call_bytes) {
    ScratchCutter cutter(memory);
    words = cutter.take<Word>(count);
    merged = cutter.take<Word>(merges ? count : 0);
    const std::size_t begin = cutter.used_bytes();
    for_call = {cutter.take<std::byte>(call_bytes), call_bytes};
    bytes = begin + call_bytes;
  }
};

// So many keys or more are counted; fewer are sorted as words.
constexpr std::uint64_t kLeastCountedKeys = std::uint64_t{1} << 16;

// The scratch memory of a sort by counting.
template <class Key>
struct CountScratch {
  NumberCounts places;
  std::size_t bytes;

  explicit CountScratch(void* memory) {
    ScratchCutter cutter(memory);
    places.counts = cutter.take<std::uint64_t>(kNumbers<Key>);
    places.begins = cutter.take<std::uint64_t>(kNumbers<Key> + 1);
    bytes = cutter.used_bytes();
  }
};

// For queries.
std::size_t bytes_in_place(std::uint64_t count, std::size_t call_bytes) {
  return WordScratch(nullptr, count, false, call_bytes).bytes;
}
std::size_t bytes_apart(std::uint64_t count, std::size_t call_bytes) {
  return WordScratch(nullptr, count, true, call_bytes).bytes;
}

// Pairs of all arrays. Requires: a query for them has not thrown.
std::uint64_t count_of(const ArrayPlaces& arrays) {
  return arrays.offsets != nullptr ? arrays.count : arrays.array_count * arrays.array_keys;
}

}  // namespace

template <KeyOfTheseWidths Key>
std::size_t sort_keys_by_distribution_scratch_bytes(std::uint64_t count) {
  const std::uint64_t words = std::min(count, kLeastCountedKeys);  // more need no less
  const std::size_t bytes =
      bytes_in_place(words, gpu::sort_keys_by_distribution_scratch_bytes<Word>(words));
  require_count(count, kSorting);
  return count < kLeastCountedKeys ? bytes : std::max(bytes, CountScratch<Key>(nullptr).bytes);
}

template <KeyOfTheseWidths Key>
void sort_keys_by_distribution(const KeySort<Key>& sort) {
  const auto& [input, output, count, load_map, store_map, scratch, stream] = sort;
  if (count == 0) return;
  const std::array inputs{extent_of(input, count, "the input")};
  const std::array outputs{extent_of(output, count, "the output")};
  require_call_memory({inputs, outputs, true, scratch,
                       narrow::sort_keys_by_distribution_scratch_bytes<Key>(count), kSorting});
  if (count >= kLeastCountedKeys) {
    return launch_counted_sort(sort, CountScratch<Key>(scratch.memory).places);
  }
  const std::size_t call_bytes = gpu::sort_keys_by_distribution_scratch_bytes<Word>(count);
  const WordScratch places(scratch.memory, count, false, call_bytes);
  launch_widen(input, count, load_map, places.words, stream);
  gpu::sort_keys_by_distribution<Word>({.input = places.words,
                                        .output = places.words,
                                        .count = count,
                                        .scratch = places.for_call,
                                        .stream = stream});
  launch_narrow(places.words, count, store_map, output, stream);
}

template <KeyOfTheseWidths Key>
std::size_t merge_arrays_scratch_bytes(std::uint64_t total) {
  return bytes_apart(total, gpu::merge_arrays_scratch_bytes<Word>(total));
}

template <KeyOfTheseWidths Key>
void merge_arrays(const ArrayMerge<Key>& merge) {
  const auto& [a, a_count, b, b_count, output, load_map, store_map, scratch, stream] = merge;
  const std::array counts{a_count, b_count};
  const std::uint64_t total = sum_of_slices(counts.data(), 2, kMergingArrays);
  if (total == 0) return;
  const std::size_t call_bytes = gpu::merge_arrays_scratch_bytes<Word>(total);
  const std::array inputs{extent_of(a, a_count, "an input"), extent_of(b, b_count, "an input")};
  const std::array outputs{extent_of(output, total, "the output")};
  require_call_memory(
      {inputs, outputs, false, scratch, bytes_apart(total, call_bytes), kMergingArrays});
  const WordScratch places(scratch.memory, total, true, call_bytes);
  launch_widen(a, a_count, load_map, places.words, stream);
  launch_widen(b, b_count, load_map, places.words + a_count, stream);
  gpu::merge_arrays<Word>({.a = places.words,
                           .a_count = a_count,
                           .b = places.words + a_count,
                           .b_count = b_count,
                           .output = places.merged,
                           .scratch = places.for_call,
                           .stream = stream});
  launch_narrow(places.merged, total, store_map, output, stream);
}

template <KeyOfTheseWidths Key>
std::size_t merge_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  return bytes_apart(total, gpu::merge_slices_scratch_bytes<Word>(total, slice_count));
}

template <KeyOfTheseWidths Key>
void merge_slices(const SliceMerge<Key>& merge) {
  const auto& [input, slice_counts, slice_count, output, load_map, store_map, scratch, stream] =
      merge;
  require_memory(slice_counts, slice_count, 1, kMerging, "the table of slice counts");
  const std::uint64_t total = sum_of_slices(slice_counts, slice_count, kMerging);
  if (total == 0) return;
  const std::size_t call_bytes = gpu::merge_slices_scratch_bytes<Word>(total, slice_count);
  const std::array inputs{extent_of(input, total, "the input")};
  const std::array outputs{extent_of(output, total, "the output")};
  require_call_memory({inputs, outputs, false, scratch, bytes_apart(total, call_bytes), kMerging});
  const WordScratch places(scratch.memory, total, true, call_bytes);
  launch_widen(input, total, load_map, places.words, stream);
  gpu::merge_slices<Word>({.input = places.words,
                           .slice_counts = slice_counts,
                           .slice_count = slice_count,
                           .output = places.merged,
                           .scratch = places.for_call,
                           .stream = stream});
  launch_narrow(places.merged, total, store_map, output, stream);
}

template <KeyOfTheseWidths Key>
std::size_t sort_batch_scratch_bytes(std::uint64_t array_count, std::uint64_t array_keys) {
  const std::size_t call_bytes = gpu::sort_batch_scratch_bytes<Word>(array_count, array_keys);
  return bytes_in_place(array_count * array_keys, call_bytes);
}

template <KeyOfTheseWidths Key>
void sort_batch(const BatchSort<Key>& sort) {
  const auto& [input, output, array_count, array_keys, load_map, store_map, scratch, stream] = sort;
  const std::size_t call_bytes = gpu::sort_batch_scratch_bytes<Word>(array_count, array_keys);
  const std::uint64_t count = array_count * array_keys;
  if (count == 0) return;
  const std::array inputs{extent_of(input, count, "the input")};
  const std::array outputs{extent_of(output, count, "the output")};
  require_call_memory({inputs, outputs, true, scratch, bytes_in_place(count, call_bytes), kBatch});
  const WordScratch places(scratch.memory, count, false, call_bytes);
  launch_widen(input, count, load_map, places.words, stream);
  gpu::sort_batch<Word>({.input = places.words,
                         .output = places.words,
                         .array_count = array_count,
                         .array_keys = array_keys,
                         .scratch = places.for_call,
                         .stream = stream});
  launch_narrow(places.words, count, store_map, output, stream);
}

template <KeyOfTheseWidths Key>
std::size_t sort_segmented_batch_scratch_bytes(std::uint64_t array_count, std::uint64_t count,
                                               std::uint64_t longest) {
  const std::size_t call_bytes =
      gpu::sort_segmented_batch_scratch_bytes<Word>(array_count, count, longest);
  return bytes_in_place(count, call_bytes);
}

template <KeyOfTheseWidths Key>
void sort_segmented_batch(const SegmentedSort<Key>& sort) {
  const auto& [input, output, offsets, array_count, count, longest, load_map, store_map, scratch,
               stream] = sort;
  const std::size_t call_bytes =
      gpu::sort_segmented_batch_scratch_bytes<Word>(array_count, count, longest);
  if (count == 0) return;
  if (array_count == 0) throw Error(ErrorKind::kUsage, kSegmented, "keys, but no arrays");
  const std::array inputs{extent_of(input, count, "the input")};
  const std::array outputs{extent_of(output, count, "the output")};
  require_call_memory(
      {inputs, outputs, true, scratch, bytes_in_place(count, call_bytes), kSegmented});
  const Extent bounds = extent_of(offsets, array_count + 1, "the offsets");
  require_memory(offsets, bounds.bytes, bounds.alignment, kSegmented, bounds.name);
  require_written_apart(outputs[0], bounds, kSegmented);
  require_apart(offsets, bounds.bytes, scratch.memory, scratch.bytes, kSegmented,
                "offsets and scratch memory");
  const WordScratch places(scratch.memory, count, false, call_bytes);
  launch_widen(input, count, load_map, places.words, stream);
  gpu::sort_segmented_batch<Word>({.input = places.words,
                                   .output = places.words,
                                   .offsets = offsets,
                                   .array_count = array_count,
                                   .count = count,
                                   .longest = longest,
                                   .scratch = places.for_call,
                                   .stream = stream});
  launch_narrow(places.words, count, store_map, output, stream);
}

template <KeyOfTheseWidths Key, class Value>
std::size_t sort_pairs_by_distribution_scratch_bytes(std::uint64_t count) {
  return bytes_in_place(count, gpu::sort_pairs_scratch_bytes<Word, Value>(count));
}

template <KeyOfTheseWidths Key, class Value>
void sort_pairs_by_distribution(const PairSort<Key, Value>& sort) {
  const auto& [input, output, count, load_map, store_map, scratch, stream] = sort;
  if (count == 0) return;
  const std::size_t call_bytes = gpu::sort_pairs_scratch_bytes<Word, Value>(count);
  const std::array inputs{extent_of(input.keys, count, "the input's keys"),
                          extent_of(input.values, count, "the input's values")};
  const std::array outputs{extent_of(output.keys, count, "the output's keys"),
                           extent_of(output.values, count, "the output's values")};
  require_call_memory(
      {inputs, outputs, true, scratch, bytes_in_place(count, call_bytes), kSortingPairs});
  const WordScratch places(scratch.memory, count, false, call_bytes);
  launch_widen(input.keys, count, load_map, places.words, stream);
  gpu::sort_pairs<Word, Value>({.input = {places.words, input.values},
                                .output = {places.words, output.values},
                                .count = count,
                                .scratch = places.for_call,
                                .stream = stream});
  launch_narrow(places.words, count, store_map, output.keys, stream);
}

template <KeyOfTheseWidths Key, class Value>
std::size_t merge_pair_arrays_scratch_bytes(std::uint64_t total) {
  return bytes_apart(total, gpu::merge_pair_arrays_scratch_bytes<Word, Value>(total));
}

template <KeyOfTheseWidths Key, class Value>
void merge_pair_arrays(const PairArrayMerge<Key, Value>& merge) {
  const auto& [a, a_count, b, b_count, output, load_map, store_map, scratch, stream] = merge;
  const std::array counts{a_count, b_count};
  const std::uint64_t total = sum_of_slices(counts.data(), 2, kMergingPairArrays, "pairs");
  if (total == 0) return;
  const std::size_t call_bytes = gpu::merge_pair_arrays_scratch_bytes<Word, Value>(total);
  const std::array inputs{extent_of(a.keys, a_count, "an input's keys"),
                          extent_of(a.values, a_count, "an input's values"),
                          extent_of(b.keys, b_count, "an input's keys"),
                          extent_of(b.values, b_count, "an input's values")};
  const std::array outputs{extent_of(output.keys, total, "the output's keys"),
                           extent_of(output.values, total, "the output's values")};
  require_call_memory(
      {inputs, outputs, false, scratch, bytes_apart(total, call_bytes), kMergingPairArrays});
  const WordScratch places(scratch.memory, total, true, call_bytes);
  launch_widen(a.keys, a_count, load_map, places.words, stream);
  launch_widen(b.keys, b_count, load_map, places.words + a_count, stream);
  gpu::merge_pair_arrays<Word, Value>({.a = {places.words, a.values},
                                       .a_count = a_count,
                                       .b = {places.words + a_count, b.values},
                                       .b_count = b_count,
                                       .output = {places.merged, output.values},
                                       .scratch = places.for_call,
                                       .stream = stream});
  launch_narrow(places.merged, total, store_map, output.keys, stream);
}

template <KeyOfTheseWidths Key, class Value>
std::size_t merge_pair_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  return bytes_apart(total, gpu::merge_pair_slices_scratch_bytes<Word, Value>(total, slice_count));
}

template <KeyOfTheseWidths Key, class Value>
void merge_pair_slices(const PairSliceMerge<Key, Value>& merge) {
  const auto& [input, slice_counts, slice_count, output, load_map, store_map, scratch, stream] =
      merge;
  require_memory(slice_counts, slice_count, 1, kMergingPairs, "the table of slice counts");
  const std::uint64_t total = sum_of_slices(slice_counts, slice_count, kMergingPairs, "pairs");
  if (total == 0) return;
  const std::size_t call_bytes =
      gpu::merge_pair_slices_scratch_bytes<Word, Value>(total, slice_count);
  const std::array inputs{extent_of(input.keys, total, "the input's keys"),
                          extent_of(input.values, total, "the input's values")};
  const std::array outputs{extent_of(output.keys, total, "the output's keys"),
                           extent_of(output.values, total, "the output's values")};
  require_call_memory(
      {inputs, outputs, false, scratch, bytes_apart(total, call_bytes), kMergingPairs});
  const WordScratch places(scratch.memory, total, true, call_bytes);
  launch_widen(input.keys, total, load_map, places.words, stream);
  gpu::merge_pair_slices<Word, Value>({.input = {places.words, input.values},
                                       .slice_counts = slice_counts,
                                       .slice_count = slice_count,
                                       .output = {places.merged, output.values},
                                       .scratch = places.for_call,
                                       .stream = stream});
  launch_narrow(places.merged, total, store_map, output.keys, stream);
}

template <KeyOfTheseWidths Key, class Index>
std::size_t argsort_scratch_bytes(std::uint64_t count) {
  return bytes_in_place(count, gpu::argsort_scratch_bytes<Word, Index>(count));
}

template <KeyOfTheseWidths Key, class Index>
void argsort(const KeyArgsort<Key, Index>& sort) {
  const auto& [keys, indices, count, load_map, scratch, stream] = sort;
  if (count == 0) return;
  const std::size_t call_bytes = gpu::argsort_scratch_bytes<Word, Index>(count);
  const std::array inputs{extent_of(keys, count, "the keys")};
  const std::array outputs{extent_of(indices, count, "the indices")};
  require_call_memory(
      {inputs, outputs, false, scratch, bytes_in_place(count, call_bytes), kArgsort});
  const WordScratch places(scratch.memory, count, false, call_bytes);
  launch_widen(keys, count, load_map, places.words, stream);
  gpu::argsort<Word, Index>({.keys = places.words,
                             .indices = indices,
                             .count = count,
                             .scratch = places.for_call,
                             .stream = stream});
}

template <KeyOfTheseWidths Key>
std::size_t sort_pair_batch_scratch_bytes(const ArrayPlaces& arrays) {
  const std::size_t call_bytes = gpu::sort_pair_batch_scratch_bytes<Word>(arrays);
  return bytes_apart(count_of(arrays), call_bytes);
}

template <KeyOfTheseWidths Key, class Value>
void sort_pair_batch(const PairBatchSort<Key, Value>& sort) {
  const ArrayPlaces& arrays = sort.arrays;
  const std::size_t call_bytes = gpu::sort_pair_batch_scratch_bytes<Word>(arrays);
  const std::uint64_t count = count_of(arrays);
  if (count == 0) return;
  require_batch_memory(sort, count, bytes_apart(count, call_bytes));
  const WordScratch places(sort.scratch.memory, count, true, call_bytes);
  launch_widen(sort.keys_in, count, sort.map, places.words, sort.stream);
  gpu::sort_pair_batch<Word, Value>({.keys_in = places.words,
                                     .keys_out = sort.keys_out == nullptr ? nullptr : places.merged,
                                     .values_in = sort.values_in,
                                     .values_out = sort.values_out,
                                     .takes_numbers = sort.takes_numbers,
                                     .arrays = arrays,
                                     .scratch = places.for_call,
                                     .stream = sort.stream});
  if (sort.keys_out == nullptr) return;
  launch_narrow(places.merged, count, sort.map, sort.keys_out, sort.stream);
}

#define GSORT_NARROW_PAIRS(Key, Value)                      \
  GSORT_PAIR_CALLS(GSORT_INSTANTIATE_PAIR_CALL, Key, Value) \
  template void sort_pair_batch(const PairBatchSort<Key, Value>&);
#define GSORT_NARROW_KEYS(Key)                                                 \
  GSORT_KEY_CALLS(GSORT_INSTANTIATE_KEY_CALL, Key)                             \
  template std::size_t sort_pair_batch_scratch_bytes<Key>(const ArrayPlaces&); \
  GSORT_NARROW_PAIRS(Key, std::uint32_t)                                       \
  GSORT_NARROW_PAIRS(Key, std::uint64_t)
GSORT_NARROW_KEYS(std::uint8_t)
GSORT_NARROW_KEYS(std::uint16_t)
#undef GSORT_NARROW_KEYS
#undef GSORT_NARROW_PAIRS

}  // namespace gsort::gpu::narrow
