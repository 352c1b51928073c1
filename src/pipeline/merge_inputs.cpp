#include "pipeline/merge_inputs.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "base/failure.hpp"
#include "base/handoff.hpp"
#include "base/key_loops.hpp"
#include "base/parallel.hpp"
#include "base/thread.hpp"
#include "base/units.hpp"
#include "pipeline/sinks.hpp"
#include "pipeline/sorted_input.hpp"

namespace gsort {
namespace {

// The stretch of one input that is in memory, as ordered keys.
template <class Key>
class Window {
 public:
  Window(const SortedInput& input, KeyMap<Key> map, std::span<Key> room)
      : input_(input), map_(map), room_(room) {}

  // Reads on where half of the room is free.
  void fill() {
    if (ended_ || end_ - begin_ > room_.size() / 2) return;
    std::memmove(room_.data(), room_.data() + begin_, (end_ - begin_) * sizeof(Key));
    end_ -= begin_;
    begin_ = 0;
    while (!ended_ && (room_.size() - end_) * sizeof(Key) >= SortedInput::kLeastRead) {
      const std::span<Key> free = room_.subspan(end_);
      const std::span<Key> read =
          free.first(input_.read(std::as_writable_bytes(free)) / sizeof(Key));
      map_to_ordered<Key>(read, read, map_);
      end_ += read.size();
      ended_ = read.empty();
    }
  }

  [[nodiscard]] std::span<const Key> keys() const { return room_.subspan(begin_, end_ - begin_); }
  [[nodiscard]] bool ended() const { return ended_; }
  void drop(std::size_t keys) { begin_ += keys; }

 private:
  SortedInput input_;
  KeyMap<Key> map_;
  std::span<Key> room_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
};

// A part in a lane's input, ready to be merged.
struct FilledLane {
  std::size_t lane = 0;
  std::uint64_t position = 0;
  std::vector<std::uint64_t> counts;
};

// One merge of the inputs [first, last).
template <class Key>
class GroupMerge {
 public:
  GroupMerge(const InputMergeContext& context, std::size_t first, std::size_t last, KeyForm form)
      : context_(context),
        sizes_(context.plan.input_merge),
        form_(form),
        lanes_(context.engine.make_merge_lanes(sizes_.lanes, sizes_.part_elements)) {
    windows_.reserve(last - first);
    const auto map = KeyMap<Key>::of(context.plan.format);
    for (std::size_t input = first; input < last; ++input) {
      const SortedInput sorted(context.reader, input, context.plan.format, context.proof,
                               context.meter);
      windows_.emplace_back(sorted, map, take_room());
    }
  }

