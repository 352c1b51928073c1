// Plans for random machines keep what every plan must keep.
#include "plan/plan.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/error.hpp"
#include "plan/engine_choice.hpp"
#include "plan/sizes.hpp"
#include "property/question.hpp"
#include "support/invented.hpp"

namespace gsort {
namespace {

using test::any_size;
using test::invented_machine;
using test::mebibytes;
using test::options_for;
using test::Question;

// The question with the memory that the message names; none if the plan was made.
std::optional<Question> with_memory_named(const Question& q) {
  try {
    (void)test::plan_of(q.options, q.machine);
    return std::nullopt;
  } catch (const Error& error) {
    const std::string words = "use at least ";
    const std::string also = ", with -S ";
    RC_ASSERT(error.hint().rfind(words, 0) == 0U);
    const std::string least = error.hint().substr(words.size());
    const bool host_is_short = error.operation().starts_with("-S");
    const auto end = host_is_short ? std::string::npos : least.find(also);
    Question named = q;
    (host_is_short ? named.options.buffer_size : named.options.gpu_memory) = least.substr(0, end);
    if (end != std::string::npos) named.options.buffer_size = least.substr(end + also.size());
    return named;
  }
}

// With runs that are there, now and then: as many as may be, with the blocks of a plan for another
// budget.
void make_resumable(Question& q) {
  q.options.resume = "/scratch/dir";
  Question before = q;
  before.options.buffer_size = mebibytes(any_size(24, 39));
  if (*rc::gen::arbitrary<bool>() || with_memory_named(before)) return;
  const std::uint64_t elements =
      q.machine.input_bytes.value_or(kGiB) / bytes_of(q.options.key.type);
  ResumedRuns& resumed = q.machine.resumed;
  resumed.elements = *rc::gen::inRange<std::uint64_t>(1, elements + 1);
  resumed.runs =
      *rc::gen::inRange<std::uint64_t>(1, std::min<std::uint64_t>(resumed.elements, 1'000) + 1);
  resumed.block_elements = test::plan_of(before.options, before.machine).run.block_elements;
}

Question any_question() {
  const auto type = *rc::gen::element(KeyType::kI32, KeyType::kF64);
  Question q{options_for(type),
             invented_machine(round_down(any_size(10, 46), 8), *rc::gen::inRange(1U, 129U), kTiB)};
  if (*rc::gen::arbitrary<bool>()) q.machine.output.reset();
  if (*rc::gen::inRange(0, 4) == 0) q.machine.input_bytes.reset();
  if (*rc::gen::inRange(0, 3) == 0) q.options.batch_size = *rc::gen::inRange(2U, 100U);
  if (*rc::gen::inRange(0, 3) == 0) make_resumable(q);
  return q;
}

TEST(AnyPlan, IsSound) {
  EXPECT_TRUE(rc::check([] {
    Question q = any_question();
    q.options.buffer_size = mebibytes(any_size(24, 39));
    RC_LOG() << "-S " << *q.options.buffer_size << ", " << q.machine.cores << " cores, input "
             << q.machine.input_bytes.value_or(0);
    if (with_memory_named(q)) return;
    const Plan plan = test::plan_of(q.options, q.machine);
    RC_ASSERT(plan.is<UnknownSize>() == !q.machine.input_bytes);
    test::expect_sound(plan, q.options);
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

TEST(AnyPlan, ThatIsRefusedWorksWithTheMemoryNamed) {
  EXPECT_TRUE(rc::check([] {
    Question q = any_question();
    q.options.buffer_size = mebibytes(any_size(20, 27));
    const auto named = with_memory_named(q);
    if (!named) return;
    RC_LOG() << "-S " << *q.options.buffer_size << " was refused, " << *named->options.buffer_size
             << " is named, " << q.machine.cores << " cores, input "
             << q.machine.input_bytes.value_or(0) << ' ' << name_of(q.options.key.type);
    RC_ASSERT(parse_size(*named->options.buffer_size, 0, "-S") >
              parse_size(*q.options.buffer_size, 0, "-S"));
    RC_ASSERT(!with_memory_named(*named).has_value());
  }));
}

// For a GPU, with so much memory of the host and of the device.
Question any_gpu_question(std::uint64_t host_bytes, std::uint64_t device_bytes) {
  Question q = any_question();
  test::add_gpu(q.machine, 80 * kGiB);
  q.options.engine = EngineChoice::kCuda;
  q.options.buffer_size = mebibytes(host_bytes);
  q.options.gpu_memory = mebibytes(device_bytes);
  RC_LOG() << "-S " << *q.options.buffer_size << " --gpu-memory " << *q.options.gpu_memory << ", "
           << q.machine.cores << " cores, input " << q.machine.input_bytes.value_or(0);
  return q;
}

TEST(AnyPlan, ThatIsRefusedOnAGpuWorksWithTheMemoriesNamed) {
  EXPECT_TRUE(rc::check([] {
    const auto named = with_memory_named(any_gpu_question(any_size(20, 30), any_size(20, 28)));
    if (!named) return;
    RC_LOG() << " was refused, " << *named->options.buffer_size << " and "
             << *named->options.gpu_memory << " are named";
    RC_ASSERT(!with_memory_named(*named).has_value());
  }));
}

// For 1 to 16 devices with memories of their own; --gpu-memory, where it is given, is for each.
Question any_question_of_devices(std::uint64_t host_bytes, unsigned least_bits) {
  Question q = any_question();
  if (q.machine.input_bytes) q.machine.input_bytes = round_down(any_size(30, 46), 8);
  q.machine.resumed = {};  // which may be more than that
  const auto devices = *rc::gen::inRange(1, 17);
  const bool links_are_known = *rc::gen::arbitrary<bool>();
  for (int i = 0; i < devices; ++i) {
    test::add_gpu(q.machine, any_size(least_bits, 38));
    GpuFacts& gpu = q.machine.gpus.back();
    if (links_are_known) gpu.link_bytes_per_second = static_cast<double>(any_size(30, 37));
    gpu.node = *rc::gen::inRange(0U, 4U);
  }
  q.options.engine = EngineChoice::kCuda;
  q.options.devices.all = *rc::gen::inRange(0, 3) > 0;
  q.options.buffer_size = mebibytes(host_bytes);
  const std::uint64_t least =
      std::ranges::min_element(q.machine.gpus, {}, &GpuFacts::free_bytes)->free_bytes;
  if (*rc::gen::arbitrary<bool>()) q.options.gpu_memory = mebibytes(least);
  RC_LOG() << "-S " << *q.options.buffer_size << " --gpu-memory "
           << q.options.gpu_memory.value_or("(none)") << ", " << devices
           << " devices, the least of " << least << " bytes, " << q.machine.cores
           << " cores, input " << q.machine.input_bytes.value_or(0);
  return q;
}

// All memory of a device may be too little.
bool is_refused(const Question& q) {
  try {
    (void)test::plan_of(q.options, q.machine);
    return false;
  } catch (const Error& error) {
    RC_ASSERT(error.reason() == "is too small for this sort");
    RC_TAG("refused");
    return true;
  }
}

TEST(AnyPlan, OnSeveralDevicesStaysWithinEachMemory) {
  EXPECT_TRUE(rc::check([] {
    const Question q = any_question_of_devices(any_size(28, 40), 26);
    if (is_refused(q)) return;
    const Plan plan = test::plan_of(q.options, q.machine);
    RC_TAG(plan.devices.size());
    RC_ASSERT(plan.engine == EngineKind::kCuda);
    RC_ASSERT(plan.devices.size() == q.machine.gpus.size() || plan.is<OneChunk>() ||
              !q.options.devices.all);
    for (const DevicePlan& device : plan.devices) {
      const GpuFacts& gpu = q.machine.gpus[static_cast<std::size_t>(device.ordinal)];
      RC_ASSERT(device.node == gpu.node);
      RC_ASSERT(device.link_bytes_per_second == gpu.link_bytes_per_second);
    }
    test::expect_sound(plan, q.options);
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

// The devices with enough memory, in their order.
TEST(AnyPlan, WithDevicesOfItsChoiceTakesTheFastestNumberOfThem) {
  EXPECT_TRUE(rc::check([] {
    Question q = any_question_of_devices(any_size(28, 40), 33);
    q.machine.input_bytes = round_down(any_size(30, 46), 8);
    q.machine.input_is_cached = *rc::gen::arbitrary<bool>();
    q.options.devices = {};
    q.options.gpu_memory.reset();
    std::ranges::sort(q.machine.gpus, std::ranges::greater{}, &GpuFacts::free_bytes);
    const Job job = make_job(q.options);
    const std::size_t chosen = choose_devices(job, q.machine).size();
    RC_TAG(chosen);
    const double seconds = predicted_seconds_on(job, q.machine, chosen);
    const std::uint64_t least = q.machine.gpus.front().free_bytes / 4;
    for (std::size_t count = 1; count <= q.machine.gpus.size(); ++count) {
      if (q.machine.gpus[count - 1].free_bytes < least) break;
      RC_ASSERT(seconds <= predicted_seconds_on(job, q.machine, count));
    }
  }));
}

TEST(AnyPlan, ThatIsRefusedOnSeveralDevicesWorksWithTheMemoriesNamed) {
  EXPECT_TRUE(rc::check([] {
    Question q = any_question_of_devices(any_size(24, 34), 33);
    q.options.gpu_memory = mebibytes(any_size(20, 28));
    const auto named = with_memory_named(q);
    RC_TAG(named.has_value());
    if (!named) return;
    RC_LOG() << " was refused, " << *named->options.buffer_size << " and "
             << *named->options.gpu_memory << " are named";
    RC_ASSERT(!with_memory_named(*named).has_value());
  }));
}

double cost_of(const Plan& plan) {
  if (!plan.is<Spill>()) return 0;
  const auto bytes = static_cast<double>(plan.elements * plan.element_bytes);
  return spill_cost(plan.run.count, plan.run.fan_in, plan.threads,
                    static_cast<double>(plan.run.kept_bytes()) / bytes);
}

TEST(AnyPlan, WithMoreMemoryMeetsNoCliff) {
  EXPECT_TRUE(rc::check([] {
    Question q = any_question();
    q.machine.input_bytes = round_down(any_size(24, 44), 8);
    q.machine.resumed = {};  // others' runs are what they are
    const std::uint64_t less = any_size(26, 36);
    const std::uint64_t more = less * 2;
    q.options.buffer_size = mebibytes(less);
    if (with_memory_named(q)) return;
    const Plan with_less = test::plan_of(q.options, q.machine);
    q.options.buffer_size = mebibytes(more);
    RC_LOG() << mebibytes(less) << " and " << mebibytes(more) << ", " << q.machine.cores
             << " cores, input " << *q.machine.input_bytes;
    RC_ASSERT(!with_memory_named(q).has_value());
    const Plan with_more = test::plan_of(q.options, q.machine);
    // Blocks and parts grow with memory, too, so that a little more can cost a little more.
    RC_ASSERT(cost_of(with_more) <= cost_of(with_less) * 1.25);
  }));
}

TEST(AnyPlan, OnAGpuStaysWithinBothMemories) {
  EXPECT_TRUE(rc::check([] {
    const Question q = any_gpu_question(any_size(26, 38), any_size(24, 36));
    if (with_memory_named(q)) return;
    const Plan plan = test::plan_of(q.options, q.machine);
    RC_ASSERT(plan.engine == EngineKind::kCuda);
    RC_ASSERT(plan.device_budget_bytes() == parse_size(*q.options.gpu_memory, 0, "--gpu-memory"));
    test::expect_sound(plan, q.options);
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

}  // namespace
}  // namespace gsort
