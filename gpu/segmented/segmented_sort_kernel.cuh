// segmented_plan_kernel: finds, for arrays of any lengths, the first array of each window
// (segmented_windows.hpp), and lists the others: the middle arrays, which share tiles, those that
// take a tile of their own, and those that are longer (long_arrays.hpp). Where arrays are tiny on
// average, it sorts the tiny ones at once (tiny_arrays.cuh), and the first array of a window is the
// first that is not tiny.
// segmented_sort_kernel: sorts the short arrays of a window in one tile. listed_window_sort_kernel:
// the same of those windows alone that have arrays which are not tiny. middle_sort_kernel: the same
// of windows of middle arrays.
//
// Threads: one an array makes the plan. In the sort, block b has window b, or those that it takes
// (taken_jobs.cuh); thread t first looks at the window's array t, then works on row t of the tile,
// as in batch_sort_kernel.
// Shared memory: the tile; the rows at which arrays begin, and where their keys are; one co-rank a
// thread.
// Device memory: the plan reads each offset twice and writes 8 bytes a window, 12 if windows are
// listed, and 24 an array that is; the sort reads and writes each key once, and each value, and
// reads two offsets an array. For tiny arrays the plan does so instead.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/segmented/batch_tile.cuh"
#include "gpu/segmented/launch.hpp"
#include "gpu/segmented/segmented_windows.hpp"
#include "gpu/segmented/tiny_arrays.cuh"

namespace gsort::gpu {

inline constexpr unsigned kPlanThreads = 256;

// Makes a number `bound` at most, and returns what it was.
__device__ inline std::uint64_t thread_lower(std::uint64_t* number, std::uint64_t bound) {
  return atomicMin(reinterpret_cast<unsigned long long*>(number), bound);
}

// Tells the window of `array` that it has this one. Arrays of at most kTinyKeys are sorted already.
template <class Windows, unsigned kTinyKeys, class Ends>
__device__ void thread_enter_window(const SegmentedPass<Ends>& pass, std::uint64_t array,
                                    std::uint64_t begin, std::uint64_t end) {
  if constexpr (kTinyKeys > 0) {
    const std::uint64_t length = end - begin;
    if (length > kTinyKeys && length <= Windows::kShortKeys) {
      const std::uint64_t window = Windows::window_of(array, begin);
      if (thread_lower(&pass.first_arrays[window], array) == kNoArray) {
        pass.listed_windows[thread_add(&pass.counts->windows, 1)] =
            static_cast<std::uint32_t>(window);
      }
    }
  } else {
    if (array == 0) pass.first_arrays[0] = 0;
    const std::uint64_t next_window = Windows::window_of(array + 1, end);
    if (array + 1 < pass.array_count && next_window != Windows::window_of(array, begin)) {
      pass.first_arrays[next_window] = array + 1;
    }
  }
}

// Sum of `value` over the lanes up to this one.
__device__ inline unsigned warp_sum_to_here(unsigned value) {
  unsigned sum = value;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned before = __shfl_up_sync(kWholeWarp, sum, distance);
    if (threadIdx.x % 32 >= distance) sum += before;
  }
  return sum;
}

// Lists the warp's middle arrays, those of `length` > 0: one addition to the counter for all of
// them, which may be most arrays of a batch.
template <class Shape, class Ends>
__device__ void warp_list_middle_arrays(const SegmentedPass<Ends>& pass, std::uint64_t begin,
                                        std::uint64_t length) {
  using Middle = typename Shape::Middle;
  const unsigned mine = __ballot_sync(kWholeWarp, length > 0);
  if (mine == 0) return;
  const unsigned lane = threadIdx.x % 32;
  const auto rows = static_cast<unsigned>(Middle::rows_of(length));
  const unsigned rows_to_here = warp_sum_to_here(rows);
  std::uint64_t ticket = 0;
  if (lane == 31) {
    ticket = thread_add(&pass.counts->middle_ticket,
                        LongTicket::of_arrays(static_cast<unsigned>(__popc(mine)), rows_to_here));
  }
  ticket = __shfl_sync(kWholeWarp, ticket, 31);
  if (length == 0) return;
  const std::uint64_t index =
      LongTicket::arrays(ticket) + static_cast<unsigned>(__popc(mine & ((1U << lane) - 1)));
  const std::uint64_t end_row = LongTicket::tiles(ticket) + rows_to_here;
  const std::uint64_t first_row = end_row - rows;
  pass.middle_arrays[index] = {begin, length, first_row};
  if (index == 0) pass.first_middle_arrays[0] = 0;
  if (Middle::window_of(end_row) != Middle::window_of(first_row)) {
    pass.first_middle_arrays[Middle::window_of(end_row)] = index + 1;
  }
}

