// Batch merge-path sort in global memory: one launch sorts N arrays, a block an array.
//
// Problem. Many arrays of d keys are to be sorted, each on its own: rows of a matrix, neighbours
// of the vertices of a graph. A launch for each would cost more than the sorting.
//
// Idea. A block takes an array and sorts it from the bottom up: level 0 merges keys with their
// neighbours, level 1 pairs with pairs, and so on. In each level every output finds its own key
// by one bisection along its diagonal of its pair's merge matrix (merge_path.cu). Levels
// alternate between two arrays in global memory; a barrier of the block is all that stands
// between them.
//
// Example. d = 5: 4 1 3 9 2
//   width 1: 1 4 | 3 9 | 2       width 2: 1 3 4 9 | 2       width 4: 1 2 3 4 9
//   In the last level output 1 is k = 1 of merge(1 3 4 9, 2): it crosses at i = 1, j = 0: 2.
//
// Threads: block b sorts arrays b, b + blocks, ...; thread t of it makes outputs t, t + threads,
// ...
// Shared memory: none.
// Bytes: 2 * sizeof(Key) an element and level, and the bisection's reads, up to 2 log2(width)
// keys; log2(d) levels. While two copies of the array fit the SM's L1 the levels run there; above
// it, in L2. One block an array leaves most of the card idle when N is small.
//
// Cost. N d log^2(d) steps: each of log(d) levels searches anew for every key.
//
// Measured on an H200, 16M random i32 keys: d = 64: 19, 1024: 10, 65536: 3.1 Gkeys/s.
//
// Source. Green, McColl, Bader, "GPU Merge Path", ICS 2012, doi:10.1145/2304576.2304621; Odeh,
// Green, Mwassi, Shmueli, Birk, IPDPSW 2012, doi:10.1109/IPDPSW.2012.202.
#include "bench/textbook/batch_sorts.hpp"
#include "bench/textbook/launch.hpp"
#include "bench/textbook/path_step.hpp"
#include "bench/textbook/run_pair.hpp"
#include "bench/textbook/two_arrays.hpp"

namespace gsort::textbook {
namespace {

constexpr std::uint64_t kMostThreads = 256;
constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 24;

// One level of one array by one block. Ends with a barrier.
template <class Key>
__device__ void block_merge_level(const Key* from, Key* to, std::uint64_t count,
                                  std::uint64_t width) {
  for (std::uint64_t k = threadIdx.x; k < count; k += blockDim.x) {
    const RunPair<std::uint64_t> pair = run_pair_at(k, width, count);
    const Key* const a = from + pair.begin;
    to[k] = path_step(k - pair.begin, a, pair.a_count, a + pair.a_count, pair.b_count);
  }
  __syncthreads();  // the level is written before the next one reads it
}

// The last level writes `out`; the levels before it alternate between `other` and `out`.
template <class Key>
__global__ void batch_sort_global_kernel(const Key* in, Key* out, Key* other,
                                         std::uint64_t array_count, std::uint64_t array_keys) {
  const unsigned levels = levels_from(std::uint64_t{1}, array_keys);
  for (std::uint64_t array = blockIdx.x; array < array_count; array += gridDim.x) {
    const std::uint64_t begin = array * array_keys;
    if (levels == 0 && threadIdx.x == 0) out[begin] = in[begin];
    const Key* from = in + begin;
    for (unsigned level = 0; level < levels; ++level) {
      Key* const to = ((levels - 1 - level) % 2 == 0 ? out : other) + begin;
      block_merge_level(from, to, array_keys, std::uint64_t{1} << level);
      from = to;
    }
  }
}

}  // namespace

template <class Key>
void launch_batch_sort_global(const BatchRequest<Key>& request) {
  if (request.total() == 0) return;
  const std::uint64_t blocks = lesser(request.array_count, kMostBlocks);
  const std::uint64_t threads = lesser(round_up(request.array_keys, 32), kMostThreads);
  batch_sort_global_kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), 0,
                             request.stream>>>(request.in, request.out,
                                               static_cast<Key*>(request.scratch),
                                               request.array_count, request.array_keys);
  require_launched("batch_sort_global_kernel");
}

template void launch_batch_sort_global(const BatchRequest<std::uint8_t>&);
template void launch_batch_sort_global(const BatchRequest<std::int32_t>&);
template void launch_batch_sort_global(const BatchRequest<std::uint64_t>&);

}  // namespace gsort::textbook
