#include "io/system/status_signal.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace gsort::io {
namespace {

TEST(StatusSignal, SetsAFlagThatIsTakenOnce) {
  hear_status_signal();
  EXPECT_FALSE(take_status_request());
  std::raise(SIGUSR1);
  std::raise(SIGUSR1);
  EXPECT_TRUE(take_status_request());
  EXPECT_FALSE(take_status_request());
}

}  // namespace
}  // namespace gsort::io
