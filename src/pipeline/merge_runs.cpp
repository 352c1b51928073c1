#include "pipeline/merge_runs.hpp"

#include <optional>

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

std::uint64_t elements_of(std::span<const io::Run> runs) {
  std::uint64_t total = 0;
  for (const io::Run& run : runs) total += run.elements();
  return total;
}

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

// Merges at most fan-in runs of this process, and gives their space back.
void merge_once(const SortContext& context, std::span<io::Run> runs, KeyForm form,
                PieceSink& sink) {
  SpaceReturn space(runs);
  merge_range(context, {runs, {0, elements_of(runs)}, form, &space}, sink);
}

// `first` is the number of the group's first run among the existing ones.
io::Run merge_group(const SortContext& context, std::span<io::Run> group, std::size_t first) {
  io::RunWriter writer = context.store().begin_run(elements_of(group));
  RunSink sink(writer, context.meter);
  merge_once(context, group, KeyForm::kOrdered, sink);
  io::Run merged = writer.finish();
  if (context.run_folder != nullptr) {
    context.run_folder->replace(context.store(), first, group, merged);
  }
  return merged;
}

}  // namespace

void merge_range(const SortContext& context, const MergedRange& merged, PieceSink& sink) {
  const Plan& plan = context.plan;
  const MergePlan sizes =
      plan_merge(plan, static_cast<std::uint32_t>(merged.runs.size()), merged.range.elements());
  const auto lanes = context.engine->make_merge_lanes(sizes.lanes, sizes.part_elements);
  const LaneBuffers buffers = lay_out(context.memory, sizes);
  const PartMerge merge{merged.runs, plan.element_bytes, merged.form, context.meter};
  const bool staged = is_staged(plan, merged.form);
  const unsigned stagers = staging_threads(plan, sizes.lanes);
  PartQueue parts(PartSplitter(runs_to_cut(plan, merged.runs, context.store().scratch_bytes())),
                  merged.range, {sizes.part_elements, sizes.least_part_elements, sizes.lanes});
  if (merged.space != nullptr) merged.space->begin_range();
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
        if (merged.space != nullptr) merged.space->done(*part);
      }
    } catch (...) {
      failure.capture();
      sink.abandon();
    }
  });
  failure.rethrow();
}

void begin_round(const SortContext& context, std::size_t number, std::size_t rounds) {
  const std::size_t before = earlier_rounds(context.plan);
  if (context.meter == nullptr || before + rounds == 0) return;
  context.meter->begin_round(before + number, before + rounds + 1);
}

void merge_runs(const SortContext& context, std::vector<io::Run> runs, PieceSink& output) {
  merge_rounds(context, runs, [&](std::span<io::Run> group, std::size_t first) {
    return merge_group(context, group, first);
  });
  merge_once(context, runs, KeyForm::kRaw, output);
}

}  // namespace gsort
