#include "plan/select_plan.hpp"

#include <algorithm>
#include <bit>

#include "base/page.hpp"
#include "base/units.hpp"
#include "plan/sizes.hpp"

namespace gsort {
namespace {

// A block, and room for its elements twice; uncached disks read large blocks faster.
std::uint64_t block_bytes_for(const Plan& plan, std::uint64_t budget_bytes) {
  return std::clamp<std::uint64_t>(std::bit_floor(budget_bytes / (4 * std::uint64_t{plan.threads})),
                                   64 * kKiB, kMiB);
}

std::optional<RecordFormat> as_records(const ElementFormat& element) {
  if (element.records || element.bytes() < sizeof(UInt128)) return element.records;
  const KeyFormat& key = element.key;
  return element.shown_records().value_or(RecordFormat{
      sizeof(UInt128), {{0, sizeof(UInt128), key.type, key.big_endian, key.descending}}});
}

// With more than this fraction of all elements, few are left out, and a sort, which uses all cores,
// is faster.
constexpr std::uint64_t kLeastShare = 4;

}  // namespace

bool plan_selection(Plan& plan) {
  const std::uint64_t budget_bytes = sorting_budget(plan);
  // Keys of 16 bytes are selected as records.
  const std::optional<RecordFormat> records = as_records(plan.job.element);
  const bool is_record = records.has_value();
  const bool has_keys = plan.element_bytes == 4 || plan.element_bytes == 8;
  if (!plan.job.top || !(is_record || has_keys)) return false;
  if (plan.elements > 0 && *plan.job.top > plan.elements / kLeastShare) return false;
  if (*plan.job.top > budget_bytes) return false;  // and the products below cannot overflow
  const std::uint64_t block_bytes = block_bytes_for(plan, budget_bytes);
  SelectPlan select;
  // Room for the first N, as many candidates that may replace them, and one more block, since a
  // block is taken whole.
  select.candidates =
      2 * std::max(*plan.job.top, kFewCandidates) + block_bytes / plan.element_bytes;
  select.candidate_bytes = round_up(select.candidates * plan.element_bytes, kMemoryPageBytes);
  const std::uint64_t entries_bytes = is_record ? select.candidates * kRecordEntryBytes : 0;
  const std::uint64_t worker_bytes =
      block_bytes + 2 * select.candidate_bytes + round_up(entries_bytes, kMemoryPageBytes);
  select.workers =
      static_cast<unsigned>(std::min<std::uint64_t>(plan.threads, budget_bytes / worker_bytes));
  if (select.workers == 0) return false;
  if (is_record && !plan.job.element.records) {
    plan.job.shown = plan.job.element;
    plan.job.element.records = records;
  }
  plan.strategy = select;
  plan.engine_reason = "the first elements are selected while reading";
  plan.chunk.block_bytes = block_bytes;
  plan.chunk.readers = select.workers;
  plan.chunk.arena_bytes = select.workers * worker_bytes;
  plan.arena_bytes = plan.chunk.arena_bytes;
  return true;
}

}  // namespace gsort
