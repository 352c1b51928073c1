// How many blocks take jobs one by one (taken_jobs.cuh).
#pragma once

#include <cstdint>

namespace gsort::gpu {

// Blocks of `threads` threads for `most_jobs` jobs at most. 2^18 threads are more than fit a card
// at a time (an H200 has 132 multiprocessors, for 1,024 to 1,536 threads of these kernels each),
// and few enough to cost some microseconds if there is nothing to do.
[[nodiscard]] constexpr unsigned taking_blocks(std::uint64_t most_jobs, unsigned threads) {
  const std::uint64_t enough = (std::uint64_t{1} << 18) / threads;
  return static_cast<unsigned>(most_jobs < enough ? most_jobs : enough);
}

}  // namespace gsort::gpu
