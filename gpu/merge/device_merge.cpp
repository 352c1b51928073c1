// See device_merge.hpp. More than two slices go through passes (merge_elements.hpp,
// merge_shape.hpp), from the input by way of output and buffer to the output; two arrays are merged
// as told here.
//
// Problem. Merging the tiles of two arrays takes a copy's time and 3 to 5% more. The other cost
// is finding where tiles begin: scattered reads, which memory serves at 12 to 14 in a
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
// launches and events, 14 for the cuts; then tiles are merged at 96% of a copy's rate. The whole
// has 92% of a copy's rate, with 2^30 keys 93% (u64 94%). Busiest is the way between the two halves
// of the L2 cache (86% of the cycles with 2^26 keys).
//
// Source. S. Odeh et al., "Merge path", doi:10.1109/IPDPSW.2012.202. Measurements are in
// tools/bench/results/README.md, trials in tools/bench/results/tried.md.
#include "gpu/merge/device_merge.hpp"

#include "gpu/merge/merge_elements.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "merging slices on the GPU";
constexpr const char* kArrays = "merging two arrays on the GPU";

}  // namespace

template <class Key>
std::size_t merge_arrays_scratch_bytes(std::uint64_t total) {
  return merge_arrays_bytes<Key, NoValue>(total, kArrays);
}

template <class Key>
void merge_arrays(const ArrayMerge<Key>& merge) {
  merge_element_arrays(merge, kArrays);
}

template <class Key>
std::size_t merge_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  return merge_slices_bytes<Key, NoValue>(total, slice_count, kOperation);
}

template <class Key>
void merge_slices(const SliceMerge<Key>& merge) {
  merge_slices_in_pieces<Key>(merge, ~std::uint64_t{0}, [](std::uint64_t, std::uint64_t) {});
}

template <class Key>
void merge_slices_in_pieces(const SliceMerge<Key>& merge, std::uint64_t piece_keys,
                            const PieceQueued& queued) {
  merge_element_slices(merge, piece_keys, queued, kOperation);
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
