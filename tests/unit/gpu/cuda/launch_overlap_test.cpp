#include "gpu/cuda/launch_overlap.hpp"

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

TEST(LaunchOverlap, IsForSmallGridsOfCodeThatCanWait) {
  EXPECT_TRUE(may_overlap({90, 90, 1, false}));
  EXPECT_TRUE(may_overlap({120, 90, kMostOverlappedBlocks, false}));
  EXPECT_FALSE(may_overlap({120, 90, kMostOverlappedBlocks + 1, false}));
}

TEST(LaunchOverlap, IsNotForOlderDevices) {
  EXPECT_FALSE(may_overlap({89, 89, 1, false}));
}

TEST(LaunchOverlap, IsNotForCodeOfOlderDevicesOnANewOne) {
  EXPECT_FALSE(may_overlap({90, 80, 1, false}));
}

TEST(LaunchOverlap, IsNotForKernelsThatStartAlone) {
  EXPECT_FALSE(may_overlap({90, 90, 1, true}));
}

}  // namespace
}  // namespace gsort::gpu
