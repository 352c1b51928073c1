#include "cluster/exchange_plan.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "cluster/exchange.hpp"
#include "cluster/frame.hpp"

namespace gsort::cluster {
namespace {

constexpr std::uint64_t kSliceBytes = kMiB;  // of a run in a part, where there is memory for it
constexpr std::uint64_t kMostSlots = 256;
constexpr std::uint64_t kPostedReceives = 16;

std::uint64_t wanted_part(const ExchangeQuestion& q, unsigned lanes) {
  const std::uint64_t most =
      std::max(q.engine->most_part_bytes(), capped_product(q.runs, kSliceBytes)) / q.element.bytes;
  return std::clamp<std::uint64_t>(q.elements / q.ranks / (2 * lanes), 1,
                                   std::max<std::uint64_t>(most, 1));
}

}  // namespace

std::uint64_t exchange_bytes(const ExchangeQuestion& q, const ExchangePlan& plan) {
  const std::uint64_t parts_here = q.elements / q.ranks / plan.part_elements + 2;
  const std::uint64_t all_parts = capped_product(parts_here, q.ranks);
  const std::uint64_t counts =
      capped_sum(capped_product(capped_product(all_parts, q.runs_here), sizeof(std::uint64_t)),
                 capped_product(capped_product(parts_here, q.runs), sizeof(std::uint64_t)));
  const std::uint64_t frames =
      (plan.backlog + kPostedReceives + 8 + std::uint64_t{2} * q.ranks) * kMostFrameBytes;
  // What MPI has taken in for the lanes before it was asked.
  const std::uint64_t in_mpi = plan.lanes * plan.part_elements * q.element.bytes;
  return capped_sum(capped_sum(counts, frames),
                    capped_sum(in_mpi, plan.arena_bytes + plan.workers * plan.scratch_bytes));
}

std::optional<ExchangePlan> plan_exchange(const ExchangeQuestion& q) {
  ExchangePlan plan;
  plan.lanes = q.engine->merge_lanes(q.threads) + 1;
  plan.workers = std::clamp(q.threads, 2U, 8U);
  plan.scratch_bytes = exchange_scratch_bytes(q.run_scratch_bytes, q.element.bytes);
  plan.backlog = std::clamp<std::uint64_t>(q.host_bytes / 16 / kMostFrameBytes, 4, 64);
  const std::uint64_t slot_bytes = q.runs_here * q.block_bytes + q.run_scratch_bytes + 1;
  plan.slots = static_cast<unsigned>(
      std::clamp<std::uint64_t>(q.host_bytes / 4 / slot_bytes, 1, kMostSlots));
  for (plan.part_elements = wanted_part(q, plan.lanes); plan.part_elements > 0;
       plan.part_elements /= 2) {
    plan.arena_bytes = plan.lanes * q.engine->merge_lane(q.element, plan.part_elements).arena;
    if (exchange_bytes(q, plan) <= q.host_bytes) return plan;
  }
  return std::nullopt;
}

}  // namespace gsort::cluster
