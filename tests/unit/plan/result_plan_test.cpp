// Plans of sorts of which only a part comes out, of merges of inputs, and of batches.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/select_plan.hpp"
#include "support/error_of.hpp"
#include "support/invented.hpp"

namespace gsort {
namespace {

using test::invented_machine;
using test::options_for;

Options top_of(std::uint64_t elements, const std::string& budget = "") {
  Options options = options_for(KeyType::kU32, budget);
  options.top = elements;
  return options;
}

TEST(SelectionPlan, IsMadeWhereTheCandidatesFit) {
  const Machine machine = invented_machine(64 * kGiB, 16, 8 * kGiB);
  for (const std::uint64_t top : {0ULL, 1'000ULL, 1'000'000ULL, 100'000'000ULL}) {
    const Plan plan = test::plan_of(top_of(top), machine);
    EXPECT_TRUE(plan.is<SelectPlan>()) << top;
    EXPECT_GE(plan.as<SelectPlan>().candidates, 2 * top);
    EXPECT_GE(plan.as<SelectPlan>().workers, 1U);
    EXPECT_LE(plan.arena_bytes, buffer_budget(plan.host_budget_bytes));
    EXPECT_EQ(plan.output.least_bytes, top * 4);
    EXPECT_EQ(plan.temporary_bytes, 0U);
  }
}

TEST(SelectionPlan, SortsMoreCandidatesAtOnceIfMostElementsAreTaken) {
  EXPECT_FALSE(are_many_candidates(4'105, 10, false));
  EXPECT_TRUE(are_many_candidates(4'106, 10, false));
  EXPECT_FALSE(are_many_candidates(399'999, 100'000, true));
  EXPECT_TRUE(are_many_candidates(400'000, 100'000, true));
  EXPECT_TRUE(are_many_candidates(200'000, 100'000, false));
}

TEST(SelectionPlan, IsMadeForRecordsToo) {
  const Machine machine = invented_machine(64 * kGiB, 16, 8 * kGiB);
  for (const std::uint32_t bytes : {3U, 100U, RecordFormat::kMostBytes}) {
    Options options = top_of(1'000, "1G");
    options.records = RecordFormat{bytes, {{0, 1, std::nullopt, false, false}}};
    const Plan plan = test::plan_of(options, machine);
    ASSERT_TRUE(plan.is<SelectPlan>()) << bytes;
    const auto& select = plan.as<SelectPlan>();
    EXPECT_GE(select.candidate_bytes, 2'000 * bytes);
    EXPECT_GE(plan.arena_bytes / select.workers - plan.chunk.block_bytes,
              2 * select.candidate_bytes + select.candidates * kRecordEntryBytes);
    EXPECT_LE(plan.arena_bytes, buffer_budget(plan.host_budget_bytes));
  }
}

TEST(SelectionPlan, ReadsSmallerBlocksWhereThereIsLittleMemory) {
  for (const unsigned cores : {1U, 2U, 16U}) {
    const Machine machine = invented_machine(64 * kGiB, cores, 8 * kGiB);
    for (const char* const budget : {"2M", "3M", "8M", "64M", "1G"}) {
      const Plan plan = test::plan_of(top_of(1'000, budget), machine);
      EXPECT_TRUE(plan.is<SelectPlan>()) << budget << ", " << cores << " cores";
      EXPECT_LE(plan.arena_bytes, buffer_budget(plan.host_budget_bytes));
    }
    EXPECT_EQ(test::plan_of(top_of(1'000, "1G"), machine).chunk.block_bytes, kMiB);
  }
}

TEST(SelectionPlan, GivesWayToASortWhereItCannotHelp) {
  const Machine machine = invented_machine(64 * kGiB, 16, 8 * kGiB);
  for (const std::uint64_t top : {std::uint64_t{1} << 30, UINT64_MAX}) {
    EXPECT_TRUE(test::plan_of(top_of(top), machine).is<Spill>()) << top;
  }
  const Machine small = invented_machine(4'000, 16, 8 * kGiB);
  EXPECT_TRUE(test::plan_of(top_of(999), small).is<OneChunk>());
  const Machine pipe = invented_machine(std::nullopt, 16, 8 * kGiB);
  EXPECT_TRUE(test::plan_of(top_of(1'000), pipe).is<SelectPlan>());
  Options narrow = top_of(10);
  narrow.key.type = KeyType::kU8;
  EXPECT_TRUE(test::plan_of(narrow, machine).is<CountKeys>());
}

Options merge_of(std::size_t inputs, const std::string& budget) {
  Options options = options_for(KeyType::kU64, budget);
  options.merge = true;
  options.inputs.assign(inputs, "in");
  return options;
}

void expect_sound_windows(const Plan& plan) {
  const InputMergePlan& merge = plan.as<InputMergePlan>();
  EXPECT_GE(merge.fan_in, 2U);
  EXPECT_LE(merge.fan_in * merge.window_elements, merge.part_elements);
  EXPECT_GE(merge.window_elements * plan.element_bytes, 16 * kKiB);
  EXPECT_LE(plan.arena_bytes, buffer_budget(plan.host_budget_bytes));
}

TEST(InputMergePlan, TakesAllInputsAtOnceWhereTheirWindowsFit) {
  for (const std::size_t inputs : {2U, 10U, 1'000U}) {
    for (const auto size : {std::optional(100 * kGiB), std::optional<std::uint64_t>()}) {
      const Plan plan = test::plan_of(merge_of(inputs, "1G"), invented_machine(size, 4, 8 * kGiB));
      EXPECT_TRUE(plan.is<InputMergePlan>());
      EXPECT_EQ(plan.as<InputMergePlan>().fan_in, inputs);
      EXPECT_EQ(plan.run.count, 0U);
      EXPECT_EQ(plan.temporary_bytes, 0U);
      expect_sound_windows(plan);
    }
  }
}

TEST(InputMergePlan, MakesRunsOfGroupsWhereWindowsDoNotFitOrFewAreAskedFor) {
  const Machine machine = invented_machine(kGiB, 4, 8 * kGiB);
  const Plan many = test::plan_of(merge_of(5'000, "24M"), machine);
  EXPECT_LT(many.as<InputMergePlan>().fan_in, 5'000U);
  EXPECT_GE(many.run.count * many.as<InputMergePlan>().fan_in, 5'000U);
  EXPECT_GE(many.temporary_bytes, kGiB);
  expect_sound_windows(many);
  Options few = merge_of(10, "1G");
  few.batch_size = 3;
  const Plan groups = test::plan_of(few, machine);
  EXPECT_EQ(groups.as<InputMergePlan>().fan_in, 3U);
  EXPECT_EQ(groups.run.count, 4U);
  expect_sound_windows(groups);
}

// Records of 16 bytes that are one key.
Job job_of_wide_records() {
  Options options = options_for(KeyType::kU64, "64M");
  options.records = RecordFormat{16, {{0, 16, KeyType::kU128, false, false}}};
  return make_job(options);
}

TEST(RunsOfAPlan, HoldKeysOfSixteenBytesUnlessAnotherProcessReadsThem) {
  const Machine machine = invented_machine(kGiB, 4, 8 * kGiB);
  const Plan own = make_plan(job_of_wide_records(), machine);
  EXPECT_FALSE(own.job.element.records);
  EXPECT_EQ(own.element_bytes, 16U);
  EXPECT_FALSE(make_plan(own.job, machine).job.element.records);
  for (bool Job::*const is_read : {&Job::resumable, &Job::forms_share}) {
    Job job = job_of_wide_records();
    job.*is_read = true;
    EXPECT_TRUE(make_plan(job, machine).job.element.records == job.element.records);
  }
}

TEST(RunsOfAPlan, OfMergedFloatsHoldRecords) {
  const Machine machine = invented_machine(kGiB, 4, 8 * kGiB);
  Options options = merge_of(10, "1G");
  for (const KeyType type : {KeyType::kU64, KeyType::kF64}) {
    options.key.type = type;
    options.batch_size.reset();
    EXPECT_FALSE(test::plan_of(options, machine).job.element.records) << "no runs";
    options.batch_size = 3;
    const Plan plan = test::plan_of(options, machine);
    EXPECT_EQ(plan.job.element.records.has_value(), type == KeyType::kF64);
    EXPECT_EQ(plan.job.shown.has_value(), type == KeyType::kF64);
    const Plan again = make_plan(plan.job, machine);  // after a device failed
    EXPECT_TRUE(again.job.element.records == plan.job.element.records);
    EXPECT_EQ(again.job.shown.has_value(), plan.job.shown.has_value());
  }
}

TEST(Plan, HasTheTemporaryFoldersOfTheMachineInTheirOrder) {
  Machine machine = invented_machine(kGiB, 4, 8 * kGiB);
  machine.temporary.push_back({"/a", 3, std::uint64_t{1} << 50, ""});
  EXPECT_EQ(test::plan_of(options_for(KeyType::kU32), machine).temporary_folders,
            (std::vector<std::string>{"/scratch", "/a"}));
}

TEST(InputMergePlan, SaysHowMuchMemoryIsNeeded) {
  const Error error = test::error_of([&] {
    static_cast<void>(test::plan_of(merge_of(1'000, "1M"), invented_machine(kGiB, 4, 8 * kGiB)));
  });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
}

// A single input, too: it is never merged in groups, and has a decoder beside its window.
TEST(InputMergePlan, NamesTheMemoryThatDecodersNeed) {
  for (const unsigned inputs : {1U, 2U, 20U}) {
    SCOPED_TRACE(inputs);
    Options options = merge_of(inputs, "8M");
    Machine machine = invented_machine(std::nullopt, 4, 8 * kGiB);
    for (const std::string& name : options.inputs) {
      machine.compressed.push_back({name, {Codec::kXz, 9 * kMiB}});
    }
    const Error error = test::error_of([&] { static_cast<void>(test::plan_of(options, machine)); });
    const std::string words = "give -S ";
    ASSERT_EQ(error.hint().rfind(words, 0), 0U) << error.what();
    const std::size_t end = error.hint().find(' ', words.size());
    options.buffer_size = error.hint().substr(words.size(), end - words.size());
    EXPECT_TRUE(test::plan_of(options, machine).is<InputMergePlan>()) << *options.buffer_size;
  }
}

Plan plan_of_arrays(std::uint64_t elements, const std::string& budget, KeyType type,
                    std::optional<std::uint64_t> input = 10 * kGiB) {
  Options options = options_for(type, budget);
  options.batch_elements = elements;
  return test::plan_of(options, invented_machine(input, 4, 8 * kGiB));
}

TEST(BatchPlan, PutsWholeArraysIntoABlock) {
  for (const std::uint64_t elements : {1ULL, 3ULL, 1'000ULL, 300'000ULL, 5'000'000ULL}) {
    const Plan plan = plan_of_arrays(elements, "1G", KeyType::kU32);
    EXPECT_TRUE(plan.is<BatchPlan>()) << elements;
    EXPECT_EQ(plan.as<BatchPlan>().block_elements % elements, 0U);
    EXPECT_EQ(plan.as<BatchPlan>().lanes, 4U);
    EXPECT_LE(plan.arena_bytes, buffer_budget(plan.host_budget_bytes));
  }
}

// Else each of them would be a sort of its own, and written by itself.
TEST(BatchPlan, PutsSmallArraysIntoABlockHoweverLittleMemoryThereIs) {
  for (const char* const budget : {"2M", "3M", "5M", "8M", "16M"}) {
    for (const unsigned cores : {1U, 2U, 16U, 128U}) {
      Options options = options_for(KeyType::kI16, budget);
      options.batch_elements = 1;
      options.compress = Codec::kZstd;
      options.compress_level = 3;
      const Plan plan = test::plan_of(options, invented_machine(kGiB, cores, 8 * kGiB));
      EXPECT_TRUE(plan.is<BatchPlan>()) << budget << ", " << cores << " cores";
      EXPECT_GE(plan.as<BatchPlan>().block_elements, 2048U);
      EXPECT_LE(plan.arena_bytes, buffer_budget(plan.host_budget_bytes));
    }
  }
}

TEST(BatchPlan, SortsArraysThatAreLargeOneAfterTheOther) {
  const Plan one_chunk = plan_of_arrays(60'000'000, "1G", KeyType::kU32);
  EXPECT_TRUE(one_chunk.is<OneChunk>());
  EXPECT_EQ(one_chunk.elements, 10 * kGiB / 4);
  EXPECT_TRUE(plan_of_arrays(500'000'000, "1G", KeyType::kU32).is<Spill>());
  EXPECT_TRUE(plan_of_arrays(UINT64_MAX, "1G", KeyType::kU32).is<Spill>());
  EXPECT_TRUE(plan_of_arrays(500'000'000, "1G", KeyType::kU32, std::nullopt).is<Spill>());
  EXPECT_TRUE(plan_of_arrays(5'000'000'000, "1G", KeyType::kU8).is<CountKeys>());
}

// For a pipe, they may be the whole, short content.
TEST(BatchPlan, TakesLongArraysOfAPipeForAPipeWithoutArrays) {
  for (const std::uint64_t elements :
       {std::uint64_t{1} << 45, std::uint64_t{1} << 62, UINT64_MAX / 2, UINT64_MAX}) {
    const Plan plan = plan_of_arrays(elements, "64M", KeyType::kU32, std::nullopt);
    EXPECT_TRUE(plan.is<UnknownSize>()) << elements;
    EXPECT_EQ(plan.job.array_elements, std::min(elements, (UINT64_MAX / 2) / 4));
    EXPECT_EQ(plan.temporary_bytes, 0U);
  }
}

TEST(ArrayOutput, NeedsAFileWhereTheCountIsNotKnown) {
  Options options = options_for(KeyType::kF64);
  options.unique = true;
  options.output_format = FileFormat::kNpy;
  Machine machine = invented_machine(kGiB, 4, 8 * kGiB);
  EXPECT_NO_THROW(static_cast<void>(test::plan_of(options, machine)));
  machine.output.reset();
  EXPECT_THROW(static_cast<void>(test::plan_of(options, machine)), Error);
  options.unique = false;
  EXPECT_NO_THROW(static_cast<void>(test::plan_of(options, machine)));
}

}  // namespace
}  // namespace gsort
