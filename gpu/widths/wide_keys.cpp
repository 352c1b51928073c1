// See any_width.hpp.
//
// Example of the two sorts, two digits a key: keys 31 12 32 11. Sorted by the lower digits their
// numbers are 0 3 1 2, and the upper digits in this order 3 1 1 3; a stable sort of these gives 3 1
// 0 2, the keys 11 12 31 32.
#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "gpu/cuda/call_memory.hpp"
#include "gpu/merge/merge_total.hpp"
#include "gpu/records/launch.hpp"
#include "gpu/sort/sort_memory.hpp"
#include "gpu/widths/any_width.hpp"
#include "gpu/widths/launch.hpp"

namespace gsort::gpu::wide {
namespace {

constexpr const char* kMergingArrays = "merging two arrays on the GPU";
constexpr const char* kMerging = "merging slices on the GPU";
constexpr const char* kBatch = "sorting a batch on the GPU";
constexpr const char* kSortingPairs = "sorting pairs on the GPU";
constexpr const char* kMergingPairs = "merging slices of pairs on the GPU";
constexpr const char* kMergingPairArrays = "merging two arrays of pairs on the GPU";
constexpr const char* kArgsort = "sorting indices on the GPU";
constexpr const char* kCopying = "copying keys on the GPU";

using Half = std::uint64_t;
constexpr unsigned kHalfBits = 64;
constexpr const std::uint32_t* kNoOrder = nullptr;

// A copy of all keys, and scratch memory for a call that has its keys there.
struct CopyScratch {
  UInt128* keys;
  ScratchMemory for_call;
  std::size_t bytes;

  CopyScratch(void* memory, std::uint64_t count, std::size_t call_bytes) {
    ScratchCutter cutter(memory);
    keys = cutter.take<UInt128>(count);
    const std::size_t begin = cutter.used_bytes();
    for_call = {cutter.take<std::byte>(call_bytes), call_bytes};
    bytes = begin + call_bytes;
  }
};

// Half keys, and scratch memory to sort them with numbers; afterwards keys or values in order, if
// they replace their input.
template <class Index>
struct OrderScratch {
  Half* halves;
  UInt128* staged;
  ScratchMemory for_sort;
  std::size_t bytes;

  OrderScratch(void* memory, std::uint64_t count) : staged(static_cast<UInt128*>(memory)) {
    const std::size_t sort_bytes = gpu::sort_pairs_scratch_bytes<Half, Index>(count);
    ScratchCutter cutter(memory);
    halves = cutter.take<Half>(count);
    const std::size_t begin = cutter.used_bytes();
    for_sort = {cutter.take<std::byte>(sort_bytes), sort_bytes};
    ScratchCutter staging(nullptr);
    static_cast<void>(staging.take<UInt128>(count));
    bytes = std::max(begin + sort_bytes, staging.used_bytes());
  }
};

// Writes the numbers of the keys in their stable order.
template <class Index>
void queue_order(const TwoArrays<UInt128>& keys, std::uint64_t count, const KeyMap<UInt128>& map,
                 Index* order, const OrderScratch<Index>& scratch, cudaStream_t stream) {
  launch_count_up(order, 0, count, stream);
  for (const unsigned shift : {0U, kHalfBits}) {
    launch_read_halves<Index>(keys, order, count, map, shift, scratch.halves, stream);
    gpu::sort_pairs<Half, Index>({.input = {scratch.halves, order},
                                  .output = {scratch.halves, order},
                                  .count = count,
                                  .scratch = scratch.for_sort,
                                  .stream = stream});
  }
}

// Calls f(Index{}) with the type that holds the numbers of `count` pairs.
template <class F>
decltype(auto) with_index_for(std::uint64_t count, const F& f) {
  constexpr std::uint64_t kMost32 = ~std::uint32_t{0};
  return count <= kMost32 ? f(std::uint32_t{}) : f(std::uint64_t{});
}

// The numbers of all pairs, and what sorts them.
template <class Index>
struct PairScratch {
  Index* order;
  OrderScratch<Index> sort;
  std::size_t bytes;

