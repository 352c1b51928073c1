// Plans of what is not a plain sort of keys, for random machines: records, merges of inputs, first
// elements, arrays.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/error.hpp"
#include "engine/array_footprint.hpp"
#include "engine/record_footprint.hpp"
#include "plan/disk_space.hpp"
#include "plan/select_plan.hpp"
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

RecordFormat any_records() {
  RecordFormat format;
  format.bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(any_size(0, 15), RecordFormat::kMostBytes));
  const auto bytes = std::min<std::uint32_t>(format.bytes, *rc::gen::inRange(1U, 33U));
  format.keys = {{format.bytes - bytes, bytes, std::nullopt, false, false}};
  return format;
}

Question any_question() {
  const auto type =
      *rc::gen::element(KeyType::kU8, KeyType::kI16, KeyType::kI32, KeyType::kF32, KeyType::kF64);
  Question q{options_for(type), {}};
  if (*rc::gen::arbitrary<bool>()) q.options.records = any_records();
  const std::uint64_t bytes = round_down(any_size(0, 44), test::element_bytes(q.options));
  q.machine = invented_machine(bytes, *rc::gen::inRange(1U, 129U), kTiB);
  if (*rc::gen::arbitrary<bool>()) q.machine.output.reset();
  if (*rc::gen::inRange(0, 4) == 0) q.machine.input_bytes.reset();
  if (*rc::gen::inRange(0, 3) == 0) q.options.batch_size = *rc::gen::inRange(2U, 100U);
  q.options.unique = *rc::gen::inRange(0, 4) == 0;
  q.options.buffer_size = mebibytes(any_size(24, 39));
  return q;
}

Question any_merge() {
  Question q = any_question();
  q.options.merge = true;
  q.options.inputs.assign(any_size(0, 12), "in");
  return q;
}

Question any_arrays() {
  Question q = any_question();
  q.options.unique = false;
  q.options.batch_elements = any_size(0, 44);
  return q;
}

std::string words_of(const Question& q) {
  return "-S " + *q.options.buffer_size + ", " + std::to_string(q.machine.cores) + " cores, " +
         std::to_string(q.machine.input_bytes.value_or(0)) + " bytes of elements of " +
         std::to_string(test::element_bytes(q.options)) + ", " +
         std::to_string(q.options.inputs.size()) + " inputs, arrays of " +
         std::to_string(q.options.batch_elements.value_or(0)) + ", at most " +
         std::to_string(q.options.batch_size.value_or(0)) + " at once";
}

std::optional<Plan> plan_for(const Question& q) {
  try {
    return test::plan_of(q.options, q.machine);
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::kUsage);
    return std::nullopt;
  }
}

// The sum of an arena's parts is at most the arena, which is at most the memory.
void expect_within(std::uint64_t parts, const Plan& plan) {
  EXPECT_LE(parts, plan.arena_bytes);
  EXPECT_LE(plan.arena_bytes + plan.run.kept_bytes(), buffer_budget(plan.host_budget_bytes));
}

std::uint64_t merge_lane_bytes(const Plan& plan, std::uint64_t elements) {
  if (plan.engine == EngineKind::kCuda) {
    return CudaFootprint::part_host_bytes(elements * plan.element_bytes);
  }
  return plan.job.element.records
             ? CpuRecordMergeFootprint::of(elements, plan.element_bytes).arena_bytes()
             : CpuMergeFootprint::of(elements, plan.element_bytes).arena_bytes();
}

void expect_sound_input_merge(const Plan& plan, const Options& options) {
  const InputMergePlan& merge = plan.as<InputMergePlan>();
  const std::uint64_t inputs = plan.job.merged_inputs;
  EXPECT_EQ(inputs, options.inputs.size());
  EXPECT_GE(merge.fan_in, std::min<std::uint64_t>(2, inputs));
  EXPECT_LE(merge.fan_in, options.batch_size.value_or(inputs));
  EXPECT_GE(merge.lanes, 1U);
  EXPECT_GE(merge.window_elements, 1U);
  EXPECT_LE(merge.fan_in * merge.window_elements, merge.part_elements);
  EXPECT_EQ(merge.staging_bytes > 0, plan.output.needs_order);
  expect_within(
      merge.fan_in * merge.window_elements * plan.element_bytes +
          merge.lanes * (merge_lane_bytes(plan, merge.part_elements) + merge.staging_bytes),
      plan);
  if (merge.fan_in >= inputs) {
    EXPECT_EQ(plan.run.count, 0U);
    EXPECT_EQ(plan.temporary_bytes, 0U);
    return;
  }
  EXPECT_GE(plan.run.count * merge.fan_in, inputs);
  EXPECT_LE(merge.arena_bytes + plan.run.kept_bytes() + plan.run.write_buffers_bytes(),
            buffer_budget(plan.host_budget_bytes));
  const std::uint64_t last = test::expect_sound_rounds(plan);
  if (plan.elements > 0) {
    test::expect_sound_merge(plan, static_cast<std::uint32_t>(last), plan.elements);
  }
}

void expect_sound_windows(const Plan& plan, const Options& options) {
  const SetPlan& sizes = plan.as<SetPlan>();
  EXPECT_GE(sizes.window_bytes, 16 * kKiB);
  EXPECT_EQ(sizes.window_bytes % plan.element_bytes, 0U);
  EXPECT_GE(sizes.piece_bytes, plan.element_bytes);
  EXPECT_EQ(plan.temporary_bytes, 0U);
  expect_within(options.inputs.size() * sizes.window_bytes + plan.threads * sizes.piece_bytes,
                plan);
}

