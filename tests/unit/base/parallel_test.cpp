#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gsort {
namespace {

TEST(RunWorkers, CallsEveryWorkerOnce) {
  for (const unsigned workers : {1U, 2U, 3U, 16U, 100U}) {
    std::vector<std::atomic<int>> calls(workers);
    run_workers(workers, [&](unsigned worker) { ++calls.at(worker); });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
}

TEST(RunWorkers, ShowsTheCallerWhatTheWorkersWrote) {
  std::vector<int> results(64, 0);
  run_workers(64, [&](unsigned worker) { results[worker] = static_cast<int>(worker); });
  for (int i = 0; i < 64; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], i);
}

TEST(RunWorkers, PassesAnExceptionOnAfterTheOthersHaveReturned) {
  for (const unsigned workers : {1U, 2U, 8U}) {
    for (unsigned failing = 0; failing < workers; ++failing) {
      std::atomic<unsigned> returned{0};
      try {
        run_workers(workers, [&](unsigned worker) {
          if (worker == failing) throw std::runtime_error("worker " + std::to_string(worker));
          ++returned;
        });
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "worker " + std::to_string(failing));
        EXPECT_EQ(returned, workers - 1);
      }
    }
  }
}

TEST(RunWorkers, ThrowsOneExceptionWhenAllFail) {
  std::atomic<int> thrown{0};
  EXPECT_THROW(run_workers(8,
                           [&](unsigned) {
                             ++thrown;
                             throw std::logic_error("all");
                           }),
               std::logic_error);
  EXPECT_EQ(thrown, 8);
}

TEST(RunWorkers, MayBeNested) {
  std::atomic<int> calls{0};
  run_workers(4, [&](unsigned) { run_workers(4, [&](unsigned) { ++calls; }); });
  EXPECT_EQ(calls, 16);
}

TEST(RunWorkers, RunAtTheSameTimeWhereThereAreThreads) {
  std::atomic<int> begun{0};
  run_workers(3, [&](unsigned) {
    ++begun;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (begun < 3 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_EQ(begun, 3);
  });
}

TEST(RunWorkers, MayBeCalledBySeveralThreads) {
  constexpr int kCallers = 6;
  constexpr int kCallsOfEach = 2000;
  std::atomic<int> calls{0};
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&] {
      for (int i = 0; i < kCallsOfEach; ++i) {
        std::atomic<int> own{0};
        run_workers(5, [&](unsigned) { ++own; });
        EXPECT_EQ(own, 5);
        calls += own;
      }
    });
  }
  callers.clear();
  EXPECT_EQ(calls, kCallers * kCallsOfEach * 5);
}

TEST(RunWorkers, MayBeMoreThanAnySystemHasThreads) {
  std::atomic<unsigned> sum{0};
  run_workers(100'000, [&](unsigned worker) { sum += worker % 7; });
  unsigned expected = 0;
  for (unsigned worker = 0; worker < 100'000; ++worker) expected += worker % 7;
  EXPECT_EQ(sum, expected);
}

// Whether `works` is true in a forked process.
bool works_in_a_fork(const std::function<bool()>& works) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // where it waits for threads that it does not have
    std::exit(works() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status == 0;
}

TEST(RunWorkers, CanBeCalledInAProcessThatIsForked) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no threads in such a process";
#endif
  run_workers(4, [](unsigned) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // its threads wait for more
  EXPECT_TRUE(works_in_a_fork([] {
    std::atomic<unsigned> sum{0};
    for (int call = 0; call < 20; ++call) {
      run_workers(9, [&](unsigned worker) {
        sum += worker;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
    }
    return sum == 720;
  }));
}

// Another call may have started the thread of the pool; a forked process has none of its threads.
TEST(RunWorkers, RoundsToTheNearestInThreadsOfThePool) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no threads in such a process";
#endif
  EXPECT_TRUE(works_in_a_fork([] {
    std::fesetround(FE_UPWARD);
    std::atomic<int> rounding{-1};
    run_workers(2, [&, caller = std::this_thread::get_id()](unsigned) {
      if (std::this_thread::get_id() != caller) rounding = std::fegetround();
      while (rounding < 0) std::this_thread::yield();
    });
    return rounding == FE_TONEAREST;
  }));
}

TEST(ForEachNumber, IsCalledForEachOfThemOnce) {
  for (const unsigned workers : {0U, 1U, 3U, 16U}) {
    std::vector<std::atomic<int>> calls(40);
    for_each_number(workers, calls.size(), [&](unsigned worker, std::uint64_t number) {
      EXPECT_LT(worker, std::max(workers, 1U));
      ++calls.at(number);
    });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
}

TEST(ForEachNumber, BeginsNoneAfterAnException) {
  for (const unsigned workers : {1U, 4U}) {
    std::atomic<bool> has_failed{false};
    std::atomic<unsigned> begun{0};
    const auto work = [&](unsigned, std::uint64_t number) {
      ++begun;
      if (number == 5) throw std::runtime_error("number 5");
      while (number > 5 && !has_failed) std::this_thread::yield();  // as for the turn of 5
      if (number > 5) throw std::logic_error("for the same reason");
    };
    EXPECT_THROW(for_each_number(workers, 1'000, work, [&] { has_failed = true; }),
                 std::runtime_error);
    EXPECT_LE(begun, 5 + workers);
  }
}

}  // namespace
}  // namespace gsort
