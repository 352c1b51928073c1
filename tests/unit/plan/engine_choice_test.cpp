#include "plan/engine_choice.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/error_of.hpp"
#include "support/invented.hpp"

namespace gsort {
namespace {

Machine machine_with_gpu(std::optional<std::uint64_t> input_bytes, unsigned cores = 16) {
  Machine machine = test::invented_machine(input_bytes, cores, 64 * kGiB);
  test::add_gpu(machine);
  return machine;
}

Options asking_for(EngineChoice engine, KeyType type = KeyType::kI32) {
  Options options = test::options_for(type);
  options.engine = engine;
  return options;
}

TEST(ChooseEngine, TakesTheCpuForSmallInputs) {
  const auto decision =
      choose_engine(make_job(asking_for(EngineChoice::kAuto)), machine_with_gpu(1 * kMiB));
  EXPECT_FALSE(decision.cuda);
  EXPECT_NE(decision.reason.find("1 MiB"), std::string::npos) << decision.reason;
}

TEST(ChooseEngine, TakesTheGpuForLargeInputsOnFewCores) {
  const auto decision =
      choose_engine(make_job(asking_for(EngineChoice::kAuto)), machine_with_gpu(64 * kGiB, 4));
  EXPECT_TRUE(decision.cuda);
  EXPECT_FALSE(decision.reason.empty());
}

// Rates of 16 cores of an Intel Xeon and an H200, where 1 GiB of u32 in tmpfs takes 0.26 s on the
// CPU and 0.40 s with the GPU, and 8 GiB 1.6 and 1.0 s.
TEST(ChooseEngine, TakesTheOneThatWasFasterWhereRatesWereMeasured) {
  const auto takes_gpu = [](std::uint64_t bytes) {
    Machine machine = machine_with_gpu(bytes);
    machine.rates.core_bytes_per_second = 0.25e9;
    machine.rates.gpu_bytes_per_second = 15e9;
    machine.rates.cuda_start_seconds = 0.22;
    return choose_engine(make_job(asking_for(EngineChoice::kAuto)), machine).cuda;
  };
  EXPECT_FALSE(takes_gpu(1 * kGiB));
  EXPECT_TRUE(takes_gpu(8 * kGiB));
}

TEST(ChooseEngine, TakesTheCpuWhereThereIsNoGpuAndSaysWhy) {
  const auto decision = choose_engine(make_job(asking_for(EngineChoice::kAuto)),
                                      test::invented_machine(64 * kGiB, 4, 64 * kGiB));
  EXPECT_FALSE(decision.cuda);
  EXPECT_EQ(decision.reason, "this machine was invented without one");
}

TEST(ChooseEngine, TakesTheCpuForPipesUnlessToldOtherwise) {
  EXPECT_FALSE(choose_engine(make_job(asking_for(EngineChoice::kAuto)), machine_with_gpu({})).cuda);
  EXPECT_TRUE(choose_engine(make_job(asking_for(EngineChoice::kCuda)), machine_with_gpu({})).cuda);
}

TEST(ChooseEngine, DoesAsAsked) {
  EXPECT_FALSE(
      choose_engine(make_job(asking_for(EngineChoice::kCpu)), machine_with_gpu(kTiB, 1)).cuda);
  EXPECT_TRUE(choose_engine(make_job(asking_for(EngineChoice::kCuda)), machine_with_gpu(1)).cuda);
}

TEST(ChooseEngine, RefusesCudaWithoutAGpuAndNamesTheReason) {
  const Error error = test::error_of([&] {
    (void)choose_engine(make_job(asking_for(EngineChoice::kCuda)),
                        test::invented_machine(kGiB, 4, 64 * kGiB));
  });
  EXPECT_EQ(error.kind(), ErrorKind::kDevice);
  EXPECT_NE(std::string(error.what()).find("invented without one"), std::string::npos);
  EXPECT_FALSE(error.hint().empty());
}

TEST(ChooseEngine, CountsNarrowKeysOnTheCpu) {
  for (const KeyType type :
       {KeyType::kU8, KeyType::kI8, KeyType::kU16, KeyType::kI16, KeyType::kF16, KeyType::kBF16}) {
    EXPECT_FALSE(
        choose_engine(make_job(asking_for(EngineChoice::kAuto, type)), machine_with_gpu(kTiB, 1))
            .cuda);
  }
}

TEST(ChooseEngine, RefusesCudaWithoutAGpuForNarrowKeysToo) {
  const Options options = asking_for(EngineChoice::kCuda, KeyType::kU8);
  EXPECT_TRUE(wants_gpu(make_job(options), test::invented_machine(1, 4, 64 * kGiB)));
  EXPECT_THROW((void)choose_engine(make_job(options), test::invented_machine(1, 4, 64 * kGiB)),
               Error);
  EXPECT_FALSE(choose_engine(make_job(options), machine_with_gpu(1)).cuda);
}

TEST(ChooseEngine, TakesTheGpuForKeysOfSixteenBytes) {
  const Machine machine = machine_with_gpu(64 * kGiB, 4);
  EXPECT_TRUE(
      choose_engine(make_job(asking_for(EngineChoice::kAuto, KeyType::kU128)), machine).cuda);
  Options uuids = asking_for(EngineChoice::kAuto);
  uuids.records = RecordFormat{.bytes = 16, .keys = {{.offset = 0, .bytes = 16, .type = {}}}};
  EXPECT_TRUE(choose_engine(make_job(uuids), machine).cuda);
}

TEST(ChooseEngine, SortsArraysOfWideKeysOnTheCpu) {
  Job job = make_job(asking_for(EngineChoice::kCuda, KeyType::kU128));
  EXPECT_TRUE(choose_engine(job, machine_with_gpu(kTiB, 1)).cuda);
  job.array_elements = 1000;
  const auto decision = choose_engine(job, machine_with_gpu(kTiB, 1));
  EXPECT_FALSE(decision.cuda);
  EXPECT_NE(decision.reason.find("16 bytes"), std::string::npos) << decision.reason;
  job = make_job(asking_for(EngineChoice::kAuto, KeyType::kU128));
  EXPECT_TRUE(wants_gpu(job, machine_with_gpu(kTiB, 1)));
  job.array_elements = 1000;
  EXPECT_FALSE(wants_gpu(job, machine_with_gpu(kTiB, 1)));
}

TEST(WantsGpu, LooksOnlyWhereOneCouldBeUsed) {
  const auto wants = [](const Options& options, unsigned cores,
                        std::optional<std::uint64_t> bytes) {
    return wants_gpu(make_job(options), test::invented_machine(bytes, cores, 64 * kGiB));
  };
  EXPECT_FALSE(wants(asking_for(EngineChoice::kAuto), 16, 1 * kMiB));
  EXPECT_FALSE(wants(asking_for(EngineChoice::kAuto), 16, std::nullopt));
  EXPECT_FALSE(wants(asking_for(EngineChoice::kCpu), 1, kTiB));
  EXPECT_FALSE(wants(asking_for(EngineChoice::kAuto, KeyType::kU8), 1, kTiB));
  EXPECT_TRUE(wants(asking_for(EngineChoice::kAuto), 2, 64 * kGiB));
  EXPECT_TRUE(wants(asking_for(EngineChoice::kCuda), 16, 1));
}

TEST(WantsGpu, CountsTheCoresThatMayBeUsed) {
  Options options = asking_for(EngineChoice::kAuto);
  const Machine machine = test::invented_machine(2 * kGiB, 128, 64 * kGiB);
  ASSERT_FALSE(wants_gpu(make_job(options), machine));
  options.parallel = 1;
  EXPECT_TRUE(wants_gpu(make_job(options), machine));
}

Machine machine_with_gpus(std::optional<std::uint64_t> input_bytes, std::size_t gpus,
                          std::uint64_t gpu_bytes = 80 * kGiB) {
  Machine machine = test::invented_machine(input_bytes, 64, 128 * kGiB);
  for (std::size_t i = 0; i < gpus; ++i) test::add_gpu(machine, gpu_bytes);
  return machine;
}

std::size_t chosen(const Machine& machine, Options options = asking_for(EngineChoice::kAuto)) {
  return choose_devices(make_job(options), machine).size();
}

TEST(SharedChunkPlan, IsForWhatOneDeviceCannotHold) {
  Options options = test::options_for(KeyType::kU64);
  options.engine = EngineChoice::kCuda;
  options.devices.all = true;
  const auto plan_of = [&](std::uint64_t bytes) {
    return test::plan_of(options, machine_with_gpus(bytes, 3));
  };
  const Plan one = plan_of(30 * kGiB);
  EXPECT_TRUE(one.is<OneChunk>());
  EXPECT_EQ(one.devices.size(), 1U);
  EXPECT_FALSE(one.chunk.is_shared);
  const Plan shared = plan_of(90 * kGiB);
  EXPECT_TRUE(shared.is<OneChunk>());
  EXPECT_EQ(shared.devices.size(), 3U);
  EXPECT_TRUE(shared.chunk.is_shared);
  EXPECT_EQ(shared.temporary_bytes, 0U);
  EXPECT_TRUE(plan_of(150 * kGiB).is<Spill>()) << "each needs as much again to sort";
  for (const KeyType type : {KeyType::kU128, KeyType::kI128}) {
    options.key.type = type;
    EXPECT_TRUE(plan_of(90 * kGiB).is<Spill>());
  }
  options.key.type = KeyType::kU64;
  options.resume = "/kept";
  EXPECT_TRUE(plan_of(90 * kGiB).is<Spill>()) << "which leaves runs for a second try";
  options.resume.reset();
  Machine unlike = machine_with_gpus(90 * kGiB, 3);
  for (GpuFacts& gpu : unlike.gpus) gpu.link_bytes_per_second = 64e9;
  EXPECT_TRUE(test::plan_of(options, unlike).is<OneChunk>());
  unlike.gpus[1].link_bytes_per_second = 32e9;
  EXPECT_TRUE(test::plan_of(options, unlike).is<Spill>());
}

TEST(ChooseDevices, TakesOneForWhatFitsOne) {
  Machine machine = machine_with_gpus(30 * kGiB, 8);
  EXPECT_EQ(chosen(machine), 1U);
  machine.input_is_cached = true;
  EXPECT_EQ(chosen(machine), 1U);
}

TEST(ChooseDevices, TakesMoreWhereRunsWouldBeSpilled) {
  EXPECT_EQ(chosen(machine_with_gpus(80 * kGiB, 8)), 1U) << "the host's memory holds the rest";
  const std::size_t some = chosen(machine_with_gpus(300 * kGiB, 8));
  EXPECT_GT(some, 1U);
  EXPECT_LT(some, 8U);
  EXPECT_EQ(chosen(machine_with_gpus(600 * kGiB, 8)), 8U);
}

TEST(ChooseDevices, TakesMoreWhereTheHostReadsFasterThanOneLink) {
  Machine machine = machine_with_gpus(70 * kGiB, 8);
  machine.rates.gpu_bytes_per_second = 50e9;
  machine.input_is_cached = true;
  const std::size_t fast = chosen(machine);
  EXPECT_GT(fast, 1U);
  machine.rates.gpu_bytes_per_second = 10e9;
  EXPECT_GT(chosen(machine), fast) << "slower links";
  machine.input_is_cached = false;  // a disk of 3 GB/s
  EXPECT_EQ(chosen(machine), 1U);
}

TEST(ChooseDevices, TakesAsManyAsHoldTheInputTogether) {
  Machine machine = machine_with_gpus(96 * kGiB, 4);
  machine.rates.gpu_bytes_per_second = 50e9;
  machine.input_is_cached = true;
  EXPECT_EQ(chosen(machine), 3U);
  const Plan plan = test::plan_of(asking_for(EngineChoice::kCuda, KeyType::kU32), machine);
  EXPECT_TRUE(plan.chunk.is_shared);
  EXPECT_EQ(plan.devices.size(), 3U);
}

TEST(ChooseDevices, LeavesOutThoseWithWhichTheInputIsNotHeld) {
  Machine machine = machine_with_gpus(66 * kGiB, 2);
  machine.input_is_cached = true;
  Machine unlike = machine;
  test::add_gpu(machine, 30 * kGiB);
  EXPECT_EQ(chosen(machine), 2U) << "a third of it does not fit the last one";
  test::add_gpu(unlike);
  for (GpuFacts& gpu : unlike.gpus) gpu.link_bytes_per_second = 12.5e9;
  unlike.gpus.back().link_bytes_per_second = 6e9;
  EXPECT_EQ(chosen(unlike), 2U) << "links are not alike";
}

TEST(ChooseDevices, LeavesOutThoseWithLessThanAQuarterOfTheMemory) {
  Machine machine = machine_with_gpus(100 * kGiB, 1);
  machine.rates.gpu_bytes_per_second = 10e9;
  machine.input_is_cached = true;
  Machine with_less = machine;
  test::add_gpu(machine, 20 * kGiB);
  EXPECT_EQ(chosen(machine), 2U);
  test::add_gpu(with_less, 19 * kGiB);
  EXPECT_EQ(chosen(with_less), 1U);
  Options options = asking_for(EngineChoice::kAuto);
  options.gpu_memory = "30G";
  EXPECT_EQ(chosen(machine, options), 1U) << "the other one has less";
}

TEST(ChooseDevices, GoesByTheLinkOfEach) {
  Machine machine = machine_with_gpus(70 * kGiB, 2);
  machine.input_is_cached = true;
  EXPECT_EQ(chosen(machine), 2U);
  machine.gpus[0].link_bytes_per_second = 64e9;
  machine.gpus[1].link_bytes_per_second = 64e9;
  EXPECT_EQ(chosen(machine), 2U) << "1.5 s for the input, and half a second to start";
  machine.gpus[1].link_bytes_per_second = 8e9;
  EXPECT_EQ(chosen(machine), 1U) << "it would save 0.2 s";
  machine.rates.gpu_bytes_per_second = 5e9;
  EXPECT_EQ(chosen(machine), 2U) << "1.6 s of 15";
}

TEST(ChooseDevices, TakesOneWhereAnotherStartSavesNothing) {
  Machine machine = machine_with_gpus(9 * kGiB, 2, 16 * kGiB);
  machine.input_is_cached = true;
  machine.rates.gpu_bytes_per_second = 40e9;
  EXPECT_EQ(chosen(machine), 1U) << "0.24 s in all";
}

TEST(ChooseDevices, TakesOneWhereNobodyKnowsHowMuchComes) {
  EXPECT_EQ(chosen(machine_with_gpus(std::nullopt, 8), asking_for(EngineChoice::kCuda)), 1U);
}

TEST(ChooseDevices, TakesAllThatWereAskedFor) {
  Options options = asking_for(EngineChoice::kCuda);
  options.devices.all = true;
  EXPECT_EQ(chosen(machine_with_gpus(kMiB, 8), options), 8U);
  EXPECT_EQ(chosen(machine_with_gpus(std::nullopt, 8), options), 8U);
  options.devices = {{3, 3}, false};
  EXPECT_EQ(chosen(machine_with_gpus(kMiB, 2), options), 2U);
  EXPECT_EQ(chosen(machine_with_gpus(kMiB, 0), options), 0U);
}

TEST(PredictedSeconds, GrowWithTheInputAndShrinkWithTheCores) {
  const Rates usual;
  EXPECT_LT(predicted_cpu_seconds(usual, kGiB, 4), predicted_cpu_seconds(usual, 2 * kGiB, 4));
  EXPECT_LT(predicted_cpu_seconds(usual, kGiB, 8), predicted_cpu_seconds(usual, kGiB, 4));
  EXPECT_LT(predicted_cuda_seconds(usual, kGiB), predicted_cuda_seconds(usual, 2 * kGiB));
}

TEST(PredictedSeconds, AreThoseOfTheRatesThatWereSeen) {
  const Rates seen{0.5e9, 48e9, 0.25};
  EXPECT_DOUBLE_EQ(predicted_cpu_seconds(seen, 8'000'000'000, 4), 4);
  // 0.425 s for CUDA, 0.1 s for the input, 0.2 s for an output of 24 GB/s.
  EXPECT_NEAR(predicted_cuda_seconds(seen, 4'800'000'000), 0.425 + 0.1 + 0.2, 1e-9);
}

TEST(ChooseEngine, GoesByTheRatesThatWereSeen) {
  const Options options = asking_for(EngineChoice::kAuto);
  Machine machine = machine_with_gpu(2 * kGiB, 16);
  ASSERT_FALSE(choose_engine(make_job(options), machine).cuda);
  machine.rates.gpu_bytes_per_second = 50e9;
  EXPECT_TRUE(choose_engine(make_job(options), machine).cuda);
  machine.rates.cuda_start_seconds = 3;
  EXPECT_FALSE(choose_engine(make_job(options), machine).cuda);
  machine.rates.core_bytes_per_second = 0.02e9;
  EXPECT_TRUE(choose_engine(make_job(options), machine).cuda);
}

TEST(WithoutDevice, IsTheMachineWithTheOthers) {
  Machine machine = test::invented_machine(kGiB, 4, kTiB);
  for (int device = 0; device < 3; ++device) test::add_gpu(machine);
  machine = without_device(std::move(machine), 1, "lost");
  ASSERT_EQ(machine.gpus.size(), 2U);
  EXPECT_EQ(machine.gpus[1].device, 2);
  machine = without_device(std::move(machine), std::nullopt, "not pinned");
  EXPECT_TRUE(machine.gpus.empty());
  EXPECT_EQ(machine.no_gpu_reason, "not pinned");
}

}  // namespace
}  // namespace gsort
