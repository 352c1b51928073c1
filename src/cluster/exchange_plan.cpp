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

// With the longest parts that fit, for this many lanes on each device.
std::optional<ExchangePlan> plan_with_lanes(const ExchangeQuestion& q, ExchangePlan plan,
                                            unsigned device_lanes) {
  plan.lanes = q.devices * device_lanes;
  for (plan.part_elements = wanted_part(q, plan.lanes); plan.part_elements > 0;
       plan.part_elements /= 2) {
    const LaneBytes lane = q.engine->merge_lane(q.element, plan.part_elements);
    plan.arena_bytes = plan.lanes * lane.arena;
    const bool fits_devices = device_lanes * lane.device <= q.device_bytes;
    if (fits_devices && exchange_bytes(q, plan) <= q.host_bytes) return plan;
  }
  return std::nullopt;
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
  // MPI may hold the input of all lanes before they ask for it.
  const std::uint64_t in_mpi = plan.lanes * plan.part_elements * q.element.bytes;
  return capped_sum(capped_sum(counts, frames),
                    capped_sum(in_mpi, plan.arena_bytes + plan.workers * plan.scratch_bytes));
}

std::optional<ExchangePlan> plan_exchange(const ExchangeQuestion& q) {
  ExchangePlan plan;
  plan.workers = std::clamp(q.threads, 2U, 8U);
  plan.scratch_bytes = exchange_scratch_bytes(q.run_scratch_bytes, q.element.bytes);
  plan.backlog = std::clamp<std::uint64_t>(q.host_bytes / 16 / kMostFrameBytes, 4, 64);
  const std::uint64_t slot_bytes = q.runs_here * q.block_bytes + q.run_scratch_bytes + 1;
  plan.slots = static_cast<unsigned>(
      std::clamp<std::uint64_t>(q.host_bytes / 4 / slot_bytes, 1, kMostSlots));
  // One more than merge at once: it is filled meanwhile.
  for (unsigned lanes = q.engine->merge_lanes(q.threads) + 1; lanes > 0; --lanes) {
    if (const auto fitting = plan_with_lanes(q, plan, lanes)) return fitting;
  }
  return std::nullopt;
}

}  // namespace gsort::cluster
