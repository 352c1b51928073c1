// --trace: the work of every thread over time, in Chrome's trace-event format, which
// ui.perfetto.dev opens and gsort-plot draws. There is one track for each thread; spans have the
// names of their stages, and their bytes and device as arguments; waits have a category of their
// own; phases have a track of their own. Times are in microseconds.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/meter.hpp"

namespace gsort {

struct TraceRequest {
  std::span<const PhaseRecord> phases;
  std::span<const TrackRecord> tracks;
  std::uint64_t lost_spans = 0;
  std::string process;  // the name of the process in the trace
  unsigned number = 1;  // of the process, from 1 on
};

// All hand the text to `write` in parts of moderate size: a trace may be larger than memory allows.
using WriteText = std::function<void(std::string_view)>;
void write_trace(const TraceRequest& request, const WriteText& write);

// These functions write a trace of several processes: the events of each process, in the order of
// their numbers. The lost spans are those of all processes.
void begin_trace(std::uint64_t lost_spans, const WriteText& write);
void write_trace_events(const TraceRequest& request, const WriteText& write);
void end_trace(const WriteText& write);

// "read, partition": the stages in which a track has spent most of its time.
[[nodiscard]] std::string track_name(const TrackRecord& track);

}  // namespace gsort
