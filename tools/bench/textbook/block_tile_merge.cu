// Block-tile merge: one tile a block, both co-ranks first, everything else in shared memory.
//
// Problem. The tiled merges load up to T of A and T of B because they do not know how much of
// each the next T outputs need; and they write one key a thread, several apart.
//
// Idea. Give a block one tile of output only. The co-ranks of the tile's two ends say exactly
// which part of A and which of B it needs, and together they have as many elements as the tile.
// So the two parts lie one behind the other in a tile of shared memory, filled once by coalesced
// reads. Each thread finds its co-rank there, merges its outputs into registers, and, when all
// threads have read what they need, puts them into the same shared memory, from where the block
// writes the tile coalesced.
//
// Example. Tile of 4, two threads of 2, A = 1 3 3 7, B = 3 4 9 10.
//   block 0: co-ranks 0 and 3: shared memory 1 3 3 | 3    thread 0 makes 1 3, thread 1 makes 3 3
//   block 1: co-ranks 3 and 4: shared memory 7 | 4 9 10   thread 0 makes 4 7, thread 1 makes 9 10
//
// Threads: block b makes outputs [b T, (b + 1) T), T = kThreads * kPerThread; thread t of it
// outputs [t kPerThread, (t + 1) kPerThread) of the tile.
// Shared memory: one tile of T keys: A's part, then B's; later the outputs. kPerThread is odd, so
// that the words that a warp stores at the same time lie in 32 different banks.
// Bytes: 2 * sizeof(Key) an element, all coalesced; two searches in global memory a block.
//
// Cost. 2 log2(n) dependent reads a block before anything is loaded, then log2(T) + kPerThread
// steps. gsort's own merge and CUB's move the two searches into a kernel before this one, so that
// no block waits for them.
//
// Measured on an H200 in one run, 16M + 16M random i32 keys: 256 x 17: 1.43 TB/s, 34% of the
// device copy's rate.
//
// Source. O. Green, R. McColl, D. A. Bader, "GPU Merge Path: a GPU merging algorithm", ICS 2012,
// doi:10.1145/2304576.2304621.
#include "bench/textbook/co_rank_bisection.hpp"
#include "bench/textbook/launch.hpp"
#include "bench/textbook/merges.hpp"

namespace gsort::textbook {
namespace {

// The next kPerThread outputs of merge(a, b), in registers. Nothing behind the inputs is
// read.
template <unsigned kPerThread, class Key>
__device__ void thread_merge(const Key* a, unsigned a_count, const Key* b, unsigned b_count,
                             Key (&outputs)[kPerThread]) {
  unsigned i = 0;
  unsigned j = 0;
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r) {
    const bool take_a = i < a_count && (j >= b_count || !(b[j] < a[i]));
    if (take_a) {
      outputs[r] = a[i++];
    } else if (j < b_count) {
      outputs[r] = b[j++];
    }
  }
}

template <class Key, unsigned kThreads, unsigned kPerThread>
__global__ void __launch_bounds__(kThreads) block_tile_merge_kernel(TwoArrays<Key> in, Key* out) {
  static_assert(kPerThread % 2 == 1);
  constexpr unsigned kTile = kThreads * kPerThread;
  __shared__ Key tile[kTile];
  __shared__ std::uint64_t ends[2];  // co-ranks of where the tile begins and ends
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * kTile;
  const auto outputs = static_cast<unsigned>(lesser<std::uint64_t>(kTile, in.total() - begin));
  if (threadIdx.x % 32 == 0 && threadIdx.x < 64) {  // one thread of each of two warps
    const unsigned end = threadIdx.x / 32;
    ends[end] = co_rank_bisection(begin + end * outputs, in.a, in.a_count, in.b, in.b_count);
  }
  __syncthreads();  // the co-ranks are known
  const std::uint64_t a_begin = ends[0];
  const auto a_count = static_cast<unsigned>(ends[1] - a_begin);
  const unsigned b_count = outputs - a_count;
  const Key* const b_behind_a = in.b + (begin - a_begin);
  for (unsigned i = threadIdx.x; i < outputs; i += kThreads) {
    tile[i] = i < a_count ? in.a[a_begin + i] : b_behind_a[i - a_count];
  }
  __syncthreads();  // the tile is loaded

  Key merged[kPerThread];
  const unsigned first = lesser(threadIdx.x * kPerThread, outputs);
  const unsigned i = co_rank_bisection(first, tile, a_count, tile + a_count, b_count);
  const unsigned j = first - i;
  thread_merge<kPerThread>(tile + i, a_count - i, tile + a_count + j, b_count - j, merged);
  __syncthreads();  // no thread reads the inputs any more
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r) {
    if (first + r < outputs) tile[first + r] = merged[r];
  }
  __syncthreads();  // the outputs stand in the tile
  for (unsigned k = threadIdx.x; k < outputs; k += kThreads) out[begin + k] = tile[k];
}

}  // namespace

template <class Key, unsigned kThreads, unsigned kPerThread>
void launch_block_tile_merge(const MergeRequest<Key>& request) {
  const std::uint64_t total = request.in.total();
  if (total == 0) return;
  const unsigned blocks = blocks_for(total, std::uint64_t{kThreads} * kPerThread);
  block_tile_merge_kernel<Key, kThreads, kPerThread>
      <<<blocks, kThreads, 0, request.stream>>>(request.in, request.out);
  require_launched("block_tile_merge_kernel");
}

template void launch_block_tile_merge<std::uint8_t, 128, 7>(const MergeRequest<std::uint8_t>&);
template void launch_block_tile_merge<std::uint8_t, 256, 11>(const MergeRequest<std::uint8_t>&);
template void launch_block_tile_merge<std::uint8_t, 256, 17>(const MergeRequest<std::uint8_t>&);
template void launch_block_tile_merge<std::int32_t, 128, 7>(const MergeRequest<std::int32_t>&);
template void launch_block_tile_merge<std::int32_t, 256, 11>(const MergeRequest<std::int32_t>&);
template void launch_block_tile_merge<std::int32_t, 256, 17>(const MergeRequest<std::int32_t>&);
template void launch_block_tile_merge<std::uint64_t, 128, 7>(const MergeRequest<std::uint64_t>&);
template void launch_block_tile_merge<std::uint64_t, 256, 11>(const MergeRequest<std::uint64_t>&);
template void launch_block_tile_merge<std::uint64_t, 256, 17>(const MergeRequest<std::uint64_t>&);

}  // namespace gsort::textbook