  // `begin` is called when the first keys have been read, with whether there are any.
  template <class Begin>
  std::uint64_t run(const Begin& begin) {
    fill_windows();
    PieceSink& sink = begin(anything_left());
    std::vector<std::jthread> mergers;
    try {
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        free_.push(lane);
        mergers.push_back(
            start_thread("merging", [this, &sink, lane] { merge_all(sink, staging_of(lane)); }));
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
  std::span<Key> take_room() {
    const ByteSpan room = take(sizes_.window_elements * sizeof(Key));
    return {reinterpret_cast<Key*>(room.data()), sizes_.window_elements};
  }
  ByteSpan staging_of(std::size_t lane) {
    const std::uint64_t bytes = form_ == KeyForm::kRaw ? sizes_.staging_bytes : 0;
    return staging_.subspan(lane * bytes, bytes);
  }

  void fill_windows() {
    std::atomic<std::size_t> next{0};
    const auto workers = std::min<std::size_t>(context_.plan.threads, windows_.size());
    run_workers(static_cast<unsigned>(workers), [&](unsigned) {
      for (std::size_t i = next++; i < windows_.size(); i = next++) windows_[i].fill();
    });
  }

  [[nodiscard]] bool anything_left() const {
    return std::ranges::any_of(windows_, [](const auto& window) { return !window.keys().empty(); });
  }

  void hand_out_all() {
    while (anything_left() && !failure_.failed()) {
      const std::optional<std::size_t> lane = free_.pop();
      if (!lane) return;  // a merger has failed
      hand_out(*lane);
      fill_windows();
    }
  }

  // Cuts all windows at the bound and gives the slices to the lane.
  void hand_out(std::size_t lane) {
    const std::optional<Key> bound = least_last_key();
    FilledLane part{lane, position_, {}};
    std::byte* to = lanes_[lane]->input().data();
    for (Window<Key>& window : windows_) {
      const std::span<const Key> keys = window.keys();
      const auto end = bound ? std::ranges::upper_bound(keys, *bound) : keys.end();
      const auto slice = keys.first(static_cast<std::size_t>(end - keys.begin()));
      if (!slice.empty()) std::memcpy(to, slice.data(), slice.size_bytes());
      to += slice.size_bytes();
      part.counts.push_back(slice.size());
      position_ += slice.size();
      window.drop(slice.size());
    }
    filled_.push(std::move(part));
  }

  // Of the inputs that go on; nothing if none does.
  [[nodiscard]] std::optional<Key> least_last_key() const {
    std::optional<Key> least;
    for (const Window<Key>& window : windows_) {
      if (window.ended()) continue;
      least = std::min(least.value_or(window.keys().back()), window.keys().back());
    }
    return least;
  }

  void merge_all(PieceSink& sink, ByteSpan staging_memory) {
    try {
      std::optional<StagingSink> staging;
      if (!staging_memory.empty()) staging.emplace(staging_memory, sizeof(Key), sink);
      while (const auto part = filled_.pop()) {
        if (failure_.failed()) break;
        if (staging) staging->begin(part->position);
        {
          Span span(context_.meter, Stage::kMerge);
          for (const std::uint64_t count : part->counts) span.add_bytes(count * sizeof(Key));
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

  const InputMergeContext& context_;
  const InputMergePlan& sizes_;
  KeyForm form_;
  std::vector<std::unique_ptr<MergeLane>> lanes_;
  ByteSpan rest_ = context_.memory;
  ByteSpan staging_ =
      form_ == KeyForm::kRaw ? take(sizes_.lanes * sizes_.staging_bytes) : ByteSpan();
  std::vector<Window<Key>> windows_;
  std::uint64_t position_ = 0;
  Handoff<std::size_t> free_;
  Handoff<FilledLane> filled_;
  Failure failure_;
};

template <class Key>
std::uint64_t merge_into_output(const InputMergeContext& context, const OutputMaker& output) {
  const auto begin = [&](bool anything) -> PieceSink& {
    const auto size = context.reader.known_size();
    if (!anything) return output(0);
    return output(size ? std::optional(*size / sizeof(Key)) : std::nullopt);
  };
  return GroupMerge<Key>(context, 0, context.reader.inputs(), KeyForm::kRaw).run(begin);
}

template <class Key>
FormedRuns merge_into_runs(const InputMergeContext& context, const RunStoreMaker& run_store,
                           const OutputMaker& output) {
  FormedRuns formed;
  const std::size_t fan_in = context.plan.input_merge.fan_in;
  for (std::size_t first = 0; first < context.reader.inputs(); first += fan_in) {
    const std::size_t last = std::min(first + fan_in, context.reader.inputs());
    io::RunWriter writer = run_store().begin_run(context.plan.elements);
    RunSink sink(writer, context.meter);
    GroupMerge<Key> merge(context, first, last, KeyForm::kOrdered);
    formed.elements += merge.run([&](bool) -> PieceSink& { return sink; });
    io::Run run = writer.finish();
    if (run.elements() > 0) formed.runs.push_back(std::move(run));
  }
  if (formed.runs.empty()) output(0);
  return formed;
}

template <class Key>
FormedRuns merge_all_inputs(const InputMergeContext& context, const RunStoreMaker& run_store,
                            const OutputMaker& output) {
  if (context.plan.run_count > 0) return merge_into_runs<Key>(context, run_store, output);
  return {{}, merge_into_output<Key>(context, output)};
}

}  // namespace

FormedRuns merge_inputs(const InputMergeContext& context, const RunStoreMaker& run_store,
                        const OutputMaker& output) {
  return context.plan.key_bytes == 4 ? merge_all_inputs<std::uint32_t>(context, run_store, output)
                                     : merge_all_inputs<std::uint64_t>(context, run_store, output);
}

}  // namespace gsort
