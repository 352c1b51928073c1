// Batch merge-path sort in shared memory: short arrays, one thread a key, several arrays a block.
//
// Problem. The levels of batch_sort_global.cu go through global memory and its caches, and a
// block has one array however short it is.
//
// Idea. An array of at most 1024 keys fits the shared memory of a block, and a block has up to
// 1024 threads: give each key a thread. Load the array once, run all levels between two tiles of
// shared memory, store it once. When arrays are short, a block takes as many of them as it has
// room for: thread t works for array t / d on output t mod d, and all arrays of a block go
// through their levels together.
//
// Example. A block of 8 threads and arrays of d = 3: two arrays, 2 1 3 and 9 7 8, and 2 threads
// idle.
//   width 1: 1 2 | 3   7 9 | 8       width 2: 1 2 3   7 8 9
//
// Threads, shared memory, bytes: see block_section_sort.cu, of which an array is one section
// here.
//
// Cost. log^2(d) steps a key, all in shared memory; 2 * sizeof(Key) bytes of global memory a key.
//
// Measured on an H200, 16M random i32 keys: d = 64: 40, 256: 30, 1024: 23 Gkeys/s. CUB's
// segmented sort has 89, 3.3 and 13 there.
//
// Source. As batch_sort_global.cu; the block-wide sort in shared memory is the first phase of N.
// Satish, M. Harris, M. Garland, "Designing efficient sorting algorithms for manycore GPUs",
// IPDPS 2009, doi:10.1109/IPDPS.2009.5161005.
#include "bench/textbook/batch_sorts.hpp"
#include "bench/textbook/launch.hpp"
#include "bench/textbook/section_shape.hpp"

namespace gsort::textbook {

static_assert(kMostSharedKeys == kSectionKeys);

template <class Key>
void launch_batch_sort_shared(const BatchRequest<Key>& request) {
  if (request.total() == 0) return;
  if (request.array_keys > kMostSharedKeys) {
    throw Error(ErrorKind::kUsage, "sorting a batch in shared memory",
                "arrays of " + format_count(request.array_keys) + " keys; " +
                    format_count(kMostSharedKeys) + " is the most");
  }
  const SectionShape shape = SectionShape::of(request.array_count, request.array_keys);
  launch_block_section_sort(request.in, request.out, shape, request.stream);
}

template void launch_batch_sort_shared(const BatchRequest<std::uint8_t>&);
template void launch_batch_sort_shared(const BatchRequest<std::int32_t>&);
template void launch_batch_sort_shared(const BatchRequest<std::uint64_t>&);

}  // namespace gsort::textbook
