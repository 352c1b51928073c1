// The emulator itself: that it keeps what CUDA promises, and shows what breaks its rules.
#include "emulator.hpp"

#include <array>
#include <stdexcept>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace emulator {
namespace {

constexpr unsigned kWholeWarp = ~0U;

TEST(Emulator, RunsEveryThreadOfEveryBlock) {
  std::vector<unsigned> calls(3 * 96);
  run_grid({3, 96, 0}, [&] { ++calls[blockIdx.x * blockDim.x + threadIdx.x]; });
  EXPECT_EQ(calls, std::vector<unsigned>(3 * 96, 1));
}

// Every thread reads what another one wrote.
bool writes_are_seen(bool waits) {
  bool seen = true;
  run_grid({8, 64, 0}, [&] {
    __shared__ unsigned words[64];
    __syncthreads();  // the block before is not read any more
    words[threadIdx.x] = blockIdx.x * 64 + threadIdx.x;
    if (waits) __syncthreads();
    const unsigned other = 63 - threadIdx.x;
    seen = seen && words[other] == blockIdx.x * 64 + other;
  });
  return seen;
}

TEST(Emulator, LetsABarrierOrderWritesAndReads) {
  EXPECT_TRUE(writes_are_seen(true));
}

TEST(Emulator, ShowsThatABarrierIsMissing) {
  EXPECT_FALSE(writes_are_seen(false));
}

TEST(Emulator, GivesThreadsADifferentOrderAfterEveryBarrier) {
  std::vector<unsigned> first;
  std::vector<unsigned> second;
  run_grid({1, 64, 0}, [&] {
    first.push_back(threadIdx.x);
    __syncthreads();
    second.push_back(threadIdx.x);
  });
  EXPECT_EQ(first.size(), 64U);
  EXPECT_NE(first, second);
}

TEST(Emulator, CountsAtABarrierWhoSaysYes) {
  std::array<int, 3> told{};
  run_grid({1, 64, 0}, [&] {
    const int count = __syncthreads_count(threadIdx.x % 4 == 0);
    const int any = __syncthreads_or(threadIdx.x == 17);
    const int all = __syncthreads_and(threadIdx.x != 17);
    if (threadIdx.x == 0) told = {count, any, all};
  });
  EXPECT_EQ(told, (std::array<int, 3>{16, 1, 0}));
}

TEST(Emulator, LetsABarrierGoOnWithoutThreadsThatHaveEnded) {
  unsigned behind = 0;
  run_grid({1, 64, 0}, [&] {
    if (threadIdx.x % 2 == 0) return;
    __syncthreads();
    ++behind;
  });
  EXPECT_EQ(behind, 32U);
}

TEST(Emulator, ShufflesInSegmentsAsTheHardwareDoes) {
  run_grid({1, 64, 0}, [] {
    const unsigned lane = threadIdx.x % 32;
    const unsigned thread = threadIdx.x;
    EXPECT_EQ(__shfl_sync(kWholeWarp, thread, 3), thread - lane + 3);
    EXPECT_EQ(__shfl_sync(kWholeWarp, thread, 3, 8), thread - lane % 8 + 3);
    EXPECT_EQ(__shfl_up_sync(kWholeWarp, thread, 2, 8), lane % 8 < 2 ? thread : thread - 2);
    EXPECT_EQ(__shfl_down_sync(kWholeWarp, thread, 2, 8), lane % 8 > 5 ? thread : thread + 2);
    EXPECT_EQ(__shfl_xor_sync(kWholeWarp, thread, 5), thread ^ 5U);
    EXPECT_EQ(__ballot_sync(kWholeWarp, lane % 2 == 0), 0x55555555U);
    EXPECT_EQ(__any_sync(kWholeWarp, lane == 9), 1);
    EXPECT_EQ(__all_sync(kWholeWarp, lane == 9), 0);
    EXPECT_EQ(__reduce_add_sync(kWholeWarp, lane), 31U * 16U);
    EXPECT_EQ(__reduce_min_sync(kWholeWarp, lane + 7), 7U);
    EXPECT_EQ(__reduce_or_sync(kWholeWarp, lane), 31U);
  });
}

TEST(Emulator, LetsTeamsOfAWarpExchangeByThemselves) {
  run_grid({1, 32, 0}, [] {
    const unsigned team = threadIdx.x / 8;
    const unsigned members = 0xffU << (8 * team);
    // Every team a different number of times.
    unsigned sum = threadIdx.x;
    for (unsigned i = 0; i <= team; ++i) sum = __reduce_add_sync(members, threadIdx.x);
    EXPECT_EQ(sum, 8 * 8 * team + 28);
    EXPECT_EQ(__ballot_sync(kWholeWarp, team == 1), 0xff00U);
  });
}

TEST(Emulator, GivesEachExchangeItsOwnValuesWhileTeamsGoOn) {
  run_grid({1, 64, 0}, [] {
    const unsigned lane = threadIdx.x % 32;
    for (unsigned i = 0; i < 20; ++i) {
      EXPECT_EQ(__reduce_add_sync(kWholeWarp, lane + i), 31U * 16U + 32U * i);
      const unsigned pair = lane & ~1U;
      EXPECT_EQ(__reduce_add_sync(3U << pair, lane + 1000U * i), 2U * pair + 1U + 2000U * i);
    }
  });
}

TEST(Emulator, RefusesExchangesWithLanesThatHaveEnded) {
  const auto kernel = [] {
    if (threadIdx.x == 5) return;
    __syncwarp();
  };
  EXPECT_THROW(run_grid({1, 32, 0}, kernel), std::logic_error);
}

TEST(Emulator, RefusesBarriersThatSomeThreadsNeverReach) {
  const auto kernel = [] {
    if (threadIdx.x < 32) {
      __syncthreads();
    } else {
      __shfl_sync(threadIdx.x == 40 ? 1U : kWholeWarp, 0, 0);
    }
  };
  EXPECT_THROW(run_grid({1, 64, 0}, kernel), std::logic_error);
}

TEST(Emulator, RefusesReadsBeyondTheBlocksSharedMemory) {
  EXPECT_NO_THROW(run_grid({1, 32, 128}, [] { static_cast<void>(shared_memory(124, 4)); }));
  EXPECT_THROW(run_grid({1, 32, 128}, [] { static_cast<void>(shared_memory(126, 4)); }),
               std::logic_error);
}

void empty_kernel() {}

TEST(Emulator, RefusesLaunchesThatNoCardTakes) {
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 1024;
  EXPECT_EQ(cudaLaunchKernelEx(&config, empty_kernel), cudaSuccess);
  config.blockDim = 1025;
  EXPECT_EQ(cudaLaunchKernelEx(&config, empty_kernel), cudaErrorInvalidConfiguration);
  config.blockDim = 32;
  config.dynamicSmemBytes = kMostSharedBytes + 1;
  EXPECT_EQ(cudaLaunchKernelEx(&config, empty_kernel), cudaErrorInvalidConfiguration);
}

}  // namespace
}  // namespace emulator
