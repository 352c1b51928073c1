#include "plan/batch_plan.hpp"

#include <algorithm>

#include "base/units.hpp"

namespace gsort {
namespace {

// Many small arrays are read, sorted and written together.
constexpr std::uint64_t kUsualBlockBytes = kMiB;

}  // namespace

bool plan_batches(Plan& plan, std::uint64_t array_elements, std::uint64_t budget_bytes) {
  BatchPlan batch;
  batch.array_elements = array_elements;
  plan.batch = batch;
  plan.engine_reason = "every array is sorted by one core";
  // An array longer than the input is the input.
  const std::uint64_t longest =
      plan.elements > 0 ? std::min(array_elements, plan.elements) : array_elements;
  if (longest > budget_bytes) return false;  // and the products below cannot run over
  const std::uint64_t array_bytes = longest * plan.key_bytes;
  batch.block_bytes = std::max(array_bytes, round_down(kUsualBlockBytes, array_bytes));
  batch.array_bytes = round_up(array_bytes, 4 * kKiB);
  const std::uint64_t worker_bytes = round_up(batch.block_bytes, 4 * kKiB) + batch.array_bytes;
  batch.workers =
      static_cast<unsigned>(std::min<std::uint64_t>(plan.threads, budget_bytes / worker_bytes));
  // One array at a time is better sorted by all cores, unless there is nothing to share.
  if (batch.workers < plan.threads && array_bytes > kUsualBlockBytes) return false;
  if (batch.workers == 0) return false;
  plan.batch = batch;
  plan.strategy = Strategy::kArrays;
  plan.chunk.block_bytes = batch.block_bytes;
  plan.chunk.readers = batch.workers;
  plan.chunk.arena_bytes = batch.workers * worker_bytes;
  plan.arena_bytes = plan.chunk.arena_bytes;
  return true;
}

}  // namespace gsort
