// Plans for invented machines, from a kilobyte on one core to 100 TB on 128. Random ones are in
// property/plan_test.cpp.
#include <gtest/gtest.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "plan/budget.hpp"
#include "plan/engine_choice.hpp"
#include "support/error_of.hpp"
#include "support/invented.hpp"

namespace gsort {
namespace {

using test::invented_machine;
using test::options_for;

constexpr std::uint64_t kTB = 1'000'000'000'000;

ErrorKind refused(const Options& options, const Machine& machine) {
  const Error error = test::error_of([&] { (void)test::plan_of(options, machine); });
  EXPECT_FALSE(error.hint().empty() && error.kind() == ErrorKind::kResource) << error.what();
  return error.kind();
}

TEST(MakePlan, IsSoundForEverySizeMemoryAndMachine) {
  for (const std::uint64_t input : {std::uint64_t{1'024}, 1 * kMiB, 100 * kMiB, 1 * kGiB,
                                    100 * kGiB, 1 * kTB, 8 * kTB, 100 * kTB}) {
    for (const std::uint64_t memory : {64 * kMiB, 1 * kGiB, 16 * kGiB, 1 * kTiB}) {
      for (const unsigned cores : {1U, 2U, 16U, 128U}) {
        for (const KeyType type : {KeyType::kU32, KeyType::kF64}) {
          for (const bool streams : {false, true}) {
            Machine machine = invented_machine(round_down(input, 8), cores, memory);
            if (streams) machine.output.reset();
            const Options options = options_for(type);
            SCOPED_TRACE(testing::Message()
                         << format_bytes(input) << " in " << format_bytes(memory) << ", " << cores
                         << " cores, " << name_of(type) << (streams ? ", to a stream" : ""));
            try {
              test::expect_sound(test::plan_of(options, machine), options);
            } catch (const Error& error) {
              EXPECT_EQ(error.kind(), ErrorKind::kUsage) << error.what();
              EXPECT_TRUE(error.hint().starts_with("use at least") ||
                          error.hint().starts_with("all 64 MiB of this machine"))
                  << error.hint();
            }
          }
        }
      }
    }
  }
}

// Sizes of sparse files have no bound but that of an offset.
TEST(MakePlan, OfMoreThanAnyDiskHoldsEndsAtOnce) {
  for (const std::uint64_t input : {std::uint64_t{1} << 60, kMostFileBytes / 8 * 8}) {
    for (const KeyType type : {KeyType::kU8, KeyType::kU32, KeyType::kF64}) {
      Machine machine = invented_machine(input, 16, 64 * kGiB);
      machine.temporary.front().free_bytes = UINT64_MAX;
      machine.output->free_bytes = UINT64_MAX;
      for (const char* const budget : {"24M", "1G", "64G"}) {
        const Options options = options_for(type, budget);
        try {
          test::expect_sound(test::plan_of(options, machine), options);
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::kUsage) << error.what();
        }
      }
    }
  }
}

TEST(MakePlan, ThatNoMemoryOfTheMachineIsEnoughForNamesNone) {
  const Options options = options_for(KeyType::kU32, "24M");
  Machine machine = invented_machine(std::uint64_t{1} << 62, 4, 32 * kMiB);
  const auto hint = [&] {
    return test::error_of([&] { (void)test::plan_of(options, machine); }).hint();
  };
  EXPECT_EQ(hint(), "all 32 MiB of this machine are not enough; use one with more memory");
  machine.processes = 3;
  EXPECT_EQ(hint(),
            "all 32 MiB that this machine has for each of 3 processes are not enough; run fewer "
            "processes on it");
}

TEST(MakePlan, SpillsOnlyWhatDoesNotFit) {
  const struct {
    KeyType type;
    const char* budget;
    Machine machine;
    bool spills;
  } cases[] = {{KeyType::kU64, "2G", invented_machine(8 * kTB, 16, 4 * kGiB), true},
               {KeyType::kU64, "500G", invented_machine(100 * kTB, 128, kTiB), true},
               {KeyType::kU32, "16M", invented_machine(kGiB, 2, 8 * kGiB), true},
               {KeyType::kU64, "16M", invented_machine(kGiB, 2, 8 * kGiB), true},
               {KeyType::kI32, "1G", invented_machine(400 * kMiB, 4, 8 * kGiB), false}};
  for (const auto& [type, budget, machine, spills] : cases) {
    SCOPED_TRACE(budget);
    const Options options = options_for(type, budget);
    const Plan plan = test::plan_of(options, machine);
    EXPECT_EQ(plan.is<Spill>(), spills);
    EXPECT_EQ(plan.is<OneChunk>(), !spills);
    EXPECT_EQ(plan.run.count > 1, spills);
    test::expect_sound(plan, options);
  }
}

TEST(MakePlan, StartsNoThreadsThatWouldFindNothingToDo) {
  const Plan plan = test::plan_of(options_for(KeyType::kU32), invented_machine(4'096, 128, kTiB));
  EXPECT_EQ(plan.threads, 1U);
}

TEST(MakePlan, KeepsTheThreadsAskedFor) {
  Options options = options_for(KeyType::kU32);
  options.parallel = 3;
  EXPECT_EQ(test::plan_of(options, invented_machine(8 * kGiB, 128, kTiB)).threads, 3U);
}

TEST(MakePlan, AcceptsAnEmptyInput) {
  for (const KeyType type : kAllKeyTypes) {
    const Plan plan = test::plan_of(options_for(type), invented_machine(0, 4, kGiB));
    EXPECT_EQ(plan.elements, 0U);
    EXPECT_EQ(plan.temporary_bytes, 0U);
  }
}

TEST(MakePlan, CountsNarrowKeysWhateverTheSize) {
  for (const KeyType type : {KeyType::kU8, KeyType::kI8, KeyType::kU16, KeyType::kI16}) {
    const Options options = options_for(type, "1G");
    const Plan plan = test::plan_of(options, invented_machine(100 * kTB, 16, 4 * kGiB));
    EXPECT_TRUE(plan.is<CountKeys>());
    EXPECT_EQ(plan.temporary_bytes, 0U);
    test::expect_sound(plan, options);
  }
}

TEST(MakePlan, CountsNarrowKeysWithinTheBudgetOnManyCores) {
  for (const std::uint64_t budget : {16 * kMiB, 64 * kMiB}) {
    const Plan plan = test::plan_of(options_for(KeyType::kU16, test::mebibytes(budget)),
                                    invented_machine(kTB, 128, kTiB));
    // Each reader has a block, and counts its keys in four tables of 32-bit numbers.
    const std::uint64_t tables = 4 * 4 * (std::uint64_t{1} << 16);
    EXPECT_LE(plan.chunk.readers * (plan.chunk.block_bytes + tables), budget);
  }
}

// A pipe may be compressed, and that of distinct keys has staging buffers beside its lanes.
TEST(MakePlan, MergesSeveralRunsOfAPipeInSixteenMebibytes) {
  constexpr std::uint64_t kFarMoreThanAnyGuess = 16 * kTiB;
  for (const KeyType type : {KeyType::kU32, KeyType::kF64, KeyType::kU128}) {
    for (const unsigned cores : {1U, 2U, 64U}) {
      for (const bool counts : {false, true}) {
        Options options = options_for(type, "16M");
        options.unique = true;
        options.count = counts;
        Machine machine = invented_machine({}, cores, 8 * kGiB);
        machine.compressed = {{"standard input", {}}};
        SCOPED_TRACE(testing::Message() << cores << " cores, " << name_of(type));
        const Plan plan = test::plan_of(options, machine);
        test::expect_sound(plan, options);
        EXPECT_GE(plan.run.fan_in, 4U);
        EXPECT_GE(plan_merge(plan, plan.run.fan_in, kFarMoreThanAnyGuess).part_elements, 1U);
      }
    }
  }
  Options records = options_for(KeyType::kU32, "16M");
  records.records = RecordFormat{.bytes = 2, .keys = {{.offset = 1, .bytes = 1, .type = {}}}};
  const Plan plan = test::plan_of(records, invented_machine({}, 2, 8 * kGiB));
  test::expect_sound(plan, records);
  EXPECT_GE(plan.run.fan_in, 2U);
}

// A few chunks of a large device have more fences than a plan for little host memory foresees.
TEST(MakePlan, MergesAnyNumberOfRunsOfAPipeWithALargeDeviceAndLittleMemory) {
  for (const char* device : {"6331M", "79G"}) {
    for (const char* host : {"152M", "177M", "512M"}) {
      SCOPED_TRACE(testing::Message() << "-S " << host << " --gpu-memory " << device);
      Machine machine = invented_machine(std::nullopt, 35, kTiB);
      test::add_gpu(machine);
      Options options = options_for(KeyType::kF64, host);
      options.engine = EngineChoice::kCuda;
      options.gpu_memory = device;
      test::expect_sound(test::plan_of(options, machine), options);
    }
  }
}

TEST(MakePlan, TakesHalfOfTheAvailableMemoryByDefault) {
  Machine machine = invented_machine(100 * kGiB, 4, 64 * kGiB);
  machine.available_bytes = 10 * kGiB;
  EXPECT_EQ(test::plan_of(options_for(KeyType::kU32), machine).host_budget_bytes, 5 * kGiB);
}

TEST(MakePlan, RefusesMoreMemoryThanThereIs) {
  EXPECT_EQ(refused(options_for(KeyType::kU32, "65G"), invented_machine(kGiB, 4, 64 * kGiB)),
            ErrorKind::kUsage);
}

// Options for the CUDA engine: with `all`, on all devices, else on as many as it chooses.
Options cuda_options(KeyType type, const std::string& budget = "", bool all = false) {
  Options options = options_for(type, budget);
  options.engine = EngineChoice::kCuda;
  options.devices.all = all;
  return options;
}

Machine machine_with_gpus(std::uint64_t input_bytes, std::initializer_list<std::uint64_t> memories,
                          std::uint64_t host_bytes = kTiB) {
  Machine machine = invented_machine(input_bytes, 128, host_bytes);
  for (const std::uint64_t memory : memories) test::add_gpu(machine, memory);
  return machine;
}

// Rates as if nothing had been measured: disks of 1.9 and 3 GB/s.
TEST(MakePlan, SortsAcrossEightDevicesWithoutSpilling) {
  constexpr std::uint64_t kCard = 141'000'000'000;
  Options options = cuda_options(KeyType::kU64);
  const Machine machine = machine_with_gpus(
      1'000'000'000'000, {kCard, kCard, kCard, kCard, kCard, kCard, kCard, kCard}, 2 * kTiB);
  for (const bool all : {false, true}) {
    options.devices.all = all;
    const Plan plan = test::plan_of(options, machine);
    EXPECT_TRUE(plan.is<Spill>());
    EXPECT_EQ(plan.temporary_bytes, 0U) << "one read, one write; " << plan.devices.size();
    EXPECT_TRUE(plan.run.rounds.empty());
    EXPECT_EQ(plan.devices.size(), all ? 8U : plan.devices.size());
    EXPECT_GE(plan.devices.size(), 2U);
    EXPECT_EQ(plan.chunk.spillers, plan.devices.size());
    EXPECT_EQ(plan.chunk.lanes, 3 * plan.devices.size());
    test::expect_sound(plan, options);
  }
}

TEST(MakePlan, SortsOnOneDeviceWhatFitsOne) {
  Options options = cuda_options(KeyType::kU64);
  options.devices.listed = {0, 1};
  const Plan plan = test::plan_of(options, machine_with_gpus(kGiB, {80 * kGiB, 80 * kGiB}));
  EXPECT_TRUE(plan.is<OneChunk>());
  EXPECT_EQ(plan.devices.size(), 1U);
}

TEST(MakePlan, KeepsRunsInAllThatUnequalDevicesHave) {
  Options options = cuda_options(KeyType::kU32, "", true);
  const Plan plan =
      test::plan_of(options, machine_with_gpus(200 * kGiB, {80 * kGiB, 24 * kGiB, 48 * kGiB}));
  ASSERT_EQ(plan.devices.size(), 3U);
  EXPECT_EQ(plan.devices[1].budget_bytes, 24 * kGiB / 10 * 9);
  EXPECT_EQ(plan.devices[1].more_buffers, 0U);
  const std::uint64_t more = plan.devices[0].more_buffers * plan.run.write_buffer_bytes;
  EXPECT_GT(more, 50 * kGiB);
  EXPECT_LE(more, 56 * kGiB / 10 * 9 + kMiB);
  EXPECT_GT(plan.device_run_bytes(), 3 * plan.run.device_bytes() + more);
  test::expect_sound(plan, options);
}

TEST(MakePlan, KeepsNoMoreRunsThanThereAre) {
  Options options = cuda_options(KeyType::kU32, "", true);
  const Plan plan =
      test::plan_of(options, machine_with_gpus(40 * kGiB, {8 * kGiB, 80 * kGiB, 80 * kGiB}));
  ASSERT_TRUE(plan.is<Spill>());
  EXPECT_EQ(plan.devices[0].more_buffers, 0U);
  EXPECT_GT(plan.devices[1].more_buffers, 0U);
  EXPECT_LE(plan.device_run_bytes(), 44 * kGiB);
  EXPECT_GE(plan.device_run_bytes(), 42 * kGiB);
  test::expect_sound(plan, options);
}

TEST(MakePlan, NamesTheDeviceThatHasTooLittle) {
  Options options = cuda_options(KeyType::kU64, "", true);
  const Error error = test::error_of([&] {
    (void)test::plan_of(options, machine_with_gpus(kTB, {80 * kGiB, 2 * kMiB, 80 * kGiB}));
  });
  const std::string words = error.what();
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_NE(words.find("--gpu-memory"), std::string::npos) << words;
  EXPECT_NE(words.find("on device 1 (an invented GPU): is too small"), std::string::npos) << words;
  EXPECT_NE(error.hint().find("leave it out of --device"), std::string::npos) << words;
  options.devices.all = false;
  EXPECT_NO_THROW(
      (void)test::plan_of(options, machine_with_gpus(kTB, {80 * kGiB, 2 * kMiB, 80 * kGiB})));
}

TEST(MakePlan, NamesTheDeviceThatHasLessThanItMayUse) {
  Options options = cuda_options(KeyType::kU64);
  options.devices.listed = {0, 1};
  options.gpu_memory = "40G";
  const Error error = test::error_of([&] {
    (void)test::plan_of(options, machine_with_gpus(kTB, {80 * kGiB, 8 * kGiB}));
  });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.reason(), "exceeds the 8 GiB that are free on device 1 (an invented GPU)");
  EXPECT_EQ(error.hint(), "give less memory, or choose other devices with --device");
}

TEST(MakePlan, TakesFewerDevicesWhereHostMemoryIsShort) {
  Options options = cuda_options(KeyType::kU64, "400M");
  const Machine machine = machine_with_gpus(kTB, {80 * kGiB, 80 * kGiB, 80 * kGiB, 80 * kGiB});
  const std::size_t chosen = choose_devices(make_job(options), machine).size();
  const Plan plan = test::plan_of(options, machine);
  EXPECT_GT(chosen, plan.devices.size());
  test::expect_sound(plan, options);
  options.devices.all = true;
  EXPECT_THROW((void)test::plan_of(options, machine), Error) << "these four were asked for";
}

TEST(MakePlan, FormsRunsThatOutlastTheProcessOneAfterTheOther) {
  Options options = cuda_options(KeyType::kU64, "", true);
  options.resume = "folder";
  const Plan plan = test::plan_of(options, machine_with_gpus(kTB, {80 * kGiB, 80 * kGiB}));
  EXPECT_EQ(plan.devices.size(), 2U);
  EXPECT_EQ(plan.chunk.spillers, 1U);
}

TEST(MakePlan, ListsTheDeviceThatSorts) {
  Machine machine = invented_machine(kGiB, 16, 64 * kGiB);
  machine.gpus = {{2, "the best", 80 * kGiB, 80 * kGiB}, {0, "another", 8 * kGiB, 8 * kGiB}};
  Options options = options_for(KeyType::kU64);
  EXPECT_TRUE(test::plan_of(options, machine).devices.empty());
  options.engine = EngineChoice::kCuda;
  options.gpu_memory = "10G";
  const Plan plan = test::plan_of(options, machine);
  ASSERT_EQ(plan.devices.size(), 1U);
  EXPECT_EQ(plan.devices[0].ordinal, 2);
  EXPECT_EQ(plan.devices[0].name, "the best");
  EXPECT_EQ(plan.devices[0].budget_bytes, 10 * kGiB);
}

// A card of 139 GiB: what fits its memory is read once and written once, whatever -S is.
TEST(MakePlan, LetsRunsStayOnTheDevice) {
  for (const char* budget : {"1G", "2G", "16G"}) {
    for (const std::uint64_t input : {70 * kGiB, 100 * kGiB, 110 * kGiB}) {
      Machine machine = invented_machine(input, 16, 64 * kGiB);
      test::add_gpu(machine, 139 * kGiB);
      Options options = cuda_options(KeyType::kF64, budget);
      options.gpu_memory = "135G";
      SCOPED_TRACE(testing::Message() << format_bytes(input) << " with " << budget);
      const Plan plan = test::plan_of(options, machine);
      EXPECT_TRUE(plan.is<Spill>());
      EXPECT_GT(plan.run.device_bytes(), input);
      EXPECT_LT(plan.run.device_bytes(), 119 * kGiB);
      EXPECT_LE(plan.temporary_bytes, input / 4);
      EXPECT_TRUE(plan.run.rounds.empty());
      test::expect_sound(plan, options);
    }
  }
}

TEST(MakePlan, LetsNoRunsStayOnTheDeviceThatOutlastTheProcessOrAreNone) {
  Machine machine = invented_machine(100 * kGiB, 16, 64 * kGiB);
  test::add_gpu(machine, 139 * kGiB);
  Options options = cuda_options(KeyType::kU64, "2G");
  EXPECT_GT(test::plan_of(options, machine).run.device_buffers, 0U);
  machine.input_bytes = 2 * kTiB;  // longer runs save more than the device could keep
  EXPECT_EQ(test::plan_of(options, machine).run.device_buffers, 0U);
  machine.input_bytes = 100 * kGiB;
  options.gpu_memory = "4G";  // chunks need it all
  EXPECT_EQ(test::plan_of(options, machine).run.device_buffers, 0U);
  options.gpu_memory.reset();
  options.resume = "folder";
  EXPECT_EQ(test::plan_of(options, machine).run.device_buffers, 0U);
  options.resume.reset();
  options.engine = EngineChoice::kCpu;
  EXPECT_EQ(test::plan_of(options, machine).run.device_buffers, 0U);
  options.engine = EngineChoice::kCuda;
  machine.input_bytes = 10 * kGiB;
  EXPECT_EQ(test::plan_of(options, machine).run.device_buffers, 0U);
}

TEST(MakePlan, RefusesMoreDeviceMemoryThanIsFree) {
  Machine machine = invented_machine(kGiB, 16, 64 * kGiB);
  test::add_gpu(machine, 10 * kGiB);
  Options options = cuda_options(KeyType::kU64);
  options.gpu_memory = "11G";
  EXPECT_EQ(refused(options, machine), ErrorKind::kUsage);
}

TEST(MakePlan, SaysWhichMemoryIsTooSmall) {
  Machine machine = invented_machine(100 * kGiB, 16, 64 * kGiB);
  test::add_gpu(machine, 80 * kGiB);
  Options options = cuda_options(KeyType::kU64, "16G");
  options.gpu_memory = "1M";
  const Error error = test::error_of([&] { (void)test::plan_of(options, machine); });
  EXPECT_EQ(error.operation().rfind("--gpu-memory", 0), 0U) << error.what();
}

TEST(BufferBudget, LeavesAnEighthButTwelveToSixteenMebibytesToTheProgram) {
  EXPECT_EQ(buffer_budget(32 * kMiB), 20 * kMiB);
  EXPECT_EQ(buffer_budget(96 * kMiB), 84 * kMiB);
  EXPECT_EQ(buffer_budget(128 * kMiB), 112 * kMiB);
  EXPECT_EQ(buffer_budget(kGiB), kGiB - 16 * kMiB);
}
TEST(BufferBudget, CountsASmallSizeAsTwentyFourMebibytes) {
  EXPECT_EQ(buffer_budget(8 * kMiB), 7 * kMiB);
  for (const std::uint64_t size : {14U, 16U, 20U, 24U}) {
    EXPECT_EQ(buffer_budget(size * kMiB), 12 * kMiB) << size;
  }
}
TEST(BufferBudget, LeavesTheProgramWhatItNeeds) {
  EXPECT_EQ(buffer_budget(4 * kMiB, 22 * kMiB), 0);
  EXPECT_EQ(buffer_budget(24 * kMiB, 22 * kMiB), 2 * kMiB);
  EXPECT_EQ(buffer_budget(64 * kMiB, 22 * kMiB), 42 * kMiB);
}

// The device has no room for one element's buffers.
TEST(Plan, OfNothingNeedsNoMemory) {
  Machine machine = invented_machine(0, 16, kTiB);
  test::add_gpu(machine);
  Options options = cuda_options(KeyType::kU64, "1G");
  options.gpu_memory = "1K";
  const Plan plan = test::plan_of(options, machine);
  EXPECT_EQ(plan.chunk.chunk_elements, 0U);
  EXPECT_TRUE(plan.is<OneChunk>());
}

}  // namespace
}  // namespace gsort
