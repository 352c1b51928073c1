#include "cluster/runs/sizes_here.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "io/runs/run_files.hpp"
#include "io/runs/run_format.hpp"
#include "plan/make_plan.hpp"
#include "plan/merge_plan.hpp"
#include "plan/too_small.hpp"

namespace gsort::cluster {

ExchangeQuestion exchange_question(const Plan& plan, std::uint64_t elements, unsigned ranks) {
  ExchangeQuestion q{question_of(plan)};  // runs on the devices are taken off
  q.ranks = ranks;
  q.block_bytes = plan.run.block_elements * plan.element_bytes;
  const std::uint64_t taken =
      plan.run.write_buffers_bytes() + fence_bytes(plan.run, elements, plan.host_budget_bytes);
  q.host_bytes -= std::min(q.host_bytes, taken);
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

// With the runs that `plan` has here; all processes together have `runs`.
ExchangeQuestion planned_question(const Plan& plan, const PlannedExchange& all,
                                  std::uint64_t runs) {
  ExchangeQuestion q =
      exchange_question(plan, capped_sum(plan.elements, all.more_elements), all.ranks);
  q.elements = all.elements;
  q.runs_here = planned_runs(plan);
  q.runs = runs;
  q.run_scratch_bytes = round_up(io::most_block_bytes(plan.run.block_elements, plan.element_bytes),
                                 std::uint64_t{io::kDirectAlignment}) +
                        io::RunFiles::kReadSlack;
  return q;
}

}  // namespace

std::uint64_t planned_runs(const Plan& plan) {
  if (plan.elements == 0 || plan.is<CountKeys>()) return 0;
  return std::max<std::uint64_t>(plan.run.count, 1);
}

SuitsPlan suits_exchange(const PlannedExchange& all) {
  return [all](const Plan& plan) {
    const std::uint64_t runs = capped_product(all.ranks, planned_runs(plan));
    return plan_exchange(planned_question(plan, all, runs)).has_value();
  };
}

void require_planned_exchange(Team& team, const Plan& plan, const Machine& machine,
                              const PlannedExchange& all) {
  const std::uint64_t runs_here = planned_runs(plan);
  std::uint64_t runs = runs_here;
  team.sum(std::span(&runs, 1));
  if (plan_exchange(planned_question(plan, all, runs))) return;
  // With other sizes, the runs of all processes are assumed to change in the same proportion.
  const auto runs_of_all = [&](std::uint64_t here) {
    return runs_here == 0 ? runs : div_up(capped_product(runs, here), runs_here);
  };
  const Machine roomy = with_room(machine);
  const HasPlan has_plan = [&](const Resources& resources) {
    Job job = plan.job;
    job.resources = resources;
    try {
      const Plan other = make_plan(job, roomy);
      return plan_exchange(planned_question(other, all, runs_of_all(planned_runs(other))))
          .has_value();
    } catch (const Error&) {
      return false;
    }
  };
  throw error_of_host(too_small(plan.job, roomy, has_plan));
}

ExchangePlan require_exchange(Team& team, const ExchangeQuestion& question) {
  std::optional<ExchangePlan> sizes = plan_exchange(question);
  if (!sizes) {
    throw Error(ErrorKind::kResource,
                fmt::format("merging {} runs of {} hosts", question.runs, question.ranks),
                words_of_memory(question))
        .hint(question.device_bytes > 0 ? "give each process more memory with -S and --gpu-memory"
                                        : "give each process more memory with -S");
  }
  std::uint64_t least[] = {sizes->part_elements, sizes->slots};
  team.least(least);
  sizes->part_elements = least[0];
  sizes->slots = static_cast<unsigned>(least[1]);
  sizes->arena_bytes = sizes->lanes * question.engine->merge_lane(question.element, least[0]).arena;
  return *sizes;
}

}  // namespace gsort::cluster
