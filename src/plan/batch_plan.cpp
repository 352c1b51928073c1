#include "plan/batch_plan.hpp"

#include <algorithm>
#include <bit>

#include "base/units.hpp"
#include "engine/array_footprint.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kLeastBlockBytes = 16 * kKiB;

// Many small arrays are read, sorted and written together: on a core as much as its cache holds, or
// as there is memory for on all of them; on a device so much that the copies decide.
std::uint64_t usual_block_bytes(const Plan& plan, std::uint64_t budget_bytes) {
  if (plan.engine == EngineKind::kCpu) {
    return std::clamp(std::bit_floor(budget_bytes / (2 * std::uint64_t{plan.threads})),
                      kLeastBlockBytes, kMiB);
  }
  return std::clamp(std::bit_floor(std::min(budget_bytes, plan.device_budget_bytes) / 32), kMiB,
                    32 * kMiB);
}

// While one lane copies in, another sorts, a third copies out, and a fourth reads or writes.
constexpr unsigned kCudaLanes = 4;

std::uint64_t lane_bytes(const Plan& plan, std::uint64_t longest, std::uint64_t block_elements) {
  const std::uint64_t block_bytes = block_elements * plan.element_bytes;
  if (plan.engine == EngineKind::kCuda) return CudaArrayFootprint::host_bytes(block_bytes);
  return plan.job.element.records
             ? CpuArrayFootprint::of_records(longest, block_bytes).arena_bytes()
             : CpuArrayFootprint::of_keys(longest * plan.element_bytes, block_bytes).arena_bytes();
}

// How many lanes the memory has room for, of those that are of use.
unsigned lanes_that_fit(const Plan& plan, std::uint64_t lane_bytes, std::uint64_t block_bytes,
                        std::uint64_t budget_bytes) {
  if (plan.engine == EngineKind::kCpu) {
    return static_cast<unsigned>(std::min<std::uint64_t>(plan.threads, budget_bytes / lane_bytes));
  }
  return static_cast<unsigned>(
      std::min({std::uint64_t{kCudaLanes}, budget_bytes / lane_bytes,
                plan.device_budget_bytes / CudaArrayFootprint::device_bytes(block_bytes)}));
}

}  // namespace

bool plan_batches(Plan& plan, std::uint64_t budget_bytes) {
  const std::uint64_t array_elements = plan.job.array_elements;
  const std::uint64_t longest =
      plan.elements > 0 ? std::min(array_elements, plan.elements) : array_elements;
  // Beyond that, the products below could run over.
  if (longest > std::max(budget_bytes, kLeastBlockBytes)) return false;
  const std::uint64_t array_bytes = longest * plan.element_bytes;
  const std::uint64_t usual_bytes = usual_block_bytes(plan, budget_bytes);
  const std::uint64_t block_elements =
      std::max<std::uint64_t>(usual_bytes / array_bytes, 1) * longest;
  const std::uint64_t bytes = lane_bytes(plan, longest, block_elements);
  unsigned lanes = lanes_that_fit(plan, bytes, block_elements * plan.element_bytes, budget_bytes);
  // As little as that is there beside any budget, and arrays so short must not be sorts of their
  // own.
  if (plan.engine == EngineKind::kCpu && array_bytes <= kLeastBlockBytes) {
    lanes = std::max(lanes, 1U);
  }
  // One array at a time is better sorted by all cores, unless there is nothing to share.
  const unsigned wanted = plan.engine == EngineKind::kCpu ? plan.threads : kCudaLanes;
  if (lanes < wanted && array_bytes > usual_bytes) return false;
  if (lanes == 0) return false;
  plan.strategy = BatchPlan{lanes, longest, block_elements};
  plan.chunk.block_bytes = block_elements * plan.element_bytes;
  plan.chunk.readers = lanes;
  plan.chunk.arena_bytes = lanes * bytes;
  plan.arena_bytes = plan.chunk.arena_bytes;
  return true;
}

}  // namespace gsort
