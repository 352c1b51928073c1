#include "pipeline/share/part_runs.hpp"

#include <numeric>
#include <utility>

#include "pipeline/proof/element_order.hpp"
#include "pipeline/split/part_splitter.hpp"

namespace gsort {

std::vector<RunSlice> slices_of_part(const Plan& plan, std::vector<io::Run> runs,
                                     std::uint64_t scratch_bytes, OutputRange& part) {
  PartSplitter splitter(runs_to_cut(plan, runs, scratch_bytes), plan.run.fan_in);
  const auto last_equal = [order = ElementOrder(plan.job.element)](std::uint64_t value) {
    return order.last_equal(value);
  };
  const auto cuts_at = [&](std::uint64_t position) {
    return plan.job.is_distinct() ? splitter.cuts_behind_ties_at(position, last_equal)
                                  : splitter.cuts_at(position);
  };
  const std::vector<std::uint64_t> begin = cuts_at(part.begin);
  const std::vector<std::uint64_t> end = cuts_at(part.end);
  part = {std::accumulate(begin.begin(), begin.end(), std::uint64_t{0}),
          std::accumulate(end.begin(), end.end(), std::uint64_t{0})};
  std::vector<RunSlice> slices;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (begin[run] < end[run]) slices.push_back({std::move(runs[run]), begin[run], end[run]});
  }
  return slices;
}

}  // namespace gsort
