#include "base/made_once.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace gsort {
namespace {

std::atomic<int> alive{0};

struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int value = 0;
};

TEST(ThreadOwned, IsMadeAtTheFirstCallAndStays) {
  const ThreadOwned<Counted> owned;
  EXPECT_EQ(alive, 0);
  std::thread([&] {
    owned.own().value = 7;
    EXPECT_EQ(owned.own().value, 7);
    EXPECT_EQ(alive, 1);
  }).join();
}

TEST(ThreadOwned, IsAnotherForEveryThreadAndGoesWithIt) {
  const ThreadOwned<Counted> owned;
  std::thread([&] {
    Counted& outer = owned.own();
    std::thread([&] {
      EXPECT_NE(&owned.own(), &outer);
      EXPECT_EQ(alive, 2);
    }).join();
    EXPECT_EQ(alive, 1);
  }).join();
  EXPECT_EQ(alive, 0);
}

TEST(ThreadOwned, OfTwoObjectsAreTwo) {
  const ThreadOwned<Counted> first;
  const ThreadOwned<Counted> second;
  std::thread([&] { EXPECT_NE(&first.own(), &second.own()); }).join();
}

}  // namespace
}  // namespace gsort
