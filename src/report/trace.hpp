// --trace: what every thread did when, in Chrome's trace-event format, which ui.perfetto.dev opens
// and tools/trace_plot draws. One track a thread, spans named after their stages with their bytes
// and their device as arguments, waits apart by their category; phases have a track of their own.
// Times are microseconds.
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
  std::string process;  // what the process is called in the trace
};

// Hands the text to `write` in parts of moderate size: a trace may be larger than memory allows.
void write_trace(const TraceRequest& request, const std::function<void(std::string_view)>& write);

// "read, partition": the stages in which a track has spent most of its time.
[[nodiscard]] std::string track_name(const TrackRecord& track);

}  // namespace gsort
