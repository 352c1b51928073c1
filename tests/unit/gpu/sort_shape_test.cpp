// The passes of a sort: enough to join all runs, as few as can be, the cheap ones first.
#include "gpu/sort_shape.hpp"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

TEST(SortShape, NeedsNoPassForOneTile) {
  const KernelTuning tuning = tuning_for<std::uint32_t>(90);
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{tuning.block_sort_keys()}}) {
    EXPECT_TRUE(shape_of(count, tuning).fan_ins.empty()) << count;
  }
  EXPECT_EQ(shape_of(tuning.block_sort_keys() + 1, tuning).fan_ins, std::vector<std::uint32_t>{2});
}

TEST(SortShape, JoinsAllRunsInAsFewPassesAsTheFanInAllows) {
  for (const unsigned max_fan_in : {2U, 4U, 8U}) {
    const KernelTuning tuning{32, 256, 128, max_fan_in, 1024};
    for (std::uint64_t runs = 1; runs <= 5000; ++runs) {
      const SortShape shape = shape_of(runs * tuning.block_sort_keys(), tuning);
      ASSERT_EQ(shape.run_count, runs);
      std::uint64_t reach = 1;
      for (const std::uint32_t fan_in : shape.fan_ins) {
        ASSERT_LE(fan_in, max_fan_in);
        reach *= fan_in;
      }
      ASSERT_GE(reach, runs);
      ASSERT_LT(reach / 2, runs);
      ASSERT_TRUE(std::is_sorted(shape.fan_ins.begin(), shape.fan_ins.end()));
      std::uint64_t least = 1;
      std::size_t passes = 0;
      for (; least < runs; least *= max_fan_in) ++passes;
      ASSERT_EQ(shape.fan_ins.size(), passes) << runs;
    }
  }
}

TEST(SortShape, GivesAGroupARowForEachTileAndOneForItsEnd) {
  const KernelTuning tuning{32, 256, 128, 8, 1024};
  EXPECT_EQ(rows_of_group(4096, 2, tuning), 3U);
  EXPECT_EQ(rows_of_group(4097, 2, tuning), 4U);
}

}  // namespace
}  // namespace gsort::gpu
