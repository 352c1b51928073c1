// See device_pairs.hpp. The passes are those of device_sort.cpp and device_merge.cpp; every array
// of keys has one of values beside it.
//
// Model. n pairs of w bytes in tiles of T: passes P = ceil(log_8(n / T)), bytes 2wn(1 + P). A merge
// level costs what the words cost that it compares and moves: words of 32 bits, which hold as much
// of a key as there is room for (pair_code.hpp), 2 instructions and 4 bytes of shared memory; words
// of whole keys 5 and 8 (u32), or 10 and 12 (u64). A value is copied to shared memory, fetched by
// its word's index, and stored; so is a key that a word does not hold.
//
// Gains of the steps, on an H200, 2^28 random pairs, ms for u32 with u32 | u64 with u32 | u64
// with u64. In the same runs CUB 3.0.1 took 26.0 | 38.1 | 48.3 (merge sort) and 8.5 | 20.2 | 24.8
// (radix sort).
//   14.98 | 25.77 | 27.87  words of whole keys, all passes
//   14.26 | 21.65 | 25.36  u32: words of 32 bits where a tile's keys fit them; u64: words of 52
//                          bits that hold 39 bits of the key
//   14.03 | 21.06 | 23.79  several pairs at once are loaded and stored with one check
//   13.05 | 18.87 | 21.95  words of 32 bits for all tiles, ties put right afterwards; all keys of a
//                          thread's share loaded before one is waited for
//   12.63 | 17.82 | 21.81  the way back to whole keys is a function of its own: nothing is spilled
//
// Inputs whose keys are clustered far apart from each other, or often equal and far apart, so that
// many share a prefix within a tile, take whole keys; so do block sorts of tiles less than nine
// tenths full, whose fills share one. Most tiles notice it by a few of their keys, before they
// merge anything; one that notices it at its end has done its work twice. Among the
// eleven distributions of gsort-gen, 2^26 pairs, only zipf's pays for it: it takes 5% longer than
// with whole keys alone (u32 with u32), 4% and 8% (u64), and 1.5 times as long as random u64 keys
// with u32 values do.
//
// The bound. A pass of 8 is bound by the bandwidth of shared memory (70 to 80% of its cycles),
// of which the search for co-ranks takes a third.
#include "gpu/records/device_pairs.hpp"

#include "gpu/records/launch.hpp"
#include "gpu/sort/sort_elements.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kSorting = "sorting pairs on the GPU";
constexpr const char* kMerging = "merging slices of pairs on the GPU";
constexpr const char* kMergingArrays = "merging two arrays of pairs on the GPU";

}  // namespace

template <class Key, class Value>
std::size_t sort_pairs_scratch_bytes(std::uint64_t count) {
  require_count(count, kSorting, "pairs");
  return most_on_any_card([&](unsigned architecture) {
    const KernelTuning tuning = tuning_for<PairOf<Key, Value>>(architecture);
    return cut_sort_arrays<Key, Value>(nullptr, count, tuning).bytes;
  });
}

template <class Key, class Value>
void sort_pairs(const PairSort<Key, Value>& sort) {
  if (sort.count == 0) return;
  require_sort_memory(sort, sort_pairs_scratch_bytes<Key, Value>(sort.count), kSorting);
  queue_sort(sort);
}

template <class Key, class Value>
std::size_t merge_pair_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  return merge_slices_bytes<Key, Value>(total, slice_count, kMerging);
}

template <class Key, class Value>
void merge_pair_slices(const PairSliceMerge<Key, Value>& merge) {
  merge_element_slices(
      merge, ~std::uint64_t{0}, [](std::uint64_t, std::uint64_t) {}, kMerging);
}

template <class Key, class Value>
std::size_t merge_pair_arrays_scratch_bytes(std::uint64_t total) {
  return merge_arrays_bytes<Key, Value>(total, kMergingArrays);
}

template <class Key, class Value>
void merge_pair_arrays(const PairArrayMerge<Key, Value>& merge) {
  merge_element_arrays(merge, kMergingArrays);
}

#define GSORT_PAIRS(Key, Value)                                                                   \
  template std::size_t sort_pairs_scratch_bytes<Key, Value>(std::uint64_t);                       \
  template void sort_pairs(const PairSort<Key, Value>&);                                          \
  template std::size_t merge_pair_slices_scratch_bytes<Key, Value>(std::uint64_t, std::uint32_t); \
  template void merge_pair_slices(const PairSliceMerge<Key, Value>&);                             \
  template std::size_t merge_pair_arrays_scratch_bytes<Key, Value>(std::uint64_t);                \
  template void merge_pair_arrays(const PairArrayMerge<Key, Value>&)
GSORT_PAIRS(std::uint32_t, std::uint32_t);
GSORT_PAIRS(std::uint32_t, std::uint64_t);
GSORT_PAIRS(std::uint64_t, std::uint32_t);
GSORT_PAIRS(std::uint64_t, std::uint64_t);
#undef GSORT_PAIRS

}  // namespace gsort::gpu
