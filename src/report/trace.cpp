#include "report/trace.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gsort {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 16;
constexpr unsigned kPhaseTrack = 0;  // threads follow

// Collects events as a JSON array, and passes full pieces on.
class EventWriter {
 public:
  EventWriter(const TraceRequest& request, const WriteText& write)
      : process_(request.number), is_first_(request.number == 1), write_(write) {}

  [[nodiscard]] unsigned process() const { return process_; }

  void event(const std::string& object) {
    text_ += is_first_ ? "\n" : ",\n";
    is_first_ = false;
    text_ += object;
    if (text_.size() >= kPieceBytes) flush();
  }

  void flush() {
    write_(text_);
    text_.clear();
  }

 private:
  const unsigned process_;
  bool is_first_;
  const WriteText& write_;
  std::string text_;
};

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string naming_event(std::string_view what, unsigned process, unsigned track,
                         const std::string& name) {
  return fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})", process,
                     track, what, quoted(name));
}

// Names and categories are words of our own: nothing in them needs quoting.
std::string span_event(std::string_view name, std::string_view category, unsigned process,
                       unsigned track, std::uint64_t begin_ns, std::uint64_t end_ns,
                       std::uint64_t bytes, const std::string& device = "") {
  return fmt::format(
      R"({{"ph":"X","pid":{},"tid":{},"name":"{}","cat":"{}","ts":{}.{:03},"dur":{}.{:03},)"
      R"("args":{{"bytes":{}{}}}}})",
      process, track, name, category, begin_ns / 1000, begin_ns % 1000, (end_ns - begin_ns) / 1000,
      (end_ns - begin_ns) % 1000, bytes, device);
}

std::string device_argument(const SpanRecord& span) {
  return span.device < 0 ? "" : fmt::format(R"(,"device":{})", span.device);
}

void write_track(EventWriter& writer, unsigned number, const TrackRecord& track) {
  writer.event(naming_event("thread_name", writer.process(), number, track_name(track)));
  // Outer spans end after those inside them, but begin before: viewers want them by beginning.
  std::vector<const SpanRecord*> spans;
  for (const SpanRecord& span : track) spans.push_back(&span);
  std::ranges::sort(spans, [](const SpanRecord* a, const SpanRecord* b) {
    return a->begin_ns != b->begin_ns ? a->begin_ns < b->begin_ns : a->end_ns > b->end_ns;
  });
  for (const SpanRecord* const span : spans) {
    const std::string_view stage = name_of(span->stage);
    const std::string device = device_argument(*span);
    writer.event(span_event(span->is_wait ? fmt::format("{} waits", stage) : std::string(stage),
                            span->is_wait ? "wait" : "stage", writer.process(), number,
                            span->begin_ns, span->end_ns, span->bytes, device));
  }
}

// The time that a track has spent in each stage, without waits and inner spans.
ByStage<std::uint64_t> stage_times(const TrackRecord& track) {
  ByStage<std::uint64_t> times{};
  std::vector<const SpanRecord*> outermost;  // of those so far
  for (const SpanRecord& span : track) {
    std::uint64_t own_ns = span.end_ns - span.begin_ns;
    for (; !outermost.empty() && outermost.back()->begin_ns >= span.begin_ns;
         outermost.pop_back()) {
      own_ns -= outermost.back()->end_ns - outermost.back()->begin_ns;
    }
    if (!span.is_wait) times[span.stage] += own_ns;
    outermost.push_back(&span);
  }
  return times;
}

}  // namespace

std::string track_name(const TrackRecord& track) {
  constexpr std::size_t kMostNames = 3;
  const ByStage<std::uint64_t> times = stage_times(track);
  std::vector<std::size_t> stages;
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    if (times[stage] > 0) stages.push_back(stage);
  }
  std::ranges::stable_sort(stages,
                           [&](std::size_t a, std::size_t b) { return times[a] > times[b]; });
  stages.resize(std::min(stages.size(), kMostNames));
  std::ranges::sort(stages);
  std::vector<std::string_view> names(stages.size());
  std::ranges::transform(stages, names.begin(),
                         [](std::size_t stage) { return name_of(static_cast<Stage>(stage)); });
  return names.empty() ? "waiting" : fmt::format("{}", fmt::join(names, ", "));
}

void begin_trace(std::uint64_t lost_spans, const WriteText& write) {
  write(fmt::format(R"({{"displayTimeUnit":"ms","otherData":{{"lost_spans":{}}},"traceEvents":[)",
                    lost_spans));
}

void write_trace_events(const TraceRequest& request, const WriteText& write) {
  EventWriter writer(request, write);
  writer.event(naming_event("process_name", request.number, kPhaseTrack, request.process));
  writer.event(naming_event("thread_name", request.number, kPhaseTrack, "phases"));
  for (const PhaseRecord& phase : request.phases) {
    writer.event(span_event(name_of(phase.phase), "phase", request.number, kPhaseTrack,
                            phase.begin_ns, phase.end_ns, phase.total_bytes));
  }
  unsigned number = kPhaseTrack;
  for (const TrackRecord& track : request.tracks) write_track(writer, ++number, track);
  writer.flush();
}

void end_trace(const WriteText& write) {
  write("\n]}\n");
}

void write_trace(const TraceRequest& request, const WriteText& write) {
  begin_trace(request.lost_spans, write);
  write_trace_events(request, write);
  end_trace(write);
}

}  // namespace gsort
