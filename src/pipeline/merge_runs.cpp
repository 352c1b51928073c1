#include "pipeline/merge_runs.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/part_splitter.hpp"
#include "pipeline/run_view.hpp"
#include "plan/merge_plan.hpp"
#include "plan/rounds.hpp"

namespace gsort {
namespace {

// A part with its slices: run i gives [begin[i], end[i]).
struct Part {
  std::uint64_t number = 0;
  std::uint64_t position = 0;
  std::vector<std::uint64_t> begin;
  std::vector<std::uint64_t> end;

  [[nodiscard]] std::uint64_t elements() const {
    std::uint64_t sum = 0;
    for (std::size_t run = 0; run < begin.size(); ++run) sum += end[run] - begin[run];
    return sum;
  }
};

// Hands out the parts in order, and gives the runs' space back when all parts up to some point are
// done. Thread-safe.
class PartQueue {
 public:
  PartQueue(std::span<io::Run> runs, RunViewSpan views, const Plan& plan,
            std::uint64_t part_elements, std::uint64_t scratch_bytes)
      : runs_(runs),
        splitter_(views, plan.element_bytes, plan.run.block_elements * plan.element_bytes,
                  scratch_bytes, plan.job.element.records),
        part_elements_(part_elements) {
    for (const io::Run& run : runs) total_ += run.elements();
    cuts_.assign(runs.size(), 0);
  }

  // None when all have been handed out. A call that fails hands out none: the next call begins
  // where this one did.
  std::optional<Part> take() {
    const std::scoped_lock lock(mutex_);
    if (position_ == total_) return std::nullopt;
    const std::uint64_t end = std::min(total_, position_ + part_elements_);
    Part part{next_number_, position_, cuts_, splitter_.cuts_at(end)};
    cuts_ = part.end;
    position_ = end;
    ++next_number_;
    return part;
  }

  void done(const Part& part) {
    const std::vector<std::uint64_t> ends = ends_to_release(part);
    // Not under the queue's lock: a hole in a file takes the disk some time, and stops reads.
    const std::scoped_lock lock(releasing_);
    for (std::size_t run = 0; run < ends.size(); ++run) runs_[run].release_before(ends[run]);
  }

 private:
  // How often space is given back: larger holes take little longer than small ones.
  static constexpr std::uint64_t kReleases = 32;

  // Where the parts end that are done together with all before them; none if that is little more
  // than was given back before.
  std::vector<std::uint64_t> ends_to_release(const Part& part) {
    const std::scoped_lock lock(mutex_);
    finished_.emplace(part.number, part.end);
    while (!finished_.empty() && finished_.begin()->first == done_) {
      done_ends_ = std::move(finished_.begin()->second);
      finished_.erase(finished_.begin());
      ++done_;
    }
    const std::uint64_t position =
        std::accumulate(done_ends_.begin(), done_ends_.end(), std::uint64_t{0});
    if (position < total_ && position - released_ < total_ / kReleases) return {};
    released_ = position;
    return done_ends_;
  }

  std::mutex mutex_;
  std::span<io::Run> runs_;
  PartSplitter splitter_;
  std::uint64_t part_elements_;
  std::uint64_t total_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t next_number_ = 0;
  std::vector<std::uint64_t> cuts_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> finished_;
  std::uint64_t done_ = 0;  // parts before this one are done
  std::vector<std::uint64_t> done_ends_;
  std::uint64_t released_ = 0;  // so many elements have been given back, or are being
  std::mutex releasing_;
};

// Calls load(run, scratch) for each slice of `part` that has keys, from at most as many threads as
// there are scratch buffers.
template <class F>
void load_each(const Part& part, std::span<const ByteSpan> scratch, std::uint64_t element_bytes,
               Meter* meter, const F& load) {
  std::atomic<std::size_t> next{0};
  Failure failure;
  run_workers(static_cast<unsigned>(scratch.size()), [&](unsigned worker) {
    try {
      for (std::size_t run = next++; run < part.begin.size() && !failure.failed(); run = next++) {
        if (part.begin[run] == part.end[run]) continue;
        Span span(meter, Stage::kLoad);
        span.add_bytes((part.end[run] - part.begin[run]) * element_bytes);
        load(run, scratch[worker]);
      }
    } catch (...) {
      failure.capture();
    }
  });
  failure.rethrow();
}

// Loads the slices as keys, one behind the other.
void load_slices(RunViewSpan runs, const Part& part, ByteSpan input,
                 std::span<const ByteSpan> scratch, std::uint64_t element_bytes, Meter* meter) {
  std::vector<ByteSpan> places(runs.size());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    places[run] = input.first((part.end[run] - part.begin[run]) * element_bytes);
    input = input.subspan(places[run].size());
  }
  load_each(part, scratch, element_bytes, meter, [&](std::size_t run, ByteSpan room) {
    runs[run]->read_range(part.begin[run], part.end[run], places[run], room);
  });
}

// Where the slices of a part lie in a lane's input in stored form: the blocks of one run behind
// those of the other, and behind them the table of what is wanted of each.
class StoredLayout {
 public:
  StoredLayout(RunViewSpan runs, const Part& part) : slices_(runs.size() + 1) {
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const io::RunFences& fences = runs[run]->fences();
      const std::uint64_t begin = part.begin[run];
      const std::uint64_t end = part.end[run];
      slices_[run + 1] = {slices_[run].bytes + fences.stored_bytes(begin, end),
                          slices_[run].pieces + fences.blocks_of(begin, end),
                          slices_[run].keys + (end - begin)};
    }
  }