// Lists an array that shares no tile.
template <class Ends>
__device__ void thread_list_array(const SegmentedPass<Ends>& pass, std::uint64_t begin,
                                  std::uint64_t length) {
  if (length <= pass.tile_keys) {
    pass.tile_arrays[thread_add(&pass.counts->tile_arrays, 1)] = {begin, length, 0};
  } else {
    const std::uint64_t tiles = (length + pass.tile_keys - 1) / pass.tile_keys;
    const std::uint64_t ticket = thread_add(&pass.counts->long_ticket, LongTicket::of_array(tiles));
    pass.long_arrays[LongTicket::arrays(ticket)] = {begin, length, LongTicket::tiles(ticket)};
  }
}

template <class Ends, class Shape, unsigned kTinyKeys>
__global__ void __launch_bounds__(kPlanThreads)
    segmented_plan_kernel(const __grid_constant__ SegmentedPass<Ends> pass) {
  grid_begin();
  const std::uint64_t array = std::uint64_t{blockIdx.x} * kPlanThreads + threadIdx.x;
  const bool exists = array < pass.array_count;
  const std::uint64_t begin = pass.offsets[exists ? array : pass.array_count];
  const std::uint64_t end = exists ? pass.offsets[array + 1] : begin;
  const std::uint64_t length = end - begin;
  if constexpr (kTinyKeys > 0) {
    using Word = typename Ends::Word;
    __shared__ Word words[TileWords<Word, kTinyKeys>::bytes(kPlanThreads) / sizeof(Word)];
    warp_sort_tiny_arrays<kTinyKeys>(pass.ends, TileWords<Word, kTinyKeys>{words},
                                     {begin, static_cast<unsigned>(length), length <= kTinyKeys});
    if (pass.longest <= kTinyKeys) return;
  }
  if (exists) thread_enter_window<typename Shape::Windows, kTinyKeys>(pass, array, begin, end);
  const bool is_listed = length > Shape::Windows::kShortKeys && length <= pass.longest;
  const bool is_middle = Shape::kHasMiddle && is_listed && length <= kSharedTileKeys;
  if constexpr (Shape::kHasMiddle) {
    warp_list_middle_arrays<Shape>(pass, begin, is_middle ? length : 0);
  }
  if (is_listed && !is_middle) thread_list_array(pass, begin, length);
}

// Sum of `value` over the threads before this one. Holds one barrier.
template <unsigned kThreads>
__device__ unsigned block_sum_before(unsigned value, unsigned (&warp_sums)[kThreads / 32]) {
  const unsigned sum = warp_sum_to_here(value);
  if (threadIdx.x % 32 == 31) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();  // all warps' sums are written
  unsigned before = sum - value;
  for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) before += warp_sums[warp];
  return before;
}

// Thread t has an array of the tile, of `length` keys from `begin`; or none, of no keys. Afterwards
// all threads see all arrays.
template <unsigned kRowWords, unsigned kThreads, class Position>
__device__ void block_place_arrays(std::uint64_t begin, unsigned length,
                                   WindowArrays<kThreads, Position>& arrays,
                                   unsigned (&warp_rows)[kThreads / 32]) {
  arrays.begin[threadIdx.x] = static_cast<Position>(begin);
  arrays.length[threadIdx.x] = length;
  const unsigned rows = (length + kRowWords - 1) / kRowWords;
  arrays.first_row[threadIdx.x] = block_sum_before<kThreads>(rows, warp_rows);
  __syncthreads();  // the arrays are known
}

