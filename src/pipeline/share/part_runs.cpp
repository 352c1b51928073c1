#include "pipeline/share/part_runs.hpp"

#include <numeric>
#include <utility>

#include "pipeline/output/sinks.hpp"
#include "pipeline/proof/element_order.hpp"
#include "pipeline/split/part_splitter.hpp"
#include "plan/rounds.hpp"

namespace gsort {
namespace {

std::uint64_t sum_of(const std::vector<std::uint64_t>& numbers, std::size_t first,
                     std::size_t count) {
  const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(first);
  return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), std::uint64_t{0});
}

}  // namespace

PartRuns::PartRuns(const Plan& plan, RunViews runs, std::uint64_t scratch_bytes, OutputRange part)
    : plan_(plan), runs_(std::move(runs)), scratch_bytes_(scratch_bytes), part_(part) {}

void PartRuns::cut(Borders borders) {
  PartSplitter splitter(runs_, plan_.element_bytes, plan_.run.block_elements * plan_.element_bytes,
                        scratch_bytes_, plan_.job.element.cut_by_prefix(), plan_.run.fan_in);
  const auto last_equal = [order = ElementOrder(plan_.job.element)](std::uint64_t value) {
    return order.last_equal(value);
  };
  const auto cuts_at = [&](std::uint64_t position) {
    return borders == Borders::kExact ? splitter.cuts_at(position)
                                      : splitter.cuts_behind_ties_at(position, last_equal);
  };
  begin_ = cuts_at(part_.begin);
  end_ = cuts_at(part_.end);
  part_ = {sum_of(begin_, 0, begin_.size()), sum_of(end_, 0, end_.size())};
  std::size_t kept = 0;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (begin_[run] == end_[run]) continue;
    runs_[kept] = std::move(runs_[run]);
    begin_[kept] = begin_[run];
    end_[kept++] = end_[run];
  }
  runs_.resize(kept);
  begin_.resize(kept);
  end_.resize(kept);
}

std::vector<std::uint64_t> PartRuns::slices() const {
  std::vector<std::uint64_t> slices;
  for (std::size_t run = 0; run < runs_.size(); ++run) slices.push_back(end_[run] - begin_[run]);
  return slices;
}

OutputRange PartRuns::range_of(std::size_t first, std::size_t count) const {
  return {sum_of(begin_, first, count), sum_of(end_, first, count)};
}

std::unique_ptr<const RunView> PartRuns::merge_group(const SortContext& context, std::size_t first,
                                                     std::size_t count) const {
  const OutputRange range = range_of(first, count);
  io::RunWriter writer = context.store().begin_run(range.elements());
  RunSink run(writer, context.meter);
  OffsetSink from_zero(-range.begin, run);
  const RunViewSpan group = RunViewSpan(runs_).subspan(first, count);
  merge_range(context, {group, range, KeyForm::kOrdered, nullptr}, from_zero);
  return view_of(writer.finish());
}

void PartRuns::merge_rounds(const SortContext& context) {
  const std::vector<MergeRound> rounds = plan_rounds(runs_.size(), plan_.run.fan_in);
  std::size_t number = 0;
  for (const MergeRound& round : rounds) {
    begin_round(context, ++number, rounds.size());
    std::size_t next = 0;
    std::size_t made = 0;
    for (const std::uint32_t size : round.group_sizes) {
      if (size == 1) {
        std::swap(runs_[made], runs_[next]);
        begin_[made] = begin_[next];
        end_[made] = end_[next];
      } else {
        const std::uint64_t elements = range_of(next, size).elements();
        auto merged = merge_group(context, next, size);
        for (std::size_t run = next; run < next + size; ++run) runs_[run] = nullptr;
        runs_[made] = std::move(merged);
        begin_[made] = 0;
        end_[made] = elements;
      }
      next += size;
      ++made;
    }
    runs_.resize(made);
    begin_.resize(made);
    end_.resize(made);
  }
  begin_round(context, ++number, rounds.size());
}

void PartRuns::merge(const SortContext& context, PieceSink& sink) const {
  if (part_.elements() == 0) return;
  const OutputRange range = begin_.empty() ? part_ : range_of(0, runs_.size());
  OffsetSink place(part_.begin - range.begin, sink);
  merge_range(context, {runs_, range, KeyForm::kRaw, nullptr}, place);
}

}  // namespace gsort
