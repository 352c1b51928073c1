// The tunings suit what is compiled: every architecture of the packages, and the fan-ins.
#include "gpu/cuda/tuning.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

TEST(Tuning, HasARowForEveryArchitectureOfThePackages) {
  constexpr unsigned kOfPackages[] = {GSORT_ALL_ARCHITECTURES};
  EXPECT_TRUE(std::ranges::equal(kTunings, kOfPackages, {}, &TuningRow::architecture))
      << "kTunings and GSORT_ALL_ARCHITECTURES of tools/cmake/GsortCuda.cmake differ";
}

TEST(Tuning, MergesNoMoreRunsThanAKernelTakes) {
  for (const TuningRow& row : kTunings) {
    for (const KernelTuning& tuning :
         {row.key32, row.key64, row.key128, row.small32.kernels, row.small64.kernels,
          row.small128.kernels, row.pairs.of[0][0], row.pairs.of[0][1], row.pairs.of[1][0],
          row.pairs.of[1][1]}) {
      EXPECT_TRUE(std::ranges::count(kFanIns, tuning.max_fan_in) == 1)
          << "sm_" << row.architecture << ": " << to_string(tuning);
    }
  }
}

}  // namespace
}  // namespace gsort::gpu
