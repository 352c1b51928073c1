// Jobs that workers share, by counting: who gets which, and that each job is done once.
#include "gpu/shares/work_shares.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

// Workers take jobs in this order, until one gets none; the numbers that each has taken.
std::vector<std::vector<std::uint64_t>> taken_in_turns(std::uint64_t jobs,
                                                       const std::vector<std::size_t>& turns,
                                                       std::size_t workers) {
  WorkShares shares(jobs, workers);
  std::vector<std::vector<std::uint64_t>> taken(workers);
  for (std::size_t turn = 0;; turn = (turn + 1) % turns.size()) {
    const auto job = shares.take(turns[turn]);
    if (!job) return taken;
    taken[turns[turn]].push_back(job->number);
  }
}

using Taken = std::vector<std::vector<std::uint64_t>>;

TEST(WorkShares, AreStretchesForWorkersOfTheSameSpeed) {
  EXPECT_EQ(taken_in_turns(7, {0, 1, 2}, 3), (Taken{{0, 1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(taken_in_turns(0, {0}, 2), (Taken{{}, {}}));
  EXPECT_EQ(taken_in_turns(1, {1, 0}, 2), (Taken{{}, {0}}));
}

TEST(WorkShares, OfAFastWorkerHaveJobsOfOthersFromTheLastOneOn) {
  EXPECT_EQ(taken_in_turns(10, {0, 0, 1}, 2), (Taken{{0, 1, 2, 3, 4, 9, 8}, {5, 6, 7}}));
  EXPECT_EQ(taken_in_turns(6, {2}, 3), (Taken{{}, {}, {4, 5, 1, 3, 0, 2}}));
}

TEST(WorkShares, AreOverWhenTheyAreStopped) {
  WorkShares shares(100, 2);
  EXPECT_TRUE(shares.take(1)->is_own);
  shares.stop();
  EXPECT_FALSE(shares.take(0) || shares.take(1));
}

TEST(WorkShares, HaveEachJobOnce) {
  constexpr std::uint64_t kJobs = 20'000;
  constexpr std::size_t kWorkers = 4;
  WorkShares shares(kJobs, kWorkers);
  std::vector<std::atomic<int>> done(kJobs);
  std::vector<std::thread> threads;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&, worker] {
      while (const auto job = shares.take(worker)) ++done[job->number];
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(std::ranges::all_of(done, [](const auto& times) { return times == 1; }));
}

}  // namespace
}  // namespace gsort::gpu