  PairScratch(void* memory, std::uint64_t count) : sort(nullptr, count) {
    ScratchCutter cutter(memory);
    order = cutter.take<Index>(count);
    sort = OrderScratch<Index>(cutter.take<std::byte>(sort.bytes), count);
    bytes = cutter.used_bytes();
  }
};

std::size_t pair_scratch_bytes(std::uint64_t count) {
  return with_index_for(
      count, [&](auto index) { return PairScratch<decltype(index)>(nullptr, count).bytes; });
}

// Pairs of one input or of two, and where they go.
template <class Value>
struct PairOrder {
  TwoArrays<UInt128> keys;
  TwoArrays<Value> values;
  std::uint64_t count = 0;
  Pairs<UInt128, Value> output;
  WideMaps maps;
  void* scratch = nullptr;
  cudaStream_t stream = nullptr;
};

template <class T>
void copy_back(const void* staged, T* to, std::uint64_t count, cudaStream_t stream) {
  check_cuda(cudaMemcpyAsync(to, staged, count * sizeof(T), cudaMemcpyDeviceToDevice, stream),
             CudaCall::kCopy, kCopying);
}

template <class Value>
void sort_in_order(const PairOrder<Value>& pairs) {
  with_index_for(pairs.count, [&](auto index) {
    using Index = decltype(index);
    const auto& [keys, values, count, output, maps, memory, stream] = pairs;
    const PairScratch<Index> scratch(memory, count);
    queue_order(keys, count, maps.load, scratch.order, scratch.sort, stream);
    const bool stages_keys = keys.first == output.keys;
    UInt128* const staged = scratch.sort.staged;
    launch_gather_wide_keys<Index>(keys, scratch.order, count, maps,
                                   stages_keys ? staged : output.keys, stream);
    if (stages_keys) copy_back(staged, output.keys, count, stream);
    const bool stages_values = values.first == output.values;
    Value* const staged_values = reinterpret_cast<Value*>(staged);
    launch_gather_values<Value, Index>(values, scratch.order, count,
                                       stages_values ? staged_values : output.values, stream);
    if (stages_values) copy_back(staged_values, output.values, count, stream);
  });
}

// Keys in order, which may replace the input, their numbers, which are not used, and scratch memory
// for a call.
struct BatchScratch {
  UInt128* keys;
  std::uint32_t* numbers;
  ScratchMemory for_call;
  std::size_t bytes;

  BatchScratch(void* memory, const ArrayPlaces& arrays, std::uint64_t count) {
    const std::size_t call_bytes = gpu::sort_pair_batch_scratch_bytes<UInt128>(arrays);
    ScratchCutter cutter(memory);
    keys = cutter.take<UInt128>(count);
    numbers = cutter.take<std::uint32_t>(count);
    const std::size_t begin = cutter.used_bytes();
    for_call = {cutter.take<std::byte>(call_bytes), call_bytes};
    bytes = begin + call_bytes;
  }
};

struct KeyBatch {
  const UInt128* input;
  UInt128* output;
  ArrayPlaces arrays;
  std::uint64_t count;
  KeyMap<UInt128> map;
  ScratchMemory scratch;
  cudaStream_t stream;
};

void sort_arrays(const KeyBatch& batch) {
  const auto& [input, output, arrays, count, map, scratch, stream] = batch;
  if (count == 0) return;
  if (arrays.array_count == 0) throw Error(ErrorKind::kUsage, kBatch, "keys, but no arrays");
  const std::size_t needed = BatchScratch(nullptr, arrays, count).bytes;
  const bool by_offsets = arrays.offsets != nullptr;
  const std::array inputs{
      extent_of(input, count, "the input"),
      extent_of(arrays.offsets, by_offsets ? arrays.array_count + 1 : 0, "the offsets")};
  const std::array outputs{extent_of(output, count, "the output")};
  require_call_memory({inputs, outputs, true, scratch, needed, kBatch});
  const BatchScratch places(scratch.memory, arrays, count);
  gpu::sort_pair_batch<UInt128, std::uint32_t>({.keys_in = input,
                                                .keys_out = places.keys,
                                                .values_out = places.numbers,
                                                .takes_numbers = true,
                                                .arrays = arrays,
                                                .map = map,
                                                .scratch = places.for_call,
                                                .stream = stream});
  copy_back(places.keys, output, count, stream);
}

}  // namespace

template <KeyOfTheseWidths Key>
std::size_t sort_keys_by_distribution_scratch_bytes(std::uint64_t count) {
  return sort_keys_scratch_bytes<Key>(count);
}

template <KeyOfTheseWidths Key>
void sort_keys_by_distribution(const KeySort<Key>& sort) {
  sort_keys(sort);
}

template <KeyOfTheseWidths Key>
std::size_t merge_arrays_scratch_bytes(std::uint64_t total) {
  return CopyScratch(nullptr, total, gpu::merge_arrays_scratch_bytes<Key>(total)).bytes;
}

template <KeyOfTheseWidths Key>
void merge_arrays(const ArrayMerge<Key>& merge) {
  const auto& [a, a_count, b, b_count, output, load_map, store_map, scratch, stream] = merge;
  if (load_map.is_identity()) return gpu::merge_arrays(merge);
  const std::uint64_t total = total_of(merge, kMergingArrays);
  if (total == 0) return;
  const auto inputs = both(extents_of(a, a_count, kAnInput), extents_of(b, b_count, kAnInput));
  const auto outputs = extents_of(output, total);
  require_call_memory(
      {inputs, outputs, false, scratch, merge_arrays_scratch_bytes<Key>(total), kMergingArrays});
  const CopyScratch places(scratch.memory, total, gpu::merge_arrays_scratch_bytes<Key>(total));
  launch_gather_wide_keys({a.keys, a_count, b.keys}, kNoOrder, total, {load_map, {}}, places.keys,
                          stream);
  gpu::merge_arrays<Key>({.a = places.keys,
                          .a_count = a_count,
                          .b = places.keys + a_count,
                          .b_count = b_count,
                          .output = output,
                          .store_map = store_map,
                          .scratch = places.for_call,
                          .stream = stream});
}

template <KeyOfTheseWidths Key>
std::size_t merge_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  const std::size_t call_bytes = gpu::merge_slices_scratch_bytes<Key>(total, slice_count);
  return CopyScratch(nullptr, total, call_bytes).bytes;
}

