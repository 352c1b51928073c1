#include "base/blocking_queue.hpp"

#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/failure.hpp"

namespace gsort {
namespace {

TEST(BlockingQueue, GivesWhatIsLeftAfterItWasClosedAndThenNothing) {
  BlockingQueue<int> queue;
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  queue.close();
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BlockingQueue, DropsItemsPushedAfterItWasClosed) {
  BlockingQueue<int> queue;
  queue.close();
  EXPECT_FALSE(queue.push(1));
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BlockingQueue, WakesAllWhoWaitWhenItIsClosed) {
  BlockingQueue<int> queue;
  std::vector<std::jthread> waiting;
  std::atomic<int> woken{0};
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back([&] {
      if (!queue.pop()) ++woken;
    });
  }
  queue.close();
  waiting.clear();
  EXPECT_EQ(woken, 4);
}

TEST(BlockingQueue, PassesMovableItemsBetweenThreads) {
  BlockingQueue<std::unique_ptr<int>> queue;
  std::jthread producer([&] {
    for (int i = 0; i < 1'000; ++i) queue.push(std::make_unique<int>(i));
    queue.close();
  });
  int expected = 0;
  while (const auto item = queue.pop()) ASSERT_EQ(**item, expected++);
  EXPECT_EQ(expected, 1'000);
}

TEST(BlockingQueue, GivesAnItemWithoutWaitingIfThereIsOne) {
  BlockingQueue<int> queue;
  EXPECT_EQ(queue.try_pop(), std::nullopt);
  queue.push(1);
  queue.push(2);
  EXPECT_EQ(queue.try_pop(), 1);
  EXPECT_EQ(queue.try_pop(), 2);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
}

TEST(Failure, KeepsTheFirstException) {
  Failure failure;
  EXPECT_FALSE(failure.failed());
  failure.rethrow();
  for (const char* const text : {"first", "second"}) {
    try {
      throw std::runtime_error(text);
    } catch (...) {
      failure.capture();
    }
  }
  EXPECT_TRUE(failure.failed());
  try {
    failure.rethrow();
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
}

}  // namespace
}  // namespace gsort
