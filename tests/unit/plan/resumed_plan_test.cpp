// Plans of sorts that go on with the runs of an earlier process.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/error_of.hpp"
#include "support/invented.hpp"

namespace gsort {
namespace {

using test::invented_machine;
using test::options_for;

constexpr std::uint64_t kElements = 4 * kGiB;

Options resumable(const std::string& budget = "1G") {
  Options options = options_for(KeyType::kU32, budget);
  options.resume = "/scratch/dir";
  return options;
}

Machine machine_with(const ResumedRuns& resumed) {
  Machine machine = invented_machine(kElements * sizeof(std::uint32_t), 8, 64 * kGiB);
  machine.resumed = resumed;
  return machine;
}

TEST(ResumedPlan, CountsTheRunsThatAreThereAndThoseOfTheRest) {
  for (const ResumedRuns& resumed :
       {ResumedRuns{1, 1, 2032}, ResumedRuns{3, 700'000'000, 4080},
        ResumedRuns{9, kElements - 1, 16368}, ResumedRuns{40, kElements, 16368}}) {
    const Plan plan = test::plan_of(resumable(), machine_with(resumed));
    const std::uint64_t rest = kElements - resumed.elements;
    EXPECT_TRUE(plan.is<Spill>());
    EXPECT_EQ(plan.run.count, resumed.runs + div_up(rest, plan.chunk.chunk_elements));
    EXPECT_EQ(plan.run.block_elements, resumed.block_elements);
    EXPECT_EQ(plan.resumed.runs, resumed.runs);
    test::expect_sound(plan, resumable());
  }
}

TEST(ResumedPlan, IsNeverOneChunkWhereThereIsARun) {
  Machine machine = machine_with({1, 100, 2032});
  machine.input_bytes = 400;
  const Plan all_there = test::plan_of(resumable(), machine);
  EXPECT_TRUE(all_there.is<Spill>());
  EXPECT_EQ(all_there.run.count, 1U);
  machine.input_bytes = 404;
  EXPECT_EQ(test::plan_of(resumable(), machine).run.count, 2U);
  machine.resumed = {};
  EXPECT_TRUE(test::plan_of(resumable(), machine).is<OneChunk>());
}

TEST(ResumedPlan, SelectsOnlyWhereThereIsNoRun) {
  Options options = resumable();
  options.top = 1'000;
  EXPECT_TRUE(test::plan_of(options, machine_with({})).is<SelectPlan>());
  EXPECT_TRUE(test::plan_of(options, machine_with({1, 1'000'000, 2032})).is<Spill>());
}

TEST(ResumedPlan, KeepsNoRunInMemory) {
  Options options = resumable("8G");
  const Machine machine = machine_with({});
  const Plan persistent = test::plan_of(options, machine);
  EXPECT_EQ(persistent.run.kept_bytes(), 0U);
  EXPECT_FALSE(persistent.run.through_page_cache);
  options.resume.reset();
  const Plan usual = test::plan_of(options, machine);
  EXPECT_GT(usual.run.kept_bytes(), 0U);
  EXPECT_TRUE(persistent.job.resumable);
  EXPECT_FALSE(usual.job.resumable);
}

TEST(ResumedPlan, NeedsNoRoomForWhatIsThere) {
  const Plan fresh = test::plan_of(resumable(), machine_with({}));
  const Plan half =
      test::plan_of(resumable(), machine_with({8, kElements / 2, fresh.run.block_elements}));
  const Plan merged =
      test::plan_of(resumable(), machine_with({16, kElements, fresh.run.block_elements}));
  EXPECT_GE(fresh.temporary_bytes, kElements * 4);
  EXPECT_GE(half.temporary_bytes, kElements * 2);
  EXPECT_LT(half.temporary_bytes, kElements * 3);
  EXPECT_LE(merged.temporary_bytes, 2 * kMiB);
  Machine full = machine_with({16, kElements, fresh.run.block_elements});
  full.temporary.front().free_bytes = 4 * kMiB;
  EXPECT_NO_THROW((void)test::plan_of(resumable(), full));
  full.resumed = {};
  const Error error = test::error_of([&] { (void)test::plan_of(resumable(), full); });
  EXPECT_EQ(error.kind(), ErrorKind::kResource);
  EXPECT_EQ(error.hint(), "name a folder with more room");
}

TEST(ResumedPlan, NamesTheMemoryThatLargeBlocksNeed) {
  const Machine machine = machine_with({4, 1'000'000, 4 << 20});
  const Error error = test::error_of([&] { (void)test::plan_of(resumable("16M"), machine); });
  const std::string words = "use at least ";
  ASSERT_EQ(error.hint().rfind(words, 0), 0U) << error.what();
  const Options named = resumable(error.hint().substr(words.size()));
  test::expect_sound(test::plan_of(named, machine), named);
}

}  // namespace
}  // namespace gsort
