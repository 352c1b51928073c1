#include "gpu/engine/driver_words.hpp"

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

TEST(DriverWords, TellNoDriverFromAnOldOne) {
  EXPECT_EQ(insufficient_driver_words(0, 13000), "no NVIDIA driver was found");
  EXPECT_EQ(insufficient_driver_words(11080, 12040),
            "the NVIDIA driver is too old: it knows CUDA 11.8, this program needs 12.4");
}

}  // namespace
}  // namespace gsort::gpu
