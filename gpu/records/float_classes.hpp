// Keeps the bits of floats that are equal in numeric order: -0 and +0 are a class, all NaN another.
//
// Problem. Sorts and merges of pairs move ordered numbers. Equal floats keep their order only if
// they have one number, which loses the sign of a zero and the bits of NaN.
//
// Idea. Pairs of a class keep their order, so its keys in the result are those of the input, in the
// same order. A sort by such numbers gives the right values, and the right keys except those of
// the classes, which are all +0, or the quiet NaN without a sign. If the input has others, its keys
// of both classes are copied to their places; if keys are sorted in place, to scratch
// memory before the sort, and from there to their places after it.
//
// Example, values as letters. Input +0a 1b -0c -1d, sorted -1d +0a +0c 1b: the zeros begin at 1,
// and those of the input are +0 -0.
//
// Cost. One read of the keys, and a second one if they have -0 or unusual NaN. A sort that is not
// in place reads them only if the sorted keys have zeros or NaN. Merges search for the classes, and
// read no other keys. On an H200, sorts of 2^28 pairs of f32 with u32, merges of two such arrays,
// and sorts in place take 1.6, 1.9 and 4.9% longer than by bits; if a tenth of the keys is +0, 5, 9
// and 5%; if a tenth is zeros and NaN of all kinds, 17, 48 and 17%. Launches take 4 to 10 µs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

#include "base/host_device.hpp"
#include "base/units.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/table_copy.hpp"
#include "gpu/records/device_pairs.hpp"

namespace gsort::gpu {

// The numbers of keys in a stretch of the input.
struct ClassCounts {
  std::uint64_t zeros = 0;
  std::uint64_t nans = 0;
  std::uint64_t others = 0;  // except +0 and the quiet NaN without a sign
};

// Keys, the map that makes one number of each class, and scratch memory.
template <class Key>
struct FloatKeys {
  // Each block has a stretch of the keys.
  static constexpr std::uint64_t kMostBlocks = 1024;
  static constexpr std::uint64_t kStepKeys = 2048;  // that a block takes at once

  const Key* first = nullptr;  // first_count keys
  std::uint64_t first_count = 0;
  const Key* second = nullptr;  // the others
  std::uint64_t count = 0;
  // The begins of the sorted slices of a merge, and their end; null: the slices are the first keys
  // and the others. A single slice is not sorted.
  const std::uint64_t* begins = nullptr;
  std::uint64_t slices = 1;
  KeyMap<Key> map{};
  ClassCounts* counts = nullptr;  // of each block

  [[nodiscard]] static std::uint64_t blocks_of(std::uint64_t count) {
    return std::clamp<std::uint64_t>(count / kStepKeys, 1, kMostBlocks);
  }
  [[nodiscard]] GSORT_HOST_DEVICE Key operator[](std::uint64_t i) const {
    return i < first_count ? first[i] : second[i - first_count];
  }
  [[nodiscard]] GSORT_HOST_DEVICE std::uint64_t begin_of(std::uint64_t slice) const {
    if (begins != nullptr) return begins[slice];
    return slice == 0 ? 0 : slice == 1 ? first_count : count;
  }
  [[nodiscard]] GSORT_HOST_DEVICE Key zero() const { return map.to_ordered(Key{0}); }
  [[nodiscard]] GSORT_HOST_DEVICE Key nan() const {
    return map.to_ordered(static_cast<Key>(~Key{0}));
  }
};

// Copies the keys of the classes to their places in `sorted`, which has their numbers. Queues
// kernels on `stream`. Requires: count > 0; Key is std::uint16_t, std::uint32_t or std::uint64_t.
// Throws: Error(kDevice) naming the kernel.
template <class Key>
void launch_copy_classes(const FloatKeys<Key>& keys, Key* sorted, cudaStream_t stream);

// The same in two steps: to `kept`, which has room for all keys, and from there.
template <class Key>
void launch_keep_classes(const FloatKeys<Key>& keys, Key* kept, cudaStream_t stream);
template <class Key>
void launch_restore_classes(const FloatKeys<Key>& keys, const Key* kept, Key* sorted,
                            cudaStream_t stream);

// The map of the same format that keeps the bits of equal floats.
template <class Key>
[[nodiscard]] KeyMap<Key> keeping_bits(KeyMap<Key> map) {
  map.folds_classes = false;
  return map;
}

// Scratch memory of a sort or merge by classes, and of the call that it makes.
template <class Key>
struct ClassScratch {
  ClassCounts* counts;
  std::uint64_t* begins;
  Key* kept;
  ScratchMemory for_call;
  std::size_t bytes;

