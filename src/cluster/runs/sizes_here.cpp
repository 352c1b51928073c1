#include "cluster/runs/sizes_here.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/prepared_sort.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "pipeline/sort_job.hpp"
#include "plan/merge_plan.hpp"
#include "plan/sizes.hpp"

namespace gsort::cluster {

io::RunStoreOptions store_options(const Plan& plan, const Options& options,
                                  std::optional<io::TierGroup>& tier) {
  io::RunStoreOptions store = run_store_options(plan, options.packing, options.direct_io);
  std::vector<std::string> notes;  // --stats says what the devices hold
  add_device_tier(plan, make_tier, tier, store, notes);
  return store;
}

ExchangeQuestion exchange_question(const Plan& plan, std::uint64_t elements, unsigned ranks) {
  ExchangeQuestion q;
  const SizeQuestion of_plan = question_of(plan);  // runs on the devices are taken off
  q.engine = of_plan.engine;
  q.element = of_plan.element;
  q.devices = of_plan.devices;
  q.device_bytes = of_plan.device_bytes;
  q.threads = plan.threads;
  q.ranks = ranks;
  q.block_bytes = plan.run.block_elements * plan.element_bytes;
  const std::uint64_t budget = sorting_budget(plan, plan.host_budget_bytes);
  const std::uint64_t taken = plan.run.tier_bytes + plan.run.write_buffers_bytes() +
                              fence_bytes(plan.run, elements, plan.host_budget_bytes);
  q.host_bytes = budget - std::min(budget, taken);
  return q;
}

namespace {

std::string words_of_memory(const ExchangeQuestion& q) {
  if (q.device_bytes == 0) {
    return fmt::format("{} of memory are not enough", format_bytes(q.host_bytes));
  }
  return fmt::format("{} of memory, and {} of each GPU, are not enough", format_bytes(q.host_bytes),
                     format_bytes(q.device_bytes));
}

}  // namespace

ExchangePlan require_exchange(const ExchangeQuestion& question) {
  if (const auto sizes = plan_exchange(question)) return *sizes;
  throw Error(ErrorKind::kUsage,
              fmt::format("merging {} runs of {} hosts", question.runs, question.ranks),
              words_of_memory(question))
      .hint(question.device_bytes > 0 ? "give each process more memory with -S and --gpu-memory"
                                      : "give each process more memory with -S");
}

}  // namespace gsort::cluster
