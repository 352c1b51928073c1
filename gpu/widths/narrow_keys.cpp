// See any_width.hpp. Words are ordered numbers, so the calls on them have no maps.
#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "gpu/cuda/call_memory.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/merge/merge_total.hpp"
#include "gpu/sort/sort_memory.hpp"
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

// Sorts words in place of keys: call(places) sorts places.words.
template <class Key, class Value, class Call>
void sort_as_words(const ElementSort<Key, Value>& sort, std::size_t call_bytes,
                   const char* operation, const Call& call) {
  const auto& [input, output, count, load_map, store_map, scratch, stream] = sort;
  require_sort_memory(sort, bytes_in_place(count, call_bytes), operation);
  const WordScratch places(scratch.memory, count, false, call_bytes);
  launch_widen(input.keys, count, load_map, places.words, stream);
  call(places);
  launch_narrow(places.words, count, store_map, output.keys, stream);
}

template <class Value>
std::size_t merge_arrays_call_bytes(std::uint64_t total) {
  if constexpr (kHasValues<Value>) {
    return gpu::merge_pair_arrays_scratch_bytes<Word, Value>(total);
  } else {
    return gpu::merge_arrays_scratch_bytes<Word>(total);
  }
}

template <class Key, class Value>
void merge_arrays_as_words(const ElementArrayMerge<Key, Value>& merge, const char* operation) {
  const auto& [a, a_count, b, b_count, output, load_map, store_map, scratch, stream] = merge;
  const std::uint64_t total = total_of(merge, operation);
  if (total == 0) return;
  const std::size_t call_bytes = merge_arrays_call_bytes<Value>(total);
  const auto inputs = both(extents_of(a, a_count, kAnInput), extents_of(b, b_count, kAnInput));
  const auto outputs = extents_of(output, total);
  require_call_memory({inputs, outputs, false, scratch, bytes_apart(total, call_bytes), operation});
  const WordScratch places(scratch.memory, total, true, call_bytes);
  launch_widen(a.keys, a_count, load_map, places.words, stream);
  launch_widen(b.keys, b_count, load_map, places.words + a_count, stream);
  const ElementArrayMerge<Word, Value> words{.a = {places.words, a.values},
                                             .a_count = a_count,
                                             .b = {places.words + a_count, b.values},
                                             .b_count = b_count,
                                             .output = {places.merged, output.values},
                                             .scratch = places.for_call,
                                             .stream = stream};
  if constexpr (kHasValues<Value>) {
    gpu::merge_pair_arrays(words);
  } else {
    gpu::merge_arrays(words);
  }
  launch_narrow(places.merged, total, store_map, output.keys, stream);
}

template <class Value>
std::size_t merge_slices_call_bytes(std::uint64_t total, std::uint32_t slice_count) {
  if constexpr (kHasValues<Value>) {
    return gpu::merge_pair_slices_scratch_bytes<Word, Value>(total, slice_count);
  } else {
    return gpu::merge_slices_scratch_bytes<Word>(total, slice_count);
  }
}

template <class Key, class Value>
void merge_slices_as_words(const ElementSliceMerge<Key, Value>& merge, const char* operation) {
  const auto& [input, slice_counts, slice_count, output, load_map, store_map, scratch, stream] =
      merge;
  const std::uint64_t total = total_of(merge, operation);
  if (total == 0) return;
  const std::size_t call_bytes = merge_slices_call_bytes<Value>(total, slice_count);
  const auto inputs = extents_of(input, total, kInput);
  const auto outputs = extents_of(output, total);
  require_call_memory({inputs, outputs, false, scratch, bytes_apart(total, call_bytes), operation});
  const WordScratch places(scratch.memory, total, true, call_bytes);
  launch_widen(input.keys, total, load_map, places.words, stream);
  const ElementSliceMerge<Word, Value> words{.input = {places.words, input.values},
                                             .slice_counts = slice_counts,
                                             .slice_count = slice_count,
                                             .output = {places.merged, output.values},
                                             .scratch = places.for_call,
                                             .stream = stream};
  if constexpr (kHasValues<Value>) {
    gpu::merge_pair_slices(words);
  } else {
    gpu::merge_slices(words);
  }
  launch_narrow(places.merged, total, store_map, output.keys, stream);
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
  if (sort.count == 0) return;
  if (sort.count >= kLeastCountedKeys) {
    const std::size_t needed = narrow::sort_keys_by_distribution_scratch_bytes<Key>(sort.count);
    require_sort_memory(sort, needed, kSorting);
    return launch_counted_sort(sort, CountScratch<Key>(sort.scratch.memory).places);
  }
  const std::size_t call_bytes = gpu::sort_keys_by_distribution_scratch_bytes<Word>(sort.count);
  sort_as_words(sort, call_bytes, kSorting, [&](const WordScratch& places) {
    gpu::sort_keys_by_distribution<Word>({.input = places.words,
                                          .output = places.words,
                                          .count = sort.count,
                                          .scratch = places.for_call,
                                          .stream = sort.stream});
  });
}