  // With `keeps`, it has room for `count` kept keys, too.
  ClassScratch(void* memory, std::uint64_t count, bool keeps, std::uint32_t slices,
               std::size_t call_bytes)
      : ClassScratch(ScratchCutter(memory), count, keeps, slices, call_bytes) {}

 private:
  ClassScratch(ScratchCutter cutter, std::uint64_t count, bool keeps, std::uint32_t slices,
               std::size_t call_bytes)
      : counts(cutter.take<ClassCounts>(FloatKeys<Key>::blocks_of(count))),
        begins(cutter.take<std::uint64_t>(std::uint64_t{slices} + 1)),
        kept(cutter.take<Key>(keeps ? count : 0)) {
    const std::size_t begin = cutter.used_bytes();
    for_call = {cutter.take<std::byte>(call_bytes), call_bytes};
    bytes = begin + call_bytes;
  }
};

// Sorts by sort_pairs(request). The store_map of `sort` keeps bits, its load_map does not; `places`
// is its scratch memory. Requires: its memory has been checked, and its count is not 0.
template <class Key, class Value, class Sort>
void sort_by_class(PairSort<Key, Value> sort, const ClassScratch<Key>& places,
                   const Sort& sort_pairs) {
  sort.scratch = places.for_call;
  const FloatKeys<Key> keys{.first = sort.input.keys,
                            .first_count = sort.count,
                            .count = sort.count,
                            .map = sort.load_map,
                            .counts = places.counts};
  const bool in_place = sort.input.keys == sort.output.keys;
  if (in_place) launch_keep_classes(keys, places.kept, sort.stream);
  sort_pairs(sort);
  if (!in_place) return launch_copy_classes(keys, sort.output.keys, sort.stream);
  launch_restore_classes(keys, places.kept, sort.output.keys, sort.stream);
}

// The same for merges, by merge_pairs(request), of `total` pairs.
template <class Key, class Value, class Merge>
void merge_arrays_by_class(PairArrayMerge<Key, Value> merge, const ClassScratch<Key>& places,
                           const Merge& merge_pairs) {
  merge.scratch = places.for_call;
  merge_pairs(merge);
  launch_copy_classes<Key>({.first = merge.a.keys,
                            .first_count = merge.a_count,
                            .second = merge.b.keys,
                            .count = merge.a_count + merge.b_count,
                            .slices = 2,
                            .map = merge.load_map,
                            .counts = places.counts},
                           merge.output.keys, merge.stream);
}

template <class Key, class Value, class Merge>
void merge_slices_by_class(PairSliceMerge<Key, Value> merge, std::uint64_t total,
                           const ClassScratch<Key>& places, const Merge& merge_pairs) {
  merge.scratch = places.for_call;
  merge_pairs(merge);
  std::vector<std::uint64_t> begins{0};
  for (std::uint32_t i = 0; i < merge.slice_count; ++i) {
    begins.push_back(begins.back() + merge.slice_counts[i]);
  }
  launch_table_copy(begins.data(), begins.size(), places.begins, current_architecture(),
                    merge.stream);
  launch_copy_classes<Key>({.first = merge.input.keys,
                            .first_count = total,
                            .count = total,
                            .begins = places.begins,
                            .slices = merge.slice_count,
                            .map = merge.load_map,
                            .counts = places.counts},
                           merge.output.keys, merge.stream);
}

}  // namespace gsort::gpu
