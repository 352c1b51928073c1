#include "pipeline/merge_inputs.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/blocking_queue.hpp"
#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/thread.hpp"
#include "base/units.hpp"
#include "pipeline/input/sorted_window.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/output/staging_sink.hpp"

namespace gsort {
namespace {

// A part in a lane's input, ready to be merged.
struct FilledLane {
  std::size_t lane = 0;
  std::uint64_t position = 0;
  std::vector<std::uint64_t> counts;

  [[nodiscard]] std::uint64_t elements() const {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
};

// One merge of the inputs [first, last).
class GroupMerge {
 public:
  GroupMerge(const SortContext& context, std::size_t first, std::size_t last, KeyForm form)
      : context_(context),
        sizes_(context.plan.as<InputMergePlan>()),
        form_(form),
        order_(context.plan.job.element),
        lanes_(context.engine->make_merge_lanes(sizes_.lanes, sizes_.part_elements)) {
    windows_.reserve(last - first);
    for (std::size_t input = first; input < last; ++input) {
      const SortedInput sorted(*context.reader, input, context.plan.job.input_element(), order_,
                               *context.proof, context.meter);
      windows_.emplace_back(sorted, order_, take(sizes_.window_elements * order_.element_bytes()));
    }
  }

  // `begin` is called when the first elements have been read, with whether there are any.
  template <class Begin>
  std::uint64_t run(const Begin& begin) {
    fill_all(windows_, context_.plan.threads);
    PieceSink& sink = begin(anything_left(windows_));
    std::vector<std::jthread> mergers;
    try {
      mergers.reserve(lanes_.size());  // a thread without a place here would be waited for
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        free_.push(lane);
        if (!start_merger(mergers, sink, staging_of(lane))) break;
      }
      hand_out_all();
    } catch (...) {
      failure_.capture();
      sink.abandon();
    }
    filled_.close();
    mergers.clear();
    failure_.rethrow();
    return position_;
  }

 private:
  // Memory is taken from the end: its front is the engine's.
  ByteSpan take(std::uint64_t bytes) {
    const ByteSpan taken = rest_.last(bytes);
    rest_ = rest_.first(rest_.size() - bytes);
    return taken;
  }
  ByteSpan staging_of(std::size_t lane) {
    return staging_.subspan(lane * staging_bytes_, staging_bytes_);
  }

  // Returns false if the system allows no further thread: the existing ones then merge.
  bool start_merger(std::vector<std::jthread>& mergers, PieceSink& sink, ByteSpan staging) {
    try {
      mergers.push_back(
          start_thread("merging", [this, &sink, staging] { merge_all(sink, staging); }));
      return true;
    } catch (const Error&) {
      if (mergers.empty()) throw;
      return false;
    }
  }

  void hand_out_all() {
    while (anything_left(windows_) && !failure_.failed()) {
      const std::optional<std::size_t> lane = free_.pop();
      if (!lane) return;  // a merger has failed
      hand_out(*lane);
      fill_all(windows_, context_.plan.threads);
    }
  }

  // Cuts all windows at the bound and gives the slices to the lane.
  void hand_out(std::size_t lane) {
    const WindowBound bound = bound_of(windows_, order_);
    FilledLane part{lane, position_, {}};
    std::byte* to = lanes_[lane]->input().data();
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      // Elements equal to the bound may still come from the bound's input; they precede equal
      // elements of later inputs. Equal keys alone are indistinguishable.
      const bool equal_included = i <= bound.window || !order_.records();
      const ConstByteSpan slice = windows_[i].take_up_to(bound.element, equal_included);
      order_.copy_ordered(slice, to);
      order_.put_equal_in_order({to, slice.size()});
      to += slice.size();
      part.counts.push_back(slice.size() / order_.element_bytes());
      position_ += part.counts.back();
    }
    filled_.push(std::move(part));
  }

  void merge_all(PieceSink& sink, ByteSpan staging_memory) {
    try {
      std::optional<StagingSink> staging;
      if (!staging_memory.empty()) {
        const unsigned threads = staging_threads(context_.plan, sizes_.lanes);
        staging.emplace(staging_memory, order_.element_bytes(), threads, sink);
      }
      while (const auto part = filled_.pop()) {
        if (failure_.failed()) break;
        const DeviceScope scope(context_.plan.device_of_lane(part->lane));
        if (staging) staging->begin(part->position, part->elements());
        {
          Span span(context_.meter, Stage::kMerge);
          span.add_bytes(part->elements() * order_.element_bytes());
          lanes_[part->lane]->merge(part->counts, part->position, form_,
                                    staging ? static_cast<PieceSink&>(*staging) : sink);
        }
        if (staging) staging->flush();
        free_.push(part->lane);
      }
    } catch (...) {
      failure_.capture();
      sink.abandon();
      free_.close();
    }
  }

  const SortContext& context_;
  const InputMergePlan& sizes_;
  KeyForm form_;
  const ElementOrder order_;
  std::vector<std::unique_ptr<MergeLane>> lanes_;
  ByteSpan rest_ = context_.memory;
  const std::uint64_t staging_bytes_ = is_staged(context_.plan, form_) ? sizes_.staging_bytes : 0;
  ByteSpan staging_ = take(sizes_.lanes * staging_bytes_);
  std::vector<SortedWindow> windows_;
  std::uint64_t position_ = 0;
  BlockingQueue<std::size_t> free_;
  BlockingQueue<FilledLane> filled_;
  Failure failure_;
};

std::uint64_t merge_into_output(const SortContext& context, const OutputMaker& output) {
  const auto begin = [&](bool anything) -> PieceSink& {
    const auto size = context.reader->known_size();
    if (!anything) return output(0);
    return output(size ? std::optional(*size / context.plan.element_bytes) : std::nullopt);
  };
  return GroupMerge(context, 0, context.reader->inputs(), KeyForm::kRaw).run(begin);
}

FormedRuns merge_into_runs(const SortContext& context, const OutputMaker& output) {
  FormedRuns formed;
  const std::size_t fan_in = context.plan.as<InputMergePlan>().fan_in;
  for (std::size_t first = 0; first < context.reader->inputs(); first += fan_in) {
    const std::size_t last = std::min(first + fan_in, context.reader->inputs());
    io::RunWriter writer = context.store().begin_run(context.plan.elements);
    RunSink sink(writer, context.meter);
    GroupMerge merge(context, first, last, KeyForm::kOrdered);
    formed.elements += merge.run([&](bool) -> PieceSink& { return sink; });
    io::Run run = writer.finish();
    if (run.elements() > 0) formed.runs.push_back(std::move(run));
  }
  if (formed.runs.empty()) output(0);
  return formed;
}

}  // namespace

FormedRuns merge_inputs(const SortContext& context, const OutputMaker& output) {
  if (context.plan.run.count > 0) return merge_into_runs(context, output);
  return {{}, merge_into_output(context, output)};
}

}  // namespace gsort
