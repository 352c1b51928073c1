// Work that blocks take, piece by piece, until none is left.
//
// Problem. Where only the device knows how many tiles there are, the host can launch no fewer
// blocks than there may be; and blocks that find nothing to do are started one after the other all
// the same: 130,000 of them take half a millisecond on an H200.
//
// Idea. A launch has as many blocks as keep a card busy, and no more. A block begins with the piece
// of its own number; when that is done it takes the next one that nobody has, by a counter that all
// share. Pieces are handed out in their order and one at a time, as the hardware hands out blocks.
#pragma once

#include <cstdint>

namespace gsort::gpu {

// More than fit a card at a time (an H200 has 132 multiprocessors, for 2 to 5 blocks of these
// kernels each), and few enough to cost some microseconds if there is nothing to do.
inline constexpr std::uint64_t kTakingBlocks = 1024;

// Adds to a number that threads of all blocks add to, and returns what it was.
__device__ inline std::uint64_t thread_add(std::uint64_t* number, std::uint64_t addend) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  return atomicAdd(reinterpret_cast<unsigned long long*>(number), addend);
}

// Calls work(piece) for each piece of [0, count) that falls to this block. `taken` counts what
// blocks have taken beyond their first pieces; 0 before the launch. All threads of the block call
// this.
template <class Work>
__device__ void block_take_work(std::uint64_t count, std::uint64_t* taken, const Work& work) {
  __shared__ std::uint64_t next;
#pragma unroll 1
  for (std::uint64_t piece = blockIdx.x; piece < count; piece = next) {
    work(piece);
    if (count <= gridDim.x) return;
    __syncthreads();  // nobody is at the last piece any more, nor reads its number
    if (threadIdx.x == 0) next = gridDim.x + thread_add(taken, 1);
    __syncthreads();  // the next piece is known
  }
}

}  // namespace gsort::gpu