void expect_sound_arrays(const Plan& plan) {
  const BatchPlan& batch = plan.as<BatchPlan>();
  EXPECT_GE(batch.lanes, 1U);
  EXPECT_GE(batch.longest_array, 1U);
  EXPECT_LE(batch.longest_array, plan.job.array_elements);
  EXPECT_EQ(batch.block_elements % batch.longest_array, 0U);
  EXPECT_GE(batch.block_elements, batch.longest_array);
  const std::uint64_t block = batch.block_elements * plan.element_bytes;
  if (plan.engine == EngineKind::kCuda) {
    EXPECT_FALSE(plan.job.element.records);
    EXPECT_LE(batch.lanes * CudaArrayFootprint::device_bytes(block), plan.device_budget_bytes());
    return expect_within(batch.lanes * CudaArrayFootprint::host_bytes(block), plan);
  }
  const auto lane =
      plan.job.element.records
          ? CpuArrayFootprint::of_records(batch.longest_array, block)
          : CpuArrayFootprint::of_keys(batch.longest_array * plan.element_bytes, block);
  expect_within(batch.lanes * lane.arena_bytes(), plan);
}

void expect_sound_result(const Plan& plan, const Question& q) {
  const Options& options = q.options;
  if (const auto* const select = std::get_if<SelectPlan>(&plan.strategy)) {
    EXPECT_GE(select->workers, 1U);
    EXPECT_GE(select->candidates, *options.top);
    const std::uint64_t entries =
        plan.job.element.records ? select->candidates * kRecordEntryBytes : 0;
    return expect_within(
        select->workers * (plan.chunk.block_bytes + 2 * select->candidate_bytes + entries), plan);
  }
  if (plan.is<InputMergePlan>()) return expect_sound_input_merge(plan, options);
  if (plan.is<SetPlan>()) return expect_sound_windows(plan, options);
  if (plan.is<BatchPlan>()) return expect_sound_arrays(plan);
  // Arrays that are sorts of their own have the plan of one of them.
  Plan one = plan;
  if (plan.job.array_elements > 0) {
    one.elements = q.machine.input_bytes ? std::min(plan.elements, plan.job.array_elements)
                                         : plan.job.array_elements;
    // The length of a pipe is unknown.
    if (!q.machine.input_bytes) one.temporary_bytes = temporary_need(one);
  }
  test::expect_sound(one, options);
}

void check_sound(const Question& q) {
  RC_LOG() << words_of(q);
  const auto plan = plan_for(q);
  if (!plan) return;
  expect_sound_result(*plan, q);
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(AnyPlanOfAResult, OfRecordsAndFirstElementsIsSound) {
  EXPECT_TRUE(rc::check([] {
    Question q = any_question();
    if (*rc::gen::arbitrary<bool>())
      q.options.top = *rc::gen::element(std::uint64_t{0}, std::uint64_t{1}) * any_size(0, 40);
    check_sound(q);
  }));
}

TEST(AnyPlanOfAResult, OfAMergeIsSound) {
  EXPECT_TRUE(rc::check([] { check_sound(any_merge()); }));
}

TEST(AnyPlanOfAResult, OfASetOperationIsSound) {
  EXPECT_TRUE(rc::check([] {
    Question q = any_merge();
    q.options.records.reset();
    q.options.inputs.resize(std::max<std::size_t>(q.options.inputs.size(), 2), "in");
    q.options.intersect = *rc::gen::arbitrary<bool>();
    q.options.subtract = !q.options.intersect;
    check_sound(q);
  }));
}

TEST(AnyPlanOfAResult, OfArraysIsSound) {
  EXPECT_TRUE(rc::check([] { check_sound(any_arrays()); }));
}

TEST(AnyPlanOfAResult, OnAGpuStaysWithinBothMemories) {
  EXPECT_TRUE(rc::check([] {
    Question q = *rc::gen::element(0, 1, 2) == 0 ? any_merge() : any_arrays();
    test::add_gpu(q.machine, 80 * kGiB);
    q.options.engine = EngineChoice::kCuda;
    q.options.gpu_memory = mebibytes(any_size(24, 36));
    check_sound(q);
  }));
}

double cost_of(const Plan& plan) {
  const bool at_once = plan.as<InputMergePlan>().fan_in >= plan.job.merged_inputs;
  return at_once ? 0 : spill_cost(plan.run.count, plan.run.fan_in, plan.threads, 0);
}

TEST(AnyPlanOfAResult, WithMoreMemoryMergesMeetsNoCliff) {
  EXPECT_TRUE(rc::check([] {
    Question q = any_merge();
    const std::uint64_t less = any_size(24, 36);
    q.options.buffer_size = mebibytes(less);
    RC_LOG() << words_of(q);
    const auto with_less = plan_for(q);
    if (!with_less || !with_less->is<InputMergePlan>()) return;
    q.options.buffer_size = mebibytes(2 * less);
    const auto with_more = plan_for(q);
    RC_ASSERT(with_more.has_value());
    // Sizes are chosen for runs, which may cost the groups of inputs something.
    RC_ASSERT(cost_of(*with_more) <= cost_of(*with_less) * 2);
  }));
}

}  // namespace
}  // namespace gsort
