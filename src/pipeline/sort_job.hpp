// Carrying out a plan, top to bottom: read and sort chunks, merge runs, prove, make the output
// real.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/device_error.hpp"
#include "base/meter.hpp"
#include "base/tier_memory.hpp"
#include "element/packing.hpp"
#include "engine/engine.hpp"
#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "io/runs/tier_group.hpp"
#include "pipeline/resumption.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

// Makes the plan's engine, to work in `memory`, which outlives it.
using EngineMaker =
    std::function<std::unique_ptr<Engine>(const Plan&, const EngineShape&, ByteSpan memory)>;

// Allocates `bytes` for runs on a device of the plan.
// Throws: Error(kResource) when the device has less.
using TierMaker =
    std::function<std::unique_ptr<TierMemory>(const DevicePlan&, std::uint64_t bytes)>;

// A device has failed: makes the job's plan one that does not use it.
// Throws: Error when there is no such plan.
using PlanWithout = std::function<void(const DeviceError&)>;

struct SortJob {
  const Plan& plan;  // plan_without may change it
  io::Reader& reader;
  io::Output& output;
  std::vector<std::string> temporary_folders;
  io::DirectIo direct_io = io::DirectIo::kAuto;
  Packing packing = Packing::kAuto;
  bool verify = true;
  EngineMaker make_engine;
  Meter* meter = nullptr;              // is told of all phases and stages
  Resumption* resumption = nullptr;    // keeps runs, which else are gone with the process
  TierMaker make_tier = nullptr;       // called for each device if the plan has a tier there
  std::span<io::Output> parts = {};    // that the output is split into; `output` is the first one
  PlanWithout plan_without = nullptr;  // null: a device that fails ends the sort
  // Called when the output is on the disk but does not have its name yet; if it throws, the
  // sort ends and the old output stays.
  std::function<void()> before_name = nullptr;
};

// The shape of the plan's engine.
[[nodiscard]] EngineShape engine_shape_of(const Plan& plan, Meter* meter);

// The options for the plan's runs, without a tier.
[[nodiscard]] io::RunStoreOptions run_store_options(const Plan& plan, Packing packing,
                                                    io::DirectIo direct_io);

// Copies the totals that a store of runs has measured.
void take_run_totals(const io::RunStore& store, Statistics& statistics);

// Makes the tier in the memory of the plan's devices, as far as it plans one, and gives it to
// `options`. A device that has less than it said when the plan was made costs time alone: a note
// says so. Requires: the tier outlives the store.
void add_device_tier(const Plan& plan, const TierMaker& make_tier,
                     std::optional<io::TierGroup>& tier, io::RunStoreOptions& options,
                     std::vector<std::string>& notes);

// If a device fails and the job has `plan_without`, another device or the CPU does again what was
// in its hands: a chunk (form_runs.hpp) or a part (merge_range). What cannot be done again alone,
// as where runs lay in the device's memory, has all of the input sorted again by the plan without
// it: buffers of runs go round over the devices, so a lost one takes something of every run with
// it. Inputs that cannot be read again, a resumption and an output that has taken bytes for good
// end the sort then. Throws: Error. The output is then as it was before (what a stream took is
// gone), nothing is left in the temporary folders but what a resumption keeps, and all threads have
// ended.
Outcome run_sort(const SortJob& job);

}  // namespace gsort
