// Jobs that blocks take one by one until none is left.
//
// Problem. Where only the device knows how many tiles there are, the host can launch no fewer
// blocks than there may be; and blocks that find nothing to do are started one after the other all
// the same: 130,000 of them take half a millisecond on an H200.
//
// Idea. A launch has a few more blocks than a card has room for. A block begins with the job of its
// own number; when that is done it takes the next one that is free, by a counter that all share.
// Jobs are handed out in their order and one at a time, as the hardware hands out blocks.
#pragma once

#include <cstdint>

#include "gpu/cuda/taking_blocks.hpp"

namespace gsort::gpu {

// Adds to a number that threads of all blocks add to, and returns what it was.
__device__ inline std::uint64_t thread_add(std::uint64_t* number, std::uint64_t addend) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  return atomicAdd(reinterpret_cast<unsigned long long*>(number), addend);
}

// The shared memory of block_take_jobs.
inline constexpr unsigned kTakenJobBytes = 2 * sizeof(std::uint64_t);

// Calls work(job) for each job of [0, count) that falls to this block. `taken` counts what blocks
// have taken beyond their first jobs; 0 before the launch. A block takes its next job before it
// works on the last, so as not to wait for the counter. All threads of the block call this.
template <class Work>
__device__ void block_take_jobs(std::uint64_t count, std::uint64_t* taken, const Work& work) {
  __shared__ std::uint64_t next[2];  // of odd rounds and of even ones: the other may be read still
  std::uint64_t job = blockIdx.x;
#pragma unroll 1
  for (unsigned slot = 0; job < count; slot ^= 1U) {
    if (threadIdx.x == 0) next[slot] = gridDim.x + thread_add(taken, 1);
    work(job);
    __syncthreads();  // all threads have left this job, and the next one is known
    job = next[slot];
  }
}

}  // namespace gsort::gpu
