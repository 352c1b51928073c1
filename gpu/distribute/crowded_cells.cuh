// Makes new cells for a tile that has too many keys in some of its equal cells: NestedCells
// (key_cells.hpp) or SampledCells (sampled_cells.hpp).
#pragma once

#include <cstdint>

#include "gpu/distribute/key_cells.hpp"
#include "gpu/distribute/sampled_cells.hpp"
#include "gpu/merge/block_sum.cuh"
#include "gpu/merge/warp_sort.cuh"
#include "gpu/records/pair_code.hpp"

namespace gsort::gpu {

// In a function that is not inlined, the compiler cannot see that an object is in shared memory.
template <class T>
__device__ T& assume_shared(T& object) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isShared(&object) != 0);
#endif
  return object;
}

// Divides the counted cells again. Returns false if this is not enough: a nest has more than an
// eighth of the keys, and more than four key values for each of its cells. Requires: the cells
// begin at `begins`.
template <unsigned kThreads, class Key, unsigned kCells>
__device__ bool block_nest_cells(const KeyCells<Key, kCells>& equal, unsigned count,
                                 const unsigned* begins, unsigned* warp_sums,
                                 NestedCells<Key, kCells>& nested) {
  using Nested = NestedCells<Key, kCells>;
  constexpr unsigned kOwn = Nested::kNests / kThreads;  // nests of a thread
  const auto begin_of = [&](unsigned nest) {
    return nest == Nested::kNests ? count : begins[nest << Nested::kNestBits];
  };
  const unsigned values = Nested::values_of_nest(equal);
  unsigned own[kOwn];
  unsigned sum = 0;
  bool is_wide = false;
#pragma unroll
  for (unsigned i = 0; i < kOwn; ++i) {
    const unsigned nest = kOwn * threadIdx.x + i;
    const unsigned keys = begin_of(nest + 1) - begin_of(nest);
    own[i] = Nested::cells_of(keys, count, values);
    sum += own[i];
    if (values != ~0U && keys > count / 8 && own[i] < values / 4) is_wide = true;
  }
  if (threadIdx.x == 0) nested.equal = equal;
  for (unsigned i = threadIdx.x; i < kCells / 32; i += kThreads) nested.singles[i] = 0;
  unsigned total = 0;
  unsigned first = block_exclusive_sum<kThreads>(sum, warp_sums, total);
#pragma unroll
  for (unsigned i = 0; i < kOwn; ++i) {
    nested.nests[kOwn * threadIdx.x + i] = own[i] << 16 | first;
    const unsigned end = first + own[i];
    if (own[i] == values) {  // a cell has one value
#pragma unroll 1
      for (unsigned cell = first; cell < end; cell = (cell | 31U) + 1) {
        const std::uint32_t from_here = ~0U << cell % 32;
        const std::uint32_t before_end = end - cell / 32 * 32 < 32 ? (1U << end % 32) - 1 : ~0U;
        atomicOr(&nested.singles[cell / 32], from_here & before_end);
      }
    }
    first = end;
  }
  return __syncthreads_or(is_wide ? 1 : 0) == 0;
}

// Makes the cells of a sample of the tile. All threads of the block call this.
template <unsigned kThreads, class Key, unsigned kCells>
__device__ void block_sample_cells(const Key* from, unsigned count, const KeyRange<Key>& range,
                                   SampledCells<Key, kCells>& cells) {
  constexpr unsigned kSegments = SampledCells<Key, kCells>::kSegments;
  constexpr unsigned kRuns = kSegments / 32;
  constexpr unsigned kRankers = kThreads / kSegments;  // threads for each key of the sample
  static_assert(kThreads % kSegments == 0 && kRuns % kRankers == 0);
  const unsigned i = threadIdx.x % kSegments;
  if (threadIdx.x < kSegments) {
    // One place in each stretch of the tile; it varies, because the keys may be periodic.
    const unsigned place = (i << 8) + (i * 0x9e3779b9U >> 24);
    cells.nodes[i] = warp_sort_keys(from[place * count / (kSegments << 8)]);
    cells.ranks[i] = i % 32;
  }
  __syncthreads();  // the sample lies in sorted runs
  const Key own = cells.nodes[i];
  unsigned rank = 0;
#pragma unroll 4
  for (unsigned run = threadIdx.x / kSegments; run < kRuns; run += kRankers) {
    if (run != i / 32) rank += thread_rank_in_run(cells.nodes + 32 * run, own, run < i / 32);
  }
  atomicAdd(&cells.ranks[i], rank);
  __syncthreads();  // the ranks are known
  if (threadIdx.x < kSegments) cells.sample[cells.ranks[i]] = own;
  __syncthreads();  // the sample is sorted
  if (threadIdx.x < kSegments) cells.make_segment(threadIdx.x, range.least, range.greatest);
}

}  // namespace gsort::gpu
