// Tiled merge: a block fetches tiles of A and B into shared memory, and merges from there.
//
// Problem. In the basic merge the threads of a warp touch 32 places far apart at a time, and
// every search goes to global memory.
//
// Idea. A block owns a long range of the output and finds its two co-ranks once. It then works
// round by round: the next T outputs can come from the next T elements of A and the next T of B
// at most, whatever the data. The block loads both, neighbouring threads neighbouring elements,
// and its threads merge T outputs from shared memory, where searches are cheap. How many of the T
// came from A is the co-rank of T in the tile; A and B advance by that much.
//
// Example. T = 2, A = 1 3 3 7, B = 3 4 9 10.
//   round 1: loads A: 1 3, B: 3 4    makes 1 3    2 of A, 0 of B were used
//   round 2: loads A: 3 7, B: 3 4    makes 3 3    1 and 1 used; B's 3 4 were loaded twice
//   round 3: loads A: 7,   B: 4 9    makes 4 7    and so on
//
// Threads: block b makes outputs [32768 b, 32768 b + 32768) in rounds of 2048, thread t of it
// outputs [8 t, 8 t + 8) of each round.
// Shared memory: tile of A, 2048 keys; tile of B, 2048 keys; the co-ranks of the block's ends.
// Bytes: 4096 keys are read for 2048 that are written: 3 * sizeof(Key) an element, where 2 would
// do; circular_merge.cu saves the third. Writes still go out one key a thread, 8 apart.
//
// Cost. O(log n) a block, then O(log T + 8) a thread and round.
//
// Measured on an H200 in one run, 16M + 16M random i32 keys: 0.64 TB/s, 15% of the device copy's
// rate.
//
// Source. Hwu, Kirk, El Hajj, "Programming Massively Parallel Processors", 4th edition, 2022,
// section 12.6, doi:10.1016/C2020-0-02969-5.
#include "bench/textbook/co_rank_moving.hpp"
#include "bench/textbook/launch.hpp"
#include "bench/textbook/merges.hpp"
#include "bench/textbook/sequential_merge.hpp"

namespace gsort::textbook {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kPerThread = 8;
constexpr unsigned kTile = kThreads * kPerThread;
constexpr std::uint64_t kBlockOutputs = std::uint64_t{16} * kTile;

// Thread t copies elements t, t + kThreads, and so on.
template <class Key>
__device__ void block_copy(const Key* from, unsigned count, Key* to) {
  for (unsigned i = threadIdx.x; i < count; i += kThreads) to[i] = from[i];
}

template <class Key>
__global__ void tiled_merge_kernel(TwoArrays<Key> in, Key* out) {
  __shared__ Key a_tile[kTile];
  __shared__ Key b_tile[kTile];
  __shared__ std::uint64_t ends[2];  // co-ranks of where the block begins and ends
  std::uint64_t done = blockIdx.x * kBlockOutputs;
  const std::uint64_t end = lesser(done + kBlockOutputs, in.total());
  if (threadIdx.x < 2) {
    const std::uint64_t k = threadIdx.x == 0 ? done : end;
    ends[threadIdx.x] = co_rank_moving(k, in.a, in.a_count, in.b, in.b_count);
  }
  __syncthreads();  // the co-ranks are known
  std::uint64_t a = ends[0];
  std::uint64_t b = done - a;
  const std::uint64_t a_end = ends[1];
  const std::uint64_t b_end = end - a_end;

  while (done < end) {
    const auto a_count = static_cast<unsigned>(lesser<std::uint64_t>(kTile, a_end - a));
    const auto b_count = static_cast<unsigned>(lesser<std::uint64_t>(kTile, b_end - b));
    block_copy(in.a + a, a_count, a_tile);
    block_copy(in.b + b, b_count, b_tile);
    __syncthreads();  // the tiles are loaded

    const auto outputs = static_cast<unsigned>(lesser<std::uint64_t>(kTile, end - done));
    const unsigned first = lesser(threadIdx.x * kPerThread, outputs);
    const unsigned last = lesser(first + kPerThread, outputs);
    const unsigned i = co_rank_moving(first, a_tile, a_count, b_tile, b_count);
    const unsigned i_end = co_rank_moving(last, a_tile, a_count, b_tile, b_count);
    sequential_merge(a_tile + i, i_end - i, b_tile + (first - i), (last - i_end) - (first - i),
                     out + done + first);

    const unsigned a_used = co_rank_moving(outputs, a_tile, a_count, b_tile, b_count);
    a += a_used;
    b += outputs - a_used;
    done += outputs;
    __syncthreads();  // no thread reads the tiles any more
  }
}

}  // namespace

template <class Key>
void launch_tiled_merge(const MergeRequest<Key>& request) {
  const std::uint64_t total = request.in.total();
  if (total == 0) return;
  const unsigned blocks = blocks_for(total, kBlockOutputs);
  tiled_merge_kernel<<<blocks, kThreads, 0, request.stream>>>(request.in, request.out);
  require_launched("tiled_merge_kernel");
}

template void launch_tiled_merge(const MergeRequest<std::uint8_t>&);
template void launch_tiled_merge(const MergeRequest<std::int32_t>&);
template void launch_tiled_merge(const MergeRequest<std::uint64_t>&);

}  // namespace gsort::textbook
