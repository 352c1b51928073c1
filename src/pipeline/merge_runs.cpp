#include "pipeline/merge_runs.hpp"

#include <optional>
#include <utility>

#include "base/device_error.hpp"
#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "pipeline/output/once_sink.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/output/staging_sink.hpp"
#include "pipeline/part_merge.hpp"
#include "plan/merge_plan.hpp"
#include "plan/rounds.hpp"

namespace gsort {
namespace {

// The buffers of the lanes that are not the engine's own.
struct LaneBuffers {
  std::vector<std::vector<ByteSpan>> scratch;  // one for each loader of each lane
  std::vector<ByteSpan> staging;
};

LaneBuffers lay_out(ByteSpan memory, const MergePlan& sizes) {
  LaneBuffers buffers;
  const auto take = [&](std::uint64_t bytes) {
    const ByteSpan taken = memory.last(round_up(bytes, kBufferAlignment));
    memory = memory.first(memory.size() - taken.size());
    return taken;
  };
  for (unsigned lane = 0; lane < sizes.lanes; ++lane) {
    auto& scratch = buffers.scratch.emplace_back();
    for (unsigned loader = 0; loader < sizes.loaders; ++loader) {
      scratch.push_back(take(sizes.scratch_bytes));
    }
    if (sizes.staging_bytes > 0) buffers.staging.push_back(take(sizes.staging_bytes));
  }
  return buffers;
}

// Merges the part; if the lane's device fails, merges it again without the device. Elements that
// have been put stay.
void merge_part_even_without_device(const PartMerge& merge, const Part& part, MergeLane& lane,
                                    std::span<const ByteSpan> scratch, PieceSink& sink) {
  OnceSink once(merge.element_bytes, sink);
  try {
    return merge_part(merge, part, lane, scratch, once);
  } catch (const DeviceError& failure) {
    if (once.has_failed() || !lane.go_on_without(failure)) throw;
  }
  once.begin_again();
  const DeviceScope scope(std::nullopt);
  merge_part(merge, part, lane, scratch, once);
}

// Slices of neighbours. In the merged sequence of their runs, the elements in front of the slices
// come first, so that the slices are exactly one range of it.
struct Group {
  std::vector<io::Run> runs;
  OutputRange range;
};

Group group_of(std::span<RunSlice> slices) {
  Group group;
  for (RunSlice& slice : slices) {
    group.runs.push_back(std::move(slice.run));
    group.range.begin += slice.begin;
    group.range.end += slice.end;
  }
  return group;
}

// Merges the group into `output`, from position `first` on. As parts are merged, gives back the
// space of the runs up to there, unless their store keeps them.
void merge_group(const SortContext& context, Group& group, KeyForm form, std::uint64_t first,
                 PieceSink& output) {
  OffsetSink place(first - group.range.begin, output);
  PieceSink& sink = place;
  const Plan& plan = context.plan;
  const MergePlan sizes =
      plan_merge(plan, static_cast<std::uint32_t>(group.runs.size()), group.range.elements());
  const auto lanes = context.engine->make_merge_lanes(sizes.lanes, sizes.part_elements);
  const LaneBuffers buffers = lay_out(context.memory, sizes);
  const PartMerge merge{group.runs, plan.element_bytes, form, context.meter};
  const bool staged = is_staged(plan, form);
  const unsigned stagers = staging_threads(plan, sizes.lanes);
  PartQueue parts(PartSplitter(runs_to_cut(plan, group.runs, context.store().scratch_bytes())),
                  group.range, sizes);
  SpaceReturn space(group.runs, group.range.begin);
  Failure failure;
  run_workers(sizes.lanes, [&](unsigned lane) {
    try {
      std::optional<StagingSink> staging;
      if (staged) staging.emplace(buffers.staging[lane], plan.element_bytes, stagers, sink);
      while (!failure.failed()) {
        const DeviceScope scope(lanes[lane]->is_without_device() ? std::nullopt
                                                                 : plan.device_of_lane(lane));
        const std::optional<Part> part = parts.take();
        if (!part) return;
        if (staging) staging->begin(part->range.begin, part->range.elements());
        merge_part_even_without_device(merge, *part, *lanes[lane], buffers.scratch[lane],
                                       staging ? *staging : sink);
        if (staging) staging->flush();
        space.done(*part);
      }
    } catch (...) {
      failure.capture();
      sink.abandon();
    }
  });
  failure.rethrow();
}

// `before` runs are in front of the group.
RunSlice merged_run(const SortContext& context, std::span<RunSlice> slices, std::size_t before) {
  Group group = group_of(slices);
  io::RunWriter writer = context.store().begin_run(group.range.elements());
  RunSink sink(writer, context.meter);
  merge_group(context, group, KeyForm::kOrdered, 0, sink);
  io::Run merged = writer.finish();
  if (context.run_folder != nullptr) {
    context.run_folder->replace(context.store(), before, group.runs, merged);
  }
  return {std::move(merged), 0, group.range.elements()};
}

// Round `number` begins, from 1. The last merge counts as a round, after the `rounds` of the plan.
void begin_round(const SortContext& context, std::size_t number, std::size_t rounds) {
  const std::size_t before = earlier_rounds(context.plan);
  if (context.meter == nullptr || before + rounds == 0) return;
  context.meter->begin_round(before + number, before + rounds + 1);
}

}  // namespace

void merge_slices(const SortContext& context, std::vector<RunSlice> slices, std::uint64_t first,
                  PieceSink& sink) {
  const std::vector<MergeRound> rounds = plan_rounds(slices.size(), context.plan.run.fan_in);
  std::size_t number = 0;
  for (const MergeRound& round : rounds) {
    begin_round(context, ++number, rounds.size());
    std::vector<RunSlice> longer;
    std::span<RunSlice> left(slices);
    for (const std::uint32_t size : round.group_sizes) {
      longer.push_back(size == 1 ? std::move(left.front())
                                 : merged_run(context, left.first(size), longer.size()));
      left = left.subspan(size);
    }
    slices = std::move(longer);
  }
  begin_round(context, ++number, rounds.size());
  Group last = group_of(slices);
  merge_group(context, last, KeyForm::kRaw, first, sink);
}

void merge_runs(const SortContext& context, std::vector<io::Run> runs, PieceSink& output) {
  std::vector<RunSlice> whole;
  for (io::Run& run : runs) {
    const std::uint64_t elements = run.elements();
    whole.push_back({std::move(run), 0, elements});
  }
  merge_slices(context, std::move(whole), 0, output);
}

}  // namespace gsort