template <KeyOfTheseWidths Key>
std::size_t merge_arrays_scratch_bytes(std::uint64_t total) {
  return bytes_apart(total, merge_arrays_call_bytes<NoValue>(total));
}

template <KeyOfTheseWidths Key>
void merge_arrays(const ArrayMerge<Key>& merge) {
  merge_arrays_as_words(merge, kMergingArrays);
}

template <KeyOfTheseWidths Key>
std::size_t merge_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  return bytes_apart(total, merge_slices_call_bytes<NoValue>(total, slice_count));
}

template <KeyOfTheseWidths Key>
void merge_slices(const SliceMerge<Key>& merge) {
  merge_slices_as_words(merge, kMerging);
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
  const KeySort<Key> all{input, output, count, load_map, store_map, scratch, stream};
  sort_as_words(all, call_bytes, kBatch, [&](const WordScratch& places) {
    gpu::sort_batch<Word>({.input = places.words,
                           .output = places.words,
                           .array_count = sort.array_count,
                           .array_keys = sort.array_keys,
                           .scratch = places.for_call,
                           .stream = sort.stream});
  });
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
  const Extent bounds = extent_of(offsets, array_count + 1, "the offsets");
  require_memory(offsets, bounds.bytes, bounds.alignment, kSegmented, bounds.name);
  require_written_apart(extent_of(output, count, "the output"), bounds, kSegmented);
  require_apart(offsets, bounds.bytes, scratch.memory, scratch.bytes, kSegmented,
                "offsets and scratch memory");
  const KeySort<Key> all{input, output, count, load_map, store_map, scratch, stream};
  sort_as_words(all, call_bytes, kSegmented, [&](const WordScratch& places) {
    gpu::sort_segmented_batch<Word>({.input = places.words,
                                     .output = places.words,
                                     .offsets = sort.offsets,
                                     .array_count = sort.array_count,
                                     .count = sort.count,
                                     .longest = sort.longest,
                                     .scratch = places.for_call,
                                     .stream = sort.stream});
  });
}

template <KeyOfTheseWidths Key, class Value>
std::size_t sort_many_pairs_scratch_bytes(std::uint64_t count) {
  return bytes_in_place(count, gpu::sort_many_pairs_scratch_bytes<Word, Value>(count));
}

template <KeyOfTheseWidths Key, class Value>
void sort_many_pairs(const PairSort<Key, Value>& sort) {
  if (sort.count == 0) return;
  const std::size_t call_bytes = gpu::sort_many_pairs_scratch_bytes<Word, Value>(sort.count);
  sort_as_words(sort, call_bytes, kSortingPairs, [&](const WordScratch& places) {
    gpu::sort_many_pairs<Word, Value>({.input = {places.words, sort.input.values},
                                       .output = {places.words, sort.output.values},
                                       .count = sort.count,
                                       .scratch = places.for_call,
                                       .stream = sort.stream});
  });
}

template <KeyOfTheseWidths Key, class Value>
std::size_t merge_pair_arrays_scratch_bytes(std::uint64_t total) {
  return bytes_apart(total, merge_arrays_call_bytes<Value>(total));
}

template <KeyOfTheseWidths Key, class Value>
void merge_pair_arrays(const PairArrayMerge<Key, Value>& merge) {
  merge_arrays_as_words(merge, kMergingPairArrays);
}

template <KeyOfTheseWidths Key, class Value>
std::size_t merge_pair_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  return bytes_apart(total, merge_slices_call_bytes<Value>(total, slice_count));
}

template <KeyOfTheseWidths Key, class Value>
void merge_pair_slices(const PairSliceMerge<Key, Value>& merge) {
  merge_slices_as_words(merge, kMergingPairs);
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

#define GSORT_NARROW_KEYS(Key)                                      \
  GSORT_KEY_CALLS(GSORT_INSTANTIATE_KEY_CALL, Key)                  \
  GSORT_PAIR_CALLS(GSORT_INSTANTIATE_PAIR_CALL, Key, std::uint32_t) \
  GSORT_PAIR_CALLS(GSORT_INSTANTIATE_PAIR_CALL, Key, std::uint64_t)
GSORT_NARROW_KEYS(std::uint8_t)
GSORT_NARROW_KEYS(std::uint16_t)
#undef GSORT_NARROW_KEYS

}  // namespace gsort::gpu::narrow