// Sorts one array of each thread, of `length` keys from `begin` on; together they fit the tile.
template <unsigned kThreads, unsigned kRowWords, class Ends>
__device__ void block_sort_arrays(const Ends& ends, std::uint64_t begin, unsigned length) {
  using Word = typename Ends::Word;
  using Position = typename Ends::Position;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ WindowArrays<kThreads, Position> arrays;
  __shared__ unsigned warp_rows[kThreads / 32];
  __shared__ unsigned co_ranks[kThreads + 1];
  const TileWords<Word, kRowWords> tile{reinterpret_cast<Word*>(shared_bytes)};
  block_place_arrays<kRowWords>(begin, length, arrays, warp_rows);

  const unsigned row = threadIdx.x;
  const TileRow<Position> place = row_of_window<kRowWords>(arrays, row);
  Word words[kRowWords] = {};
  const bool works = __any_sync(kWholeWarp, place.count != 0);
  if (works) {
    warp_load_rows<kRowWords>(tile, ends, {}, place, kRowWords, words);
    thread_sort(words);
  }
#pragma unroll 1
  for (unsigned joined_rows = 1; __syncthreads_or(joined_rows < place.list_rows ? 1 : 0) != 0;
       joined_rows *= 2) {
    block_join_neighbours<Sharers::kBlock>(tile, row, place, joined_rows, co_ranks, words);
  }
  if (!works) return;
  thread_store_row(tile, row, words);
  warp_store_rows<kRowWords>(tile, ends, 0, row_of_window<kRowWords>(arrays, thread_forget(row)),
                             kRowWords);
}

// Sorts the short arrays of `window`, if it has any. Thread t looks at the window's array t.
template <class Windows, unsigned kThreads, unsigned kRowWords, class Ends>
__device__ void block_sort_window(const SegmentedPass<Ends>& pass, std::uint64_t window) {
  const std::uint64_t first = pass.first_arrays[window];
  if (first == kNoArray) return;
  const std::uint64_t array = first + threadIdx.x;
  std::uint64_t begin = 0;
  unsigned length = 0;
  if (array < pass.array_count) {
    begin = pass.offsets[array];
    const std::uint64_t whole_length = pass.offsets[array + 1] - begin;
    if (whole_length > pass.tiny_keys && whole_length <= Windows::kShortKeys &&
        Windows::window_of(array, begin) == window) {
      length = static_cast<unsigned>(whole_length);
    }
  }
  block_sort_arrays<kThreads, kRowWords>(pass.ends, begin, length);
}

// Sorts the listed middle arrays of `window`. Thread t looks at the window's array t.
template <unsigned kThreads, unsigned kRowWords, class Ends>
__device__ void block_sort_middle_window(const SegmentedPass<Ends>& pass, std::uint64_t window) {
  using Middle = MiddleWindows<kRowWords, kThreads>;
  const std::uint64_t number = pass.first_middle_arrays[window] + threadIdx.x;
  LongArray array;
  if (number < LongTicket::arrays(pass.counts->middle_ticket)) {
    array = pass.middle_arrays[number];
    if (Middle::window_of(array.first_tile) != window) array.length = 0;
  }
  block_sort_arrays<kThreads, kRowWords>(pass.ends, array.begin,
                                         static_cast<unsigned>(array.length));
}

template <class Ends, class Windows, unsigned kThreads, unsigned kRowWords,
          unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    segmented_sort_kernel(const __grid_constant__ SegmentedPass<Ends> pass) {
  grid_begin();
  block_sort_window<Windows, kThreads, kRowWords>(pass, blockIdx.x);
}

template <class Ends, class Windows, unsigned kThreads, unsigned kRowWords,
          unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    listed_window_sort_kernel(const __grid_constant__ SegmentedPass<Ends> pass) {
  grid_begin();
  block_take_jobs(pass.counts->windows, &pass.counts->taken_windows, [&](std::uint64_t job) {
    block_sort_window<Windows, kThreads, kRowWords>(pass, pass.listed_windows[job]);
  });
}

template <class Ends, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    middle_sort_kernel(const __grid_constant__ SegmentedPass<Ends> pass) {
  grid_begin();
  const std::uint64_t rows = LongTicket::tiles(pass.counts->middle_ticket);
  const std::uint64_t windows = div_up(rows, MiddleWindows<kRowWords, kThreads>::kRows);
  block_take_jobs(windows, &pass.counts->taken_middle_windows, [&](std::uint64_t window) {
    block_sort_middle_window<kThreads, kRowWords>(pass, window);
  });
}

}  // namespace gsort::gpu
