// Which kernels start up while their predecessor on the stream still ends: programmatic dependent
// launch, from sm_90 on. On an H200 it saves two to three microseconds a kernel, which is half the
// time of sorts of up to 2^18 keys. The rule below takes 1 to 2% less time for 2^24 to 2^27 keys
// than overlapping all grids of up to 4,096 blocks (tools/bench/results/tried.md). Host code.
#pragma once

namespace gsort::gpu {

// The first architecture that has it, as 10 * major + minor.
inline constexpr unsigned kOverlappingArchitecture = 90;

// Larger grids start in the ordinary way. On an H200 a sort of 2^28 u32 keys, whose merges have
// 67,000 blocks, takes as long either way; one of 2^29 took up to 0.6% longer if they overlap.
inline constexpr unsigned kMostOverlappedBlocks = 100000;

struct OverlapQuestion {
  unsigned architecture = 0;           // of the device
  unsigned compiled_architecture = 0;  // of the code that it runs
  unsigned blocks = 0;
  // For kernels that live on the L1 cache. A kernel that starts beside blocks of its predecessor
  // keeps their division of a multiprocessor's memory, most of it shared memory. On an H200, sorts
  // whose partitions start so take 1.4% longer.
  bool starts_alone = false;
};

// Kernels wait for their predecessors in code for such an architecture only: older code, compiled
// on the spot for a newer device, must not start before its time.
[[nodiscard]] constexpr bool may_overlap(const OverlapQuestion& question) {
  return question.architecture >= kOverlappingArchitecture &&
         question.compiled_architecture >= kOverlappingArchitecture &&
         question.blocks <= kMostOverlappedBlocks && !question.starts_alone;
}

}  // namespace gsort::gpu