template <KeyOfTheseWidths Key>
void merge_slices(const SliceMerge<Key>& merge) {
  const auto& [input, slice_counts, slice_count, output, load_map, store_map, scratch, stream] =
      merge;
  if (load_map.is_identity()) return gpu::merge_slices(merge);
  const std::uint64_t total = total_of(merge, kMerging);
  if (total == 0) return;
  const auto inputs = extents_of(input, total, kInput);
  const auto outputs = extents_of(output, total);
  require_call_memory({inputs, outputs, false, scratch,
                       merge_slices_scratch_bytes<Key>(total, slice_count), kMerging});
  const CopyScratch places(scratch.memory, total,
                           gpu::merge_slices_scratch_bytes<Key>(total, slice_count));
  launch_gather_wide_keys({input.keys, total, nullptr}, kNoOrder, total, {load_map, {}},
                          places.keys, stream);
  gpu::merge_slices<Key>({.input = places.keys,
                          .slice_counts = slice_counts,
                          .slice_count = slice_count,
                          .output = output,
                          .store_map = store_map,
                          .scratch = places.for_call,
                          .stream = stream});
}

template <KeyOfTheseWidths Key>
std::size_t sort_batch_scratch_bytes(std::uint64_t array_count, std::uint64_t array_keys) {
  if (array_count == 1) return sort_keys_scratch_bytes<Key>(array_keys);
  const ArrayPlaces arrays{.array_count = array_count, .array_keys = array_keys};
  const std::size_t call_bytes = gpu::sort_pair_batch_scratch_bytes<Key>(arrays);
  return call_bytes == 0 ? 0 : BatchScratch(nullptr, arrays, array_count * array_keys).bytes;
}

template <KeyOfTheseWidths Key>
void sort_batch(const BatchSort<Key>& sort) {
  const auto& [input, output, array_count, array_keys, load_map, store_map, scratch, stream] = sort;
  if (array_count == 1) {
    return sort_keys<Key>({input, output, array_keys, load_map, store_map, scratch, stream});
  }
  const ArrayPlaces arrays{.array_count = array_count, .array_keys = array_keys};
  if (gpu::sort_pair_batch_scratch_bytes<Key>(arrays) == 0) return;
  sort_arrays({input, output, arrays, array_count * array_keys, load_map, scratch, stream});
}

template <KeyOfTheseWidths Key>
std::size_t sort_segmented_batch_scratch_bytes(std::uint64_t array_count, std::uint64_t count,
                                               std::uint64_t longest) {
  // Nothing is read there: offsets mean that arrays have lengths of their own.
  static constexpr std::uint64_t kSomeOffset = 0;
  const ArrayPlaces arrays{
      .array_count = array_count, .offsets = &kSomeOffset, .count = count, .longest = longest};
  return count == 0 ? 0 : BatchScratch(nullptr, arrays, count).bytes;
}

