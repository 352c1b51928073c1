#include "plan/learn_rates.hpp"

#include <gtest/gtest.h>

#include "support/measured.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kEnough = 4'000'000'000;

// A sort in memory whose cores were busy for eight seconds.
Outcome sorted_on_cores(std::uint64_t bytes) {
  Outcome outcome;
  outcome.bytes = bytes;
  outcome.phases = {test::phase_of(Phase::kRead, 0, 2), test::phase_of(Phase::kWrite, 2, 4),
                    test::phase_of(Phase::kSync, 4, 9)};
  outcome.phases[0].cpu_seconds = 5;
  outcome.phases[1].cpu_seconds = 3;
  outcome.phases[2].cpu_seconds = 1;
  return outcome;
}

Plan plan_on_cores() {
  Plan plan;
  plan.strategy = OneChunk{};
  return plan;
}

Outcome sorted_on_gpu(double best_rate) {
  Outcome outcome;
  outcome.bytes = kEnough;
  outcome.phases = {test::phase_of(Phase::kRead, 0, 2)};
  test::moved(outcome.phases[0], Stage::kCopyOut, kEnough, best_rate);
  return outcome;
}

Plan plan_on_gpu() {
  Plan plan;
  plan.engine = EngineKind::kCuda;
  plan.strategy = Spill{};
  return plan;
}

TEST(LearnedRates, OfACoreAreBytesOverTheTimeOfAllOfThem) {
  const Rates rates = learned_from(sorted_on_cores(kEnough), plan_on_cores(), {}, {});
  EXPECT_DOUBLE_EQ(rates.core_bytes_per_second.value(), 0.5e9);
  EXPECT_FALSE(rates.gpu_bytes_per_second);
  EXPECT_FALSE(rates.cuda_start_seconds);
}

TEST(LearnedRates, OfTheGpuAreTheBestItHasShown) {
  const Rates rates = learned_from(sorted_on_gpu(30e9), plan_on_gpu(), 0.25, {});
  EXPECT_DOUBLE_EQ(rates.gpu_bytes_per_second.value(), 30e9);
  EXPECT_DOUBLE_EQ(rates.cuda_start_seconds.value(), 0.25);
  EXPECT_FALSE(rates.core_bytes_per_second);
}

TEST(LearnedRates, OfSeveralGpusAreThoseOfTheFastestLink) {
  Plan plan = plan_on_gpu();
  plan.devices.resize(2);
  EXPECT_DOUBLE_EQ(learned_from(sorted_on_gpu(30e9), plan, {}, {}).gpu_bytes_per_second.value(),
                   15e9);
  plan.devices[0].link_bytes_per_second = 16e9;
  plan.devices[1].link_bytes_per_second = 64e9;
  EXPECT_DOUBLE_EQ(learned_from(sorted_on_gpu(30e9), plan, {}, {}).gpu_bytes_per_second.value(),
                   24e9);
}

TEST(LearnedRates, AreNotOfSortsThatAreSmall) {
  const std::uint64_t bytes = kLeastBytesToLearnFrom - 4;
  EXPECT_EQ(learned_from(sorted_on_cores(bytes), plan_on_cores(), 0.25, {}), Rates{});
}

TEST(LearnedRates, AreNotOfSortsThatDoMore) {
  Plan plan = plan_on_cores();
  plan.strategy = Spill{};
  EXPECT_EQ(learned_from(sorted_on_cores(kEnough), plan, {}, {}), Rates{});
  plan = plan_on_cores();
  plan.job.unique = true;
  EXPECT_EQ(learned_from(sorted_on_cores(kEnough), plan, {}, {}), Rates{});
  plan = plan_on_cores();
  plan.job.output_form.format = FileFormat::kText;
  EXPECT_EQ(learned_from(sorted_on_cores(kEnough), plan, {}, {}), Rates{});
}

TEST(LearnedRates, AreNotOfWhatNobodyMeasured) {
  EXPECT_EQ(learned_from(sorted_on_gpu(0), plan_on_gpu(), {}, {}), Rates{});
  Outcome idle = sorted_on_cores(kEnough);
  for (PhaseRecord& phase : idle.phases) phase.cpu_seconds = 0;
  EXPECT_EQ(learned_from(idle, plan_on_cores(), {}, {}), Rates{});
}

TEST(LearnedRates, ReplaceOnlyWorseOnes) {
  const Rates slower{0.4e9, 20e9, 0.5};
  const Rates faster{0.6e9, 40e9, 0.1};
  const Rates alike{0.49e9, 29e9, 0.26};
  EXPECT_DOUBLE_EQ(learned_from(sorted_on_cores(kEnough), plan_on_cores(), {}, slower)
                       .core_bytes_per_second.value(),
                   0.5e9);
  const Rates from_gpu = learned_from(sorted_on_gpu(30e9), plan_on_gpu(), 0.25, slower);
  EXPECT_DOUBLE_EQ(from_gpu.gpu_bytes_per_second.value(), 30e9);
  EXPECT_DOUBLE_EQ(from_gpu.cuda_start_seconds.value(), 0.25);
  for (const Rates& better : {faster, alike}) {
    EXPECT_EQ(learned_from(sorted_on_cores(kEnough), plan_on_cores(), {}, better), better);
    EXPECT_EQ(learned_from(sorted_on_gpu(30e9), plan_on_gpu(), 0.25, better), better);
  }
}

TEST(RateWords, HaveTheUnitOfSizes) {
  EXPECT_EQ(rate_words(0), "0 B/s");
  EXPECT_EQ(rate_words(1'240'000'000), "1.15 GiB/s");
  EXPECT_EQ(rate_words(999.4 * kKiB), "999 KiB/s");
  EXPECT_EQ(rate_words(1e30), "8 EiB/s");
}

}  // namespace
}  // namespace gsort
