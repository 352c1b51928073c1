#include "cluster/runs/sizes_here.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "plan/merge_plan.hpp"
#include "plan/sizes.hpp"

namespace gsort::cluster {

EngineShape engine_shape(const Plan& plan) {
  EngineShape shape;
  shape.format = plan.job.element.key;
  shape.records = plan.job.element.records;
  shape.threads = std::max(plan.threads, plan.chunk.readers);
  shape.block_bytes = plan.chunk.block_bytes;
  shape.chunk_elements = plan.chunk.chunk_elements;
  shape.chunk_lanes = plan.chunk.lanes;
  return shape;
}

io::RunStoreOptions run_store_options(const Plan& plan, const Options& options) {
  io::RunStoreOptions store;
  store.block_elements = plan.run.block_elements;
  store.write_buffer_bytes = plan.run.write_buffer_bytes;
  store.write_buffers = plan.run.write_buffers;
  store.kept_buffers = plan.run.kept_buffers;
  store.packing = options.packing;
  if (plan.job.element.records) store.records.emplace(*plan.job.element.records);
  store.direct_io = options.direct_io;
  store.left_in_page_cache =
      plan.run.through_page_cache && options.direct_io == io::DirectIo::kAuto;
  return store;
}

ExchangeQuestion exchange_question(const Plan& plan, std::uint64_t elements, unsigned ranks) {
  ExchangeQuestion q;
  q.element = element_size_of(plan);
  q.threads = plan.threads;
  q.ranks = ranks;
  q.block_bytes = plan.run.block_elements * plan.element_bytes;
  const std::uint64_t budget = sorting_budget(plan, plan.host_budget_bytes);
  const std::uint64_t taken = plan.run.tier_bytes + plan.run.write_buffers_bytes() +
                              fence_bytes(plan.run, elements, plan.host_budget_bytes);
  q.host_bytes = budget - std::min(budget, taken);
  return q;
}

ExchangePlan require_exchange(const ExchangeQuestion& question) {
  if (const auto sizes = plan_exchange(question)) return *sizes;
  throw Error(ErrorKind::kUsage,
              fmt::format("merging {} runs of {} hosts", question.runs, question.ranks),
              fmt::format("{} of memory are not enough", format_bytes(question.host_bytes)))
      .hint("give each process more memory with -S");
}

}  // namespace gsort::cluster
