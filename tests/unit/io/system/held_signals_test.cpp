#include "io/system/held_signals.hpp"

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>

#include "io/system/process.hpp"

namespace gsort::io {
namespace {

volatile std::sig_atomic_t heard = 0;

extern "C" void hear(int signal) {
  heard = signal;
}

TEST(HeldSignalsDeathTest, EndTheProcessWhenTheLastHolderGoes) {
  EXPECT_EXIT(
      {
        take_process();
        {
          const HeldSignals outer;
          {
            const HeldSignals inner;
            std::raise(SIGTERM);
          }
          std::raise(SIGINT);
          std::cerr << "still there";
        }
        std::cerr << ", and longer";
      },
      testing::KilledBySignal(SIGTERM), "^still there$");
}

TEST(HeldSignalsDeathTest, WaitInAnyThread) {
  EXPECT_EXIT(
      {
        take_process();
        const HeldSignals* const held = new HeldSignals;
        std::jthread([] { std::raise(SIGHUP); }).join();
        std::cerr << "still there";
        delete held;
        std::cerr << ", and longer";
      },
      testing::KilledBySignal(SIGHUP), "^still there$");
}

TEST(HeldSignalsDeathTest, MayBeOfTheRealTime) {
  for (const int signal : {SIGRTMIN, SIGRTMAX, SIGPWR}) {
    EXPECT_EXIT(
        {
          take_process();
          {
            const HeldSignals held;
            std::raise(signal);
            std::cerr << "still there";
          }
          std::cerr << ", and longer";
        },
        testing::KilledBySignal(signal), "^still there$");
  }
}

// In a process of its own: none can be given back.
void expect_in_child(void (*check)()) {
  EXPECT_EXIT(
      {
        check();
        std::exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(HeldSignalsDeathTest, LeaveIgnoredSignalsAndHandlersAlone) {
  expect_in_child([] {
    take_process();
    ASSERT_NE(std::signal(SIGHUP, SIG_IGN), SIG_ERR);
    ASSERT_NE(std::signal(SIGTERM, hear), SIG_ERR);
    {
      const HeldSignals held;
      std::raise(SIGHUP);
      std::raise(SIGTERM);
      EXPECT_EQ(heard, SIGTERM);
    }
    EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), hear);
    EXPECT_EQ(std::signal(SIGHUP, SIG_DFL), SIG_IGN);
  });
}

TEST(HeldSignalsDeathTest, LeaveEverythingAsItWasWhenNoneCame) {
  expect_in_child([] {
    take_process();
    { const HeldSignals held; }
    EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), SIG_DFL);
  });
}

TEST(HeldSignalsDeathTest, KeepAHandlerThatWasSetMeanwhile) {
  expect_in_child([] {
    take_process();
    {
      const HeldSignals held;
      ASSERT_NE(std::signal(SIGTERM, hear), SIG_ERR);
    }
    EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), hear);
  });
}

TEST(HeldSignalsDeathTest, HoldNothingInAHost) {
  expect_in_child([] {
    const HeldSignals held;
    EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), SIG_DFL);
    EXPECT_EQ(std::signal(SIGRTMIN, SIG_DFL), SIG_DFL);
  });
}

}  // namespace
}  // namespace gsort::io
