#include "plan/batch_plan.hpp"

#include <algorithm>

#include "engine/engine_sizes.hpp"
#include "plan/sizes.hpp"

namespace gsort {

bool plan_batches(Plan& plan) {
  const std::uint64_t budget_bytes = sorting_budget(plan);
  const std::uint64_t array_elements = plan.job.array_elements;
  const std::uint64_t longest =
      plan.elements > 0 ? std::min(array_elements, plan.elements) : array_elements;
  // Beyond this, the products below could overflow.
  constexpr std::uint64_t kLeastBlockBytes = EngineSizes::kLeastArrayBlockBytes;
  if (longest > std::max(budget_bytes, kLeastBlockBytes)) return false;
  const std::uint64_t array_bytes = longest * plan.element_bytes;
  // Many small arrays are read, sorted and written together.
  const EngineSizes& engine = sizes_of(plan.engine);
  const std::uint64_t device_bytes = least_device_budget(plan);
  const std::uint64_t usual_bytes =
      engine.array_block_bytes(budget_bytes, device_bytes, plan.threads);
  const std::uint64_t block_elements =
      std::max<std::uint64_t>(usual_bytes / array_bytes, 1) * longest;
  const LaneBytes lane = engine.array_lane(element_size_of(plan), longest, block_elements);
  const auto devices = static_cast<unsigned>(std::max<std::size_t>(plan.devices.size(), 1));
  const unsigned wanted = devices * engine.array_lanes(plan.threads);
  auto lanes = static_cast<unsigned>(std::min<std::uint64_t>(wanted, budget_bytes / lane.arena));
  if (lane.device > 0) {
    lanes = static_cast<unsigned>(
        std::min<std::uint64_t>(lanes, devices * (device_bytes / lane.device)));
  }
  // Every budget has room for this little, and arrays so short must not be separate sorts.
  if (lane.device == 0 && array_bytes <= kLeastBlockBytes) lanes = std::max(lanes, 1U);
  // If lanes are few, all cores sort one array at a time, unless arrays are too short for that.
  if (lanes < wanted && array_bytes > usual_bytes) return false;
  if (lanes == 0) return false;
  plan.strategy = BatchPlan{lanes, longest, block_elements};
  plan.chunk.block_bytes = block_elements * plan.element_bytes;
  plan.chunk.readers = lanes;
  plan.chunk.arena_bytes = lanes * lane.arena;
  plan.arena_bytes = plan.chunk.arena_bytes;
  return true;
}

}  // namespace gsort