  // In blocks of which only some keys are wanted more may be stored than there is room for.
  [[nodiscard]] bool fits(ByteSpan input) const {
    return slices_.back().bytes + slices_.back().pieces * sizeof(StoredKeys) <= input.size();
  }
  [[nodiscard]] std::span<StoredKeys> pieces(ByteSpan input) const {
    return {reinterpret_cast<StoredKeys*>(input.data() + slices_.back().bytes),
            slices_.back().pieces};
  }

  // Loads what the part wants of a run.
  void load(const RunView& run, std::size_t number, const Part& part, ByteSpan input,
            ByteSpan scratch) const {
    const Slice& slice = slices_[number];
    const Slice& behind = slices_[number + 1];
    const std::span<StoredKeys> mine =
        pieces(input).subspan(slice.pieces, behind.pieces - slice.pieces);
    run.read_stored(part.begin[number], part.end[number],
                    input.subspan(slice.bytes, behind.bytes - slice.bytes), mine, scratch);
    for (StoredKeys& piece : mine) {
      piece.payload += slice.bytes;
      piece.position += slice.keys;
    }
  }

 private:
  // Where it begins, in bytes, pieces and keys.
  struct Slice {
    std::uint64_t bytes = 0;
    std::size_t pieces = 0;
    std::uint64_t keys = 0;
  };
  std::vector<Slice> slices_;
};

// Loads a part and merges it.
void merge_part(const MergeContext& context, RunViewSpan runs, const Part& part, MergeLane& lane,
                std::span<const ByteSpan> scratch, KeyForm form, PieceSink& sink) {
  const std::uint64_t element_bytes = context.plan.element_bytes;
  std::vector<std::uint64_t> counts(runs.size());
  for (std::size_t run = 0; run < runs.size(); ++run) counts[run] = part.end[run] - part.begin[run];
  const ByteSpan input = lane.input();
  StoredMerger* const stored_merger = lane.stored_merger();
  std::optional<StoredLayout> layout;
  if (stored_merger != nullptr) layout.emplace(runs, part);
  const bool stored = layout && layout->fits(input);
  if (stored) {
    load_each(part, scratch, element_bytes, context.meter, [&](std::size_t run, ByteSpan room) {
      layout->load(*runs[run], run, part, input, room);
    });
  } else {
    load_slices(runs, part, input, scratch, element_bytes, context.meter);
  }
  Span span(context.meter, Stage::kMerge);
  span.add_bytes(part.elements() * element_bytes);
  if (stored) {
    stored_merger->merge_stored(counts, layout->pieces(input), part.position, form, sink);
  } else {
    lane.merge(counts, part.position, form, sink);
  }
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

// One merge of at most fan-in runs.
void merge_once(const MergeContext& context, std::span<io::Run> runs, KeyForm form, PieceSink& sink,
                bool staged) {
  std::uint64_t total = 0;
  for (const io::Run& run : runs) total += run.elements();
  const MergePlan sizes = plan_merge(context.plan, static_cast<std::uint32_t>(runs.size()), total);
  const auto lanes = context.engine.make_merge_lanes(sizes.lanes, sizes.part_elements);
  const LaneBuffers buffers = lay_out(context.memory, sizes);
  const RunViews views = views_of(runs);
  PartQueue parts(runs, views, context.plan, sizes.part_elements, context.store.scratch_bytes());
  Failure failure;
  run_workers(sizes.lanes, [&](unsigned lane) {
    try {
      std::optional<StagingSink> staging;
      if (staged) staging.emplace(buffers.staging[lane], context.plan.element_bytes, sink);
      while (!failure.failed()) {
        const std::optional<Part> part = parts.take();
        if (!part) return;
        if (staging) staging->begin(part->position, part->elements());
        merge_part(context, views, *part, *lanes[lane], buffers.scratch[lane], form,
                   staging ? *staging : sink);
        if (staging) staging->flush();
        parts.done(*part);
      }
    } catch (...) {
      failure.capture();
      sink.abandon();
    }
  });
  failure.rethrow();
}

// `first` is the number of the group's first run among those that are there.
io::Run merge_group(const MergeContext& context, std::span<io::Run> group, std::size_t first) {
  std::uint64_t total = 0;
  for (const io::Run& run : group) total += run.elements();
  io::RunWriter writer = context.store.begin_run(total);
  RunSink sink(writer, context.meter);
  merge_once(context, group, KeyForm::kOrdered, sink, false);
  io::Run merged = writer.finish();
  if (context.resumption != nullptr) {
    context.resumption->replace(context.store, first, group, merged);
  }
  return merged;
}

}  // namespace

void merge_runs(const MergeContext& context, std::vector<io::Run> runs, PieceSink& output) {
  for (const MergeRound& round : plan_rounds(runs.size(), context.plan.run.fan_in)) {
    std::vector<io::Run> merged;
    std::size_t next = 0;
    for (const std::uint32_t size : round.group_sizes) {
      const std::span<io::Run> group(runs.data() + next, size);
      merged.push_back(size == 1 ? std::move(group[0])
                                 : merge_group(context, group, merged.size()));
      for (io::Run& run : group) run = io::Run();
      next += size;
    }
    runs = std::move(merged);
  }
  merge_once(context, runs, KeyForm::kRaw, output, context.plan.output.is_stream);
}

}  // namespace gsort
