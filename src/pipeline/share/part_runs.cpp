#include "pipeline/share/part_runs.hpp"

#include <numeric>
#include <utility>

#include "pipeline/output/sinks.hpp"
#include "pipeline/proof/element_order.hpp"
#include "pipeline/split/part_splitter.hpp"

namespace gsort {

PartRuns::PartRuns(const Plan& plan, std::vector<io::Run> runs, OutputRange part)
    : plan_(plan), runs_(std::move(runs)), part_(part) {}

void PartRuns::cut(std::uint64_t scratch_bytes, Borders borders) {
  PartSplitter splitter(runs_to_cut(plan_, runs_, scratch_bytes), plan_.run.fan_in);
  const auto last_equal = [order = ElementOrder(plan_.job.element)](std::uint64_t value) {
    return order.last_equal(value);
  };
  const auto cuts_at = [&](std::uint64_t position) {
    return borders == Borders::kExact ? splitter.cuts_at(position)
                                      : splitter.cuts_behind_ties_at(position, last_equal);
  };
  const std::vector<std::uint64_t> begin = cuts_at(part_.begin);
  const std::vector<std::uint64_t> end = cuts_at(part_.end);
  part_ = {std::accumulate(begin.begin(), begin.end(), std::uint64_t{0}),
           std::accumulate(end.begin(), end.end(), std::uint64_t{0})};
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (begin[run] < end[run]) slices_.push_back({std::move(runs_[run]), begin[run], end[run]});
  }
  runs_.clear();
}

std::vector<std::uint64_t> PartRuns::slices() const {
  std::vector<std::uint64_t> slices;
  for (const Slice& slice : slices_) slices.push_back(slice.end - slice.begin);
  return slices;
}

PartRuns::Group PartRuns::group_of(std::span<Slice> slices) {
  Group group;
  for (Slice& slice : slices) {
    group.runs.push_back(std::move(slice.run));
    group.range.begin += slice.begin;
    group.range.end += slice.end;
  }
  return group;
}

void PartRuns::merge_rounds(const SortContext& context) {
  gsort::merge_rounds(context, slices_, [&](std::span<Slice> slices, std::size_t /*first*/) {
    const auto [runs, range] = group_of(slices);
    io::RunWriter writer = context.store().begin_run(range.elements());
    RunSink run(writer, context.meter);
    OffsetSink from_zero(-range.begin, run);
    merge_range(context, {runs, range, KeyForm::kOrdered, nullptr}, from_zero);
    return Slice{writer.finish(), 0, range.elements()};
  });
}

void PartRuns::merge(const SortContext& context, PieceSink& sink) {
  if (part_.elements() == 0) return;
  const auto [runs, range] = slices_.empty() ? Group{std::move(runs_), part_} : group_of(slices_);
  OffsetSink place(part_.begin - range.begin, sink);
  merge_range(context, {runs, range, KeyForm::kRaw, nullptr}, place);
}

}  // namespace gsort
