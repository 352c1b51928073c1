#include "engine/device_losses.hpp"

#include <gtest/gtest.h>

namespace gsort {
namespace {

DeviceError failure_of(std::optional<int> ordinal, ErrorKind kind, const char* operation) {
  return {ordinal, Error(kind, operation, "lost").path("on device 1")};
}

TEST(DeviceLosses, NamesEachDeviceOnceForWhatWasDoneAgain) {
  DeviceLosses losses;
  losses.add(failure_of(1, ErrorKind::kDevice, "sorting"), DoneAgain::kChunks);
  losses.add(failure_of(1, ErrorKind::kDevice, "copying"), DoneAgain::kChunks);
  losses.add(failure_of(1, ErrorKind::kDevice, "merging"), DoneAgain::kParts);
  ASSERT_EQ(losses.all().size(), 2U);
  EXPECT_EQ(losses.all()[0].failure, "sorting on device 1: lost");
  EXPECT_EQ(losses.all()[1].again, DoneAgain::kParts);
}

TEST(DeviceLosses, ForgetWhatWasDoneAgainBeforeTheWholeSort) {
  DeviceLosses losses;
  losses.add(failure_of(1, ErrorKind::kDevice, "merging"), DoneAgain::kParts);
  losses.add(failure_of({}, ErrorKind::kResource, "pinning"), DoneAgain::kSort);
  ASSERT_EQ(losses.all().size(), 1U);
  EXPECT_EQ(losses.all()[0].ordinal, std::nullopt);
  EXPECT_TRUE(losses.loss_of(1));
}

TEST(DeviceLosses, LeaveADeviceInUseThatHadTooLittleMemory) {
  DeviceLosses losses;
  losses.add(failure_of(1, ErrorKind::kResource, "allocating"), DoneAgain::kParts);
  EXPECT_FALSE(losses.loss_of(1));
  losses.add(failure_of(1, ErrorKind::kDevice, "copying"), DoneAgain::kParts);
  ASSERT_TRUE(losses.loss_of(1));
  EXPECT_EQ(losses.loss_of(1)->operation(), "copying");
  EXPECT_FALSE(losses.loss_of(0));
  EXPECT_FALSE(losses.loss_of(std::nullopt));
}

}  // namespace
}  // namespace gsort
