// Invented machines, and the invariants of every plan for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "engine/footprint.hpp"
#include "engine/record_footprint.hpp"
#include "options/job.hpp"
#include "options/options.hpp"
#include "plan/budget.hpp"
#include "plan/machine.hpp"
#include "plan/make_plan.hpp"
#include "plan/merge_plan.hpp"
#include "plan/sizes.hpp"

namespace gsort::test {

// A machine with enough room on its disks. No input size: a pipe.
[[nodiscard]] inline Machine invented_machine(std::optional<std::uint64_t> input_bytes,
                                              unsigned cores, std::uint64_t memory_bytes) {
  Machine machine;
  machine.cores = cores;
  machine.memory_bytes = memory_bytes;
  machine.available_bytes = memory_bytes;
  machine.no_gpu_reason = "this machine was invented without one";
  machine.temporary = {{"/scratch", 1, std::uint64_t{1} << 50, ""}};
  machine.output = Folder{"/data", 2, std::uint64_t{1} << 50, ""};
  machine.input_bytes = input_bytes;
  return machine;
}

// Adds one more, with the next number.
inline void add_gpu(Machine& machine, std::uint64_t memory_bytes = 80 * kGiB) {
  const auto ordinal = static_cast<int>(machine.gpus.size());
  machine.gpus.push_back({ordinal, "an invented GPU", memory_bytes, memory_bytes});
}

[[nodiscard]] inline Options options_for(KeyType type, const std::string& buffer_size = "") {
  Options options;
  options.key.type = type;
  options.inputs = {"in"};
  if (!buffer_size.empty()) options.buffer_size = buffer_size;
  return options;
}

[[nodiscard]] inline std::size_t element_bytes(const Options& options) {
  return ElementFormat{options.key, options.records}.bytes();
}

[[nodiscard]] inline Plan plan_of(const Options& options, const Machine& machine) {
  return make_plan(make_job(options), machine);
}

// "500M", as in an option; rounded down to whole mebibytes.
[[nodiscard]] inline std::string mebibytes(std::uint64_t bytes) {
  return std::to_string(bytes / kMiB) + "M";
}

// The host memory that a merge of `runs` runs takes in addition to the arena: a block of each run,
// the buffers, and all fences of `elements` keys.
[[nodiscard]] inline std::uint64_t merge_heap_bytes(const Plan& plan, std::uint64_t runs,
                                                    std::uint64_t elements) {
  const std::uint64_t block = round_up(plan.run.block_elements * plan.element_bytes + 64, 4096);
  const std::uint64_t fences = 32 * div_up(elements, plan.run.block_elements);
  return runs * block + plan.run.write_buffers * plan.run.write_buffer_bytes + fences;
}

// Lanes are dealt out to the devices in turn; each takes this much in addition to the runs that
// stay there.
inline void expect_within_each_device(const Plan& plan, unsigned lanes, std::uint64_t lane_bytes) {
  ASSERT_FALSE(plan.devices.empty());
  for (std::size_t device = 0; device < plan.devices.size(); ++device) {
    const std::uint64_t own = (lanes + plan.devices.size() - 1 - device) / plan.devices.size();
    const std::uint64_t runs = plan.run.device_bytes(plan.devices[device].more_buffers);
    EXPECT_LE(own * lane_bytes + runs, plan.devices[device].budget_bytes) << "device " << device;
  }
}

// The sizes of one merge fit the plan's memory, and make sense for `runs` runs.
inline void expect_sound_merge(const Plan& plan, std::uint32_t runs, std::uint64_t elements) {
  SCOPED_TRACE(testing::Message() << "a merge of " << runs << " runs");
  const MergePlan merge = plan_merge(plan, runs, elements);
  const std::uint64_t two_blocks = 2 * std::uint64_t{runs} * plan.run.block_elements;
  EXPECT_GE(merge.part_elements, std::min(two_blocks, std::max<std::uint64_t>(elements, 1)));
  EXPECT_GE(merge.lanes, 1U);
  EXPECT_GE(merge.least_part_elements, 1U);
  EXPECT_LE(merge.least_part_elements, merge.part_elements);
  EXPECT_GE(merge.scratch_bytes, plan.run.block_elements * plan.element_bytes + 64);
  EXPECT_EQ(merge.scratch_bytes % 4096, 0U);
  EXPECT_EQ(merge.staging_bytes > 0, plan.output.needs_order);
  if (plan.output.needs_order) {
    EXPECT_GE(merge.staging_bytes, merge.part_elements * plan.element_bytes);
  }
  EXPECT_LE(merge.arena_bytes, plan.arena_bytes);
  // A plan for a pipe foresees the fences of at least 64 times the memory.
  const std::uint64_t foreseen = 64 * (sorting_budget(plan) / plan.element_bytes);
  const std::uint64_t fenced = plan.is<UnknownSize>() ? std::min(elements, foreseen) : elements;
  EXPECT_LE(merge.arena_bytes + merge_heap_bytes(plan, runs, fenced),
            buffer_budget(plan.host_budget_bytes));
  if (plan.engine == EngineKind::kCuda) {
    const std::uint64_t part =
        plan.job.element.records
            ? CudaRecordFootprint::device_bytes(merge.part_elements, plan.element_bytes)
            : CudaFootprint::part_device_bytes(merge.part_elements * plan.element_bytes);
    expect_within_each_device(plan, merge.lanes, part);
  }
}

// The rounds keep all runs, and leave no more than the last merge takes; returns what is left.
inline std::uint64_t expect_sound_rounds(const Plan& plan) {
  std::uint64_t runs = plan.run.count;
  for (const MergeRound& round : plan.run.rounds) {
    std::uint64_t sum = 0;
    for (const std::uint32_t group : round.group_sizes) {
      EXPECT_GE(group, 1U);
      EXPECT_LE(group, plan.run.fan_in);
      sum += group;
    }
    EXPECT_EQ(sum, runs);
    runs = round.group_sizes.size();
  }
  EXPECT_LE(runs, plan.run.fan_in);
  return runs;
}

// Everything that holds for any plan that sorts runs and merges them.
inline void expect_sound(const Plan& plan, const Options& options) {
  const std::uint64_t budget = buffer_budget(plan.host_budget_bytes);
  EXPECT_LE(plan.arena_bytes + plan.run.kept_bytes(), budget);
  EXPECT_LE(plan.chunk.arena_bytes, plan.arena_bytes);
  EXPECT_GE(plan.chunk.readers, 1U);
  EXPECT_GE(plan.chunk.block_bytes, plan.element_bytes);
  // If blocks cannot hold both whole records and whole pages, they hold whole records.
  EXPECT_EQ(plan.chunk.block_bytes % (plan.job.element.records ? plan.element_bytes : 4096), 0U);
  if (plan.is<CountKeys>()) return;
  if (plan.engine == EngineKind::kCuda) {
    const std::uint64_t chunk =
        plan.job.element.records
            ? CudaRecordFootprint::device_bytes(plan.chunk.chunk_elements, plan.element_bytes)
            : CudaFootprint::chunk_device_bytes(plan.chunk.chunk_elements * plan.element_bytes);
    const std::uint64_t share = CudaFootprint::share_device_bytes(
        plan.element_bytes * CudaFootprint::share_elements(
                                 plan.chunk.chunk_elements,
                                 plan.chunk.block_bytes / plan.element_bytes, plan.chunk.lanes));
    expect_within_each_device(plan, plan.chunk.lanes, plan.chunk.is_shared ? share : chunk);
  }
  if (plan.is<OneChunk>()) {
    EXPECT_GE(plan.chunk.chunk_elements, plan.elements);
    EXPECT_EQ(plan.temporary_bytes, 0U);
    return;
  }
  EXPECT_GE(plan.run.fan_in, 2U);
  EXPECT_GE(plan.chunk.lanes, 2U);
  EXPECT_LE(plan.run.fan_in, options.batch_size.value_or(plan.run.fan_in));
  EXPECT_GE(plan.run.block_elements, 1U);
  if (plan.is<UnknownSize>()) {
    for (const std::uint32_t runs : {1U, 2U, std::min(64U, plan.run.fan_in)}) {
      expect_sound_merge(plan, runs, runs * plan.chunk.chunk_elements);
    }
    // More than was planned.
    EXPECT_GE(plan_merge(plan, plan.run.fan_in, std::uint64_t{1} << 44).part_elements, 1U);
    return;
  }
  const std::uint64_t formed = plan.run.count - plan.resumed.runs;
  const std::uint64_t elements = plan.elements - plan.resumed.elements;
  EXPECT_GT(plan.run.count, plan.resumed.runs > 0 ? 0U : 1U);
  EXPECT_EQ(formed, div_up(elements, plan.chunk.chunk_elements));
  EXPECT_GE(plan.temporary_bytes + plan.device_run_bytes() + plan.run.kept_bytes(),
            elements * plan.element_bytes);
  const std::uint64_t last = expect_sound_rounds(plan);
  expect_sound_merge(plan, static_cast<std::uint32_t>(last), plan.elements);
  for (const MergeRound& round : plan.run.rounds) {
    const auto largest = std::ranges::max(round.group_sizes);
    expect_sound_merge(plan, largest, plan.elements);
  }
}

}  // namespace gsort::test