template <KeyOfTheseWidths Key>
void sort_segmented_batch(const SegmentedSort<Key>& sort) {
  const auto& [input, output, offsets, array_count, count, longest, load_map, store_map, scratch,
               stream] = sort;
  // Without them arrays would be of one length.
  if (count > 0) require_memory(offsets, 1, sizeof(*offsets), kBatch, "the offsets");
  sort_arrays({input,
               output,
               {.array_count = array_count, .offsets = offsets, .count = count, .longest = longest},
               count,
               load_map,
               scratch,
               stream});
}

template <KeyOfTheseWidths Key, class Value>
std::size_t sort_many_pairs_scratch_bytes(std::uint64_t count) {
  return pair_scratch_bytes(count);
}

template <KeyOfTheseWidths Key, class Value>
void sort_many_pairs(const PairSort<Key, Value>& sort) {
  const auto& [input, output, count, load_map, store_map, scratch, stream] = sort;
  if (count == 0) return;
  require_sort_memory(sort, pair_scratch_bytes(count), kSortingPairs);
  sort_in_order<Value>({{input.keys, count, nullptr},
                        {input.values, count, nullptr},
                        count,
                        output,
                        {load_map, store_map},
                        scratch.memory,
                        stream});
}

template <KeyOfTheseWidths Key, class Value>
std::size_t merge_pair_arrays_scratch_bytes(std::uint64_t total) {
  return pair_scratch_bytes(total);
}

template <KeyOfTheseWidths Key, class Value>
void merge_pair_arrays(const PairArrayMerge<Key, Value>& merge) {
  const auto& [a, a_count, b, b_count, output, load_map, store_map, scratch, stream] = merge;
  const std::uint64_t total = total_of(merge, kMergingPairArrays);
  if (total == 0) return;
  const auto inputs = both(extents_of(a, a_count, kAnInput), extents_of(b, b_count, kAnInput));
  const auto outputs = extents_of(output, total);
  require_call_memory(
      {inputs, outputs, false, scratch, pair_scratch_bytes(total), kMergingPairArrays});
  sort_in_order<Value>({{a.keys, a_count, b.keys},
                        {a.values, a_count, b.values},
                        total,
                        output,
                        {load_map, store_map},
                        scratch.memory,
                        stream});
}

template <KeyOfTheseWidths Key, class Value>
std::size_t merge_pair_slices_scratch_bytes(std::uint64_t total, std::uint32_t /*slice_count*/) {
  return pair_scratch_bytes(total);
}

template <KeyOfTheseWidths Key, class Value>
void merge_pair_slices(const PairSliceMerge<Key, Value>& merge) {
  const auto& [input, slice_counts, slice_count, output, load_map, store_map, scratch, stream] =
      merge;
  merge_pair_arrays<Key, Value>({.a = input,
                                 .a_count = total_of(merge, kMergingPairs),
                                 .output = output,
                                 .load_map = load_map,
                                 .store_map = store_map,
                                 .scratch = scratch,
                                 .stream = stream});
}

template <KeyOfTheseWidths Key, class Index>
std::size_t argsort_scratch_bytes(std::uint64_t count) {
  static_cast<void>(gpu::argsort_scratch_bytes<Half, Index>(count));  // throws what argsort throws
  return OrderScratch<Index>(nullptr, count).bytes;
}

template <KeyOfTheseWidths Key, class Index>
void argsort(const KeyArgsort<Key, Index>& sort) {
  const auto& [keys, indices, count, load_map, scratch, stream] = sort;
  if (count == 0) return;
  const std::array inputs{extent_of(keys, count, "the keys")};
  const std::array outputs{extent_of(indices, count, "the indices")};
  require_call_memory(
      {inputs, outputs, false, scratch, argsort_scratch_bytes<Key, Index>(count), kArgsort});
  const OrderScratch<Index> places(scratch.memory, count);
  queue_order<Index>({keys, count, nullptr}, count, load_map, indices, places, stream);
}

GSORT_KEY_CALLS(GSORT_INSTANTIATE_KEY_CALL, UInt128)
GSORT_PAIR_CALLS(GSORT_INSTANTIATE_PAIR_CALL, UInt128, std::uint32_t)
GSORT_PAIR_CALLS(GSORT_INSTANTIATE_PAIR_CALL, UInt128, std::uint64_t)

}  // namespace gsort::gpu::wide
