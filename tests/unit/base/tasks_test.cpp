#include "base/tasks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace gsort {
namespace {

// Waits until `count` are there; false if that takes too long.
bool meet(std::atomic<int>& here, int count) {
  ++here;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (here < count && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return here >= count;
}

TEST(TaskArena, CallsEveryTaskOnce) {
  for (const unsigned workers : {1U, 2U, 3U, 16U}) {
    TaskArena arena(workers);
    for (const std::size_t count : {0U, 1U, 2U, 100U, 10'000U}) {
      std::vector<std::atomic<int>> calls(count);
      arena.for_each(count, [&](std::size_t number) { ++calls.at(number); });
      for (const auto& called : calls) ASSERT_EQ(called, 1);
    }
  }
}

TEST(TaskArena, ShowsTheCallerWhatTasksWroteAndTheTasksWhatTheCallerWrote) {
  TaskArena arena(4);
  std::vector<std::size_t> numbers(1000, 0);
  for (std::size_t round = 1; round <= 20; ++round) {
    arena.for_each(numbers.size(), [&](std::size_t i) { numbers[i] += i; });
    for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], round * i);
  }
}

TEST(TaskArena, RunsTasksAtTheSameTimeWhereThereAreThreads) {
  TaskArena arena(3);
  std::atomic<int> here{0};
  arena.for_each(3, [&](std::size_t) { EXPECT_TRUE(meet(here, 3)); });
}

TEST(TaskArena, HasNoMoreWorkersThanItWasAskedFor) {
  TaskArena arena(2);
  EXPECT_EQ(arena.workers(), 2U);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  arena.for_each(200, [&](std::size_t) {
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    --running;
  });
  EXPECT_LE(most, 2);
}

TEST(TaskArena, PassesTheFirstExceptionOnAndBeginsNoFurtherTasks) {
  for (const unsigned workers : {1U, 4U}) {
    TaskArena arena(workers);
    std::atomic<int> calls{0};
    try {
      arena.for_each(100'000, [&](std::size_t number) {
        ++calls;
        if (number == 7) throw std::runtime_error("task 7");
        std::this_thread::sleep_for(std::chrono::microseconds(10));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "task 7");
      EXPECT_LT(calls, 100'000);
    }
    arena.for_each(10, [&](std::size_t) { calls = 0; });
    EXPECT_EQ(calls, 0) << "it goes on after a failure";
  }
}

TEST(TaskArena, RunsTasksOfTasks) {
  TaskArena arena(3);
  std::atomic<int> calls{0};
  arena.for_each(20, [&](std::size_t) {
    arena.for_each(20, [&](std::size_t) { arena.for_each(5, [&](std::size_t) { ++calls; }); });
  });
  EXPECT_EQ(calls, 2000);
}

TEST(TaskArena, SharesTheTasksOfOneTask) {
  TaskArena arena(3);
  std::atomic<int> here{0};
  arena.for_each(2, [&](std::size_t number) {
    if (number == 0) arena.for_each(3, [&](std::size_t) { EXPECT_TRUE(meet(here, 3)); });
  });
  EXPECT_EQ(here, 3);
}

TEST(TaskArena, PassesOnWhatATaskOfATaskThrows) {
  TaskArena arena(3);
  EXPECT_THROW(arena.for_each(5,
                              [&](std::size_t) {
                                arena.for_each(5, [](std::size_t number) {
                                  if (number == 3) throw std::logic_error("inner");
                                });
                              }),
               std::logic_error);
}

TEST(TaskArena, MayBeUsedNextToOthersByManyThreads) {
  std::atomic<int> calls{0};
  {
    std::vector<std::jthread> callers;
    for (unsigned caller = 0; caller < 6; ++caller) {
      callers.emplace_back([&, caller] {
        for (int i = 0; i < 300; ++i) {
          std::atomic<int> own{0};
          TaskArena(1 + caller).for_each(7, [&](std::size_t) { ++own; });
          EXPECT_EQ(own, 7);
          calls += own;
        }
      });
    }
  }
  EXPECT_EQ(calls, 6 * 300 * 7);
}

TEST(TaskArenaInOrder, LetsATaskWaitForThoseBeforeIt) {
  for (const unsigned workers : {1U, 2U, 4U, 9U}) {
    TaskArena arena(workers);
    std::atomic<std::size_t> done{0};
    std::mutex mutex;
    std::vector<std::size_t> order;
    arena.for_each_in_order(500,
                            [&](std::size_t number, unsigned worker) {
                              EXPECT_LT(worker, workers);
                              while (done < number) std::this_thread::yield();
                              const std::scoped_lock lock(mutex);
                              order.push_back(number);
                              ++done;
                            },
                            {});
    ASSERT_EQ(order.size(), 500U);
    EXPECT_TRUE(std::ranges::is_sorted(order));
  }
}

TEST(TaskArenaInOrder, GivesNoTwoTasksTheSameWorkerAtATime) {
  TaskArena arena(4);
  std::vector<std::atomic<int>> busy(4);
  arena.for_each_in_order(2000,
                          [&](std::size_t, unsigned worker) {
                            EXPECT_EQ(++busy.at(worker), 1);
                            std::this_thread::yield();
                            --busy.at(worker);
                          },
                          {});
}

TEST(TaskArenaInOrder, SaysInOrderThatATaskBeginsAndOnceThatItHasEnded) {
  for (const unsigned workers : {1U, 4U}) {
    for (const std::size_t failing : {100U, 30U}) {
      TaskArena arena(workers);
      std::atomic<std::size_t> begun{0};
      std::atomic<std::size_t> called{0};
      std::atomic<std::size_t> ended{0};
      const auto run = [&] {
        arena.for_each_in_order(100,
                                [&](std::size_t number, unsigned) {
                                  EXPECT_GT(begun, number) << "it has not been said to begin";
                                  EXPECT_LE(ended, called++);
                                  if (number == failing) throw std::runtime_error("a task");
                                },
                                {.on_begin = [&] { ++begun; }, .on_end = [&] { ++ended; }});
      };
      if (failing < 100) {
        EXPECT_THROW(run(), std::runtime_error);
        EXPECT_GT(begun, failing);
      } else {
        run();
        EXPECT_EQ(begun, 100U);
      }
      EXPECT_EQ(called, begun);
      EXPECT_EQ(ended, begun);
    }
  }
}

TEST(TaskArenaInOrder, EndsTheWaitingOfOthersAfterTheFirstFailureHasBeenKept) {
  for (const unsigned workers : {1U, 4U}) {
    TaskArena arena(workers);
    std::atomic<bool> abandoned{false};
    try {
      arena.for_each_in_order(1000,
                              [&](std::size_t number, unsigned) {
                                if (number == 5) throw std::runtime_error("the cause");
                                if (number < 5) return;
                                while (!abandoned) std::this_thread::yield();
                                throw std::runtime_error("an effect");
                              },
                              {.on_failure = [&] { abandoned = true; }});
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "the cause");
    }
  }
}

// Sorts of what a process without threads can do: in a process of its own, as a user who is allowed
// none beside it. Root is allowed any number.
[[noreturn]] void work_without_threads(rlim_t threads) {
  const rlimit limit{threads, threads};
  if (::setrlimit(RLIMIT_NPROC, &limit) != 0) std::_Exit(1);
  if (::getuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setresgid(61234, 61234, 61234) != 0 ||
                          ::setresuid(61234, 61234, 61234) != 0)) {
    std::_Exit(2);
  }
  TaskArena first(4);
  TaskArena second(8);
  std::atomic<int> calls{0};
  first.for_each(100, [&](std::size_t) { second.for_each(3, [&](std::size_t) { ++calls; }); });
  first.for_each_in_order(100, [&](std::size_t, unsigned) { ++calls; }, {});
  std::_Exit(calls == 400 && first.workers() <= threads ? 0 : 3);
}

// In a process of its own: the threads of other tests' arenas would do work, too.
[[noreturn]] void use_two_arenas_at_once() {
  TaskArena first(4);
  TaskArena second(4);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const auto work = [&](TaskArena& arena) {
    arena.for_each(800, [&](std::size_t) {
      {
        const std::scoped_lock lock(mutex);
        threads.insert(std::this_thread::get_id());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  };
  {
    const std::jthread other([&] { work(second); });
    work(first);
  }
  // The first arena's three threads, or as many as oneTBB has for other code of this process.
  const auto shared = std::max<std::size_t>(3, std::thread::hardware_concurrency() - 1);
  std::_Exit(threads.size() <= 2 + shared ? 0 : 1);
}

TEST(TaskArenaDeathTest, SharesItsThreadsWithOtherArenas) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(use_two_arenas_at_once(), testing::ExitedWithCode(0), "");
}

TEST(TaskArenaDeathTest, DoesTheWorkWithAsFewThreadsAsTheSystemGives) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const rlim_t threads : {1U, 2U, 3U}) {
    EXPECT_EXIT(work_without_threads(threads), testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace gsort
