#include "pipeline/sort_context.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/runs/tier_group.hpp"

namespace gsort {

Proof proof_of(const Job& job, Meter* meter) {
  return Proof(job.proven_element(), job.handling.verify, meter,
               job.is_distinct() ? OrderKind::kStrict : OrderKind::kAscending, job.top);
}

std::unique_ptr<Engine> start_engine(SortContext& context, ByteSpan memory) {
  const Plan& plan = context.plan;
  EngineShape shape;
  shape.format = plan.job.element.key;
  shape.records = plan.job.element.records;
  shape.threads = std::max(plan.threads, plan.chunk.readers);
  shape.block_bytes = plan.chunk.block_bytes;
  shape.chunk_elements = plan.chunk.chunk_elements;
  shape.chunk_lanes = plan.chunk.lanes;
  shape.shares_chunk = plan.chunk.is_shared;
  shape.device_bytes = plan.device_budget_bytes();
  shape.meter = context.meter;
  shape.losses = context.losses;
  auto engine = context.make_engine(plan, shape, memory);
  context.engine = engine.get();
  context.memory = memory;
  return engine;
}

namespace {

// Without a tier.
io::RunStoreOptions run_store_options(const Plan& plan) {
  const DirectIo direct_io = plan.job.handling.direct_io;
  io::RunStoreOptions options;
  options.block_elements = plan.run.block_elements;
  options.write_buffer_bytes = plan.run.write_buffer_bytes;
  options.write_buffers = plan.run.write_buffers;
  options.kept_buffers = plan.run.kept_buffers;
  options.packing = plan.job.handling.packing;
  if (plan.job.element.records) options.records.emplace(*plan.job.element.records);
  options.direct_io = direct_io;
  options.left_in_page_cache = plan.run.through_page_cache && direct_io == DirectIo::kAuto;
  return options;
}

}  // namespace

io::RunStore& make_run_store(const SortContext& context, std::optional<io::RunStore>& store,
                             std::vector<std::string>& notes) {
  const Plan& plan = context.plan;
  io::RunStoreOptions options = run_store_options(plan);
  std::vector<io::TierGroup::Member> tiers;
  for (const DevicePlan& device : plan.devices) {
    const std::uint64_t buffers = plan.run.device_buffers + device.more_buffers;
    if (buffers == 0 || !context.make_tier) continue;
    try {
      const std::uint64_t bytes = plan.run.device_bytes(device.more_buffers);
      tiers.push_back({context.make_tier(device, bytes), buffers});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kResource) throw;
      notes.push_back(fmt::format("no runs stay on device {}: {}", device.ordinal, error.what()));
    }
  }
  if (!tiers.empty()) {
    const auto tier =
        std::make_shared<io::TierGroup>(std::move(tiers), plan.run.write_buffer_bytes);
    options.tier = tier;
    options.tier_buffers = tier->buffers();
  }
  std::vector<std::string> folders = plan.temporary_folders;
  if (context.run_folder != nullptr) {
    options.persistent = context.run_folder->begin(options.block_elements);
    folders = {context.run_folder->path()};
  }
  return store.emplace(folders, plan.element_bytes, options);
}

RunsToCut runs_to_cut(const Plan& plan, std::span<const io::Run> runs,
                      std::uint64_t scratch_bytes) {
  return {runs, plan.element_bytes, plan.run.block_elements * plan.element_bytes, scratch_bytes,
          plan.job.element.cut_by_prefix()};
}

void take_run_totals(const io::RunStore& store, Statistics& statistics) {
  statistics.run_key_bytes = store.key_bytes_put();
  statistics.kept_bytes = store.bytes_kept();
  statistics.device_bytes = store.bytes_in_tier();
  statistics.spilled_bytes = store.bytes_written();
  statistics.loaded_bytes = store.bytes_read();
  statistics.peak_spilled_bytes = store.peak_bytes_in_use();
}

}  // namespace gsort
