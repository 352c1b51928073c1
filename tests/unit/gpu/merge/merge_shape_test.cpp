// The passes of a merge of slices: the partition reads their tables.
#include "gpu/merge/merge_shape.hpp"

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/merge/device_arrays.hpp"

namespace gsort::gpu {
namespace {

constexpr KernelTuning kTuning{16, 256, 128, 128, 8, 1024};

TEST(MergeShape, HasTheFewestPassesAndOfTheseTheLeastFanIn) {
  struct Case {
    std::uint32_t slices;
    unsigned passes;
    std::uint32_t fan_in;
  };
  for (const Case& wanted :
       {Case{1, 1, 2}, Case{2, 1, 2}, Case{3, 1, 4}, Case{8, 1, 8}, Case{9, 2, 4}, Case{16, 2, 4},
        Case{17, 2, 8}, Case{64, 2, 8}, Case{65, 3, 8}}) {
    const MergeShape shape = merge_shape_of(wanted.slices, kTuning);
    EXPECT_EQ(shape.passes, wanted.passes) << wanted.slices << " slices";
    EXPECT_EQ(shape.fan_in, wanted.fan_in) << wanted.slices << " slices";
  }
}

TEST(MergePasses, TellsEachPassWhereItsGroupsBegin) {
  std::mt19937_64 random(4);
  for (const std::uint32_t slice_count : {1U, 2U, 3U, 7U, 8U, 9U, 64U, 65U}) {
    std::vector<std::uint64_t> counts(slice_count);
    for (auto& count : counts) count = random() % 3 == 0 ? 0 : random() % 9000;
    const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    ScratchCutter measure(nullptr);
    static_cast<void>(cut_merge_scratch<std::uint32_t>(measure, total, slice_count, kTuning));
    std::vector<std::byte> memory(measure.used_bytes());
    ScratchCutter cutter(memory.data());
    const auto scratch = cut_merge_scratch<std::uint32_t>(cutter, total, slice_count, kTuning);
    ASSERT_EQ(cutter.used_bytes(), measure.used_bytes());

    const auto map = KeyMap<std::uint32_t>::of({KeyType::kI32});
    const auto all =
        make_passes<std::uint32_t>(counts.data(), slice_count, scratch, kTuning, map, {});
    const MergeShape shape = merge_shape_of(slice_count, kTuning);
    ASSERT_EQ(all.passes.size(), shape.passes);
    ASSERT_EQ(all.numbers.size(), table_numbers(slice_count, shape));
    EXPECT_EQ(all.numbers[slice_count], total);
    const auto row_bytes = reinterpret_cast<const std::byte*>(scratch.tables) -
                           reinterpret_cast<const std::byte*>(scratch.rows);
    for (const auto& pass : all.passes) {
      const std::uint64_t* first_row = all.numbers.data() + (pass.group_first_row - scratch.tables);
      EXPECT_EQ(first_row[0], 0U);
      EXPECT_EQ(pass.loads_mapped, &pass == &all.passes.front());
      for (std::uint64_t group = 1; group < pass.group_count; ++group) {
        EXPECT_GT(first_row[group], first_row[group - 1]) << "a row for the end of each group";
      }
      EXPECT_LE(pass.row_count * (kRowHeader + pass.fan_in) * 8,
                static_cast<std::uint64_t>(row_bytes));
    }
    EXPECT_EQ(all.passes.back().group_count, 1U);
  }
}

TEST(SumOfSlices, RefusesWhatDoesNotFit) {
  const std::uint64_t counts[] = {~std::uint64_t{0}, 2};
  EXPECT_THROW(static_cast<void>(sum_of_slices(counts, 2, "merging")), Error);
  EXPECT_EQ(sum_of_slices(counts + 1, 1, "merging"), 2U);
  EXPECT_EQ(sum_of_slices(nullptr, 0, "merging"), 0U);
}

}  // namespace
}  // namespace gsort::gpu
