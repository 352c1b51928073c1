#include "plan/merge_plan.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "plan/sizes.hpp"

namespace gsort {

MergePlan plan_merge(const Plan& plan, std::uint32_t runs, std::uint64_t total_elements) {
  SizeQuestion q = question_of(plan);
  q.most_arena_bytes = plan.arena_bytes;
  const std::uint64_t fences = fence_bytes(plan.run, total_elements, q.host_bytes);
  // Parts of more than a few MiB for each run are no faster; many parts keep all lanes busy to the
  // end.
  const std::uint64_t most_bytes = sizes_of(plan.engine).most_part_bytes();
  const std::uint64_t least = 2 * std::uint64_t{runs} * plan.run.block_elements;
  const std::uint64_t wanted =
      std::clamp(total_elements / (std::uint64_t{16} * q.devices), std::min(least, total_elements),
                 std::max(least, most_bytes / plan.element_bytes));
  MergePlan merge = merge_sizes(q, plan.run, fences, runs, std::max<std::uint64_t>(wanted, 1));
  // A pipe may bring more than was guessed, and fences may take the memory of parts. The parts for
  // which the fan-in was chosen still have room: with parts of 0 elements no merge would end.
  const std::uint64_t sure = std::max<std::uint64_t>(std::min(wanted, least), 1);
  if (merge.part_elements < sure) merge = merge_sizes(q, plan.run, 0, runs, sure);
  // Devices may be unlike: the others should not wait long for the last part of a slow one.
  constexpr std::uint64_t kShrinks = 16;
  merge.least_part_elements =
      q.devices < 2
          ? merge.part_elements
          : std::min(std::max(least, merge.part_elements / kShrinks), merge.part_elements);
  return merge;
}

std::uint64_t fence_bytes(const RunPlan& run, std::uint64_t elements, std::uint64_t host_bytes) {
  const std::uint64_t blocks = div_up(elements, std::max<std::uint64_t>(run.block_elements / 2, 1));
  return std::min(capped_product(blocks, kFenceBytes), host_bytes / 2);
}

}  // namespace gsort
