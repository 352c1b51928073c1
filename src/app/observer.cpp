#include "app/observer.hpp"

#include <cstdio>
#include <new>
#include <string>
#include <string_view>

#include <unistd.h>

#include "app/console.hpp"
#include "base/error.hpp"
#include "io/system/status_signal.hpp"
#include "io/system/sys.hpp"
#include "report/stats.hpp"
#include "report/style.hpp"
#include "report/summary.hpp"
#include "report/words.hpp"

namespace gsort {
namespace {

constexpr unsigned kUsualColumns = 80;

std::optional<io::Output> open_report(const std::optional<std::string>& path) {
  if (!path) return std::nullopt;
  return io::Output(*path, {.is_report = true});
}

Progress::Form form_of(const Reporting& reporting) {
  const bool rewrites = stderr_rewrites();
  using Form = Progress::Form;
  if (reporting.progress == ProgressMode::kNever) return Form::kSilent;
  if (reporting.progress == ProgressMode::kJson) return Form::kJson;
  if (reporting.progress == ProgressMode::kAlways)
    return rewrites ? Form::kRewritten : Form::kLines;
  return rewrites && reporting.verbosity >= 0 ? Form::kRewritten : Form::kSilent;
}

unsigned stderr_columns() {
  const unsigned columns = io::sys::terminal_columns(STDERR_FILENO);
  return columns > 0 ? columns : kUsualColumns;
}

}  // namespace

void put_to_stderr(const std::string& text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

void write_report(io::Output& report, const std::function<void(const WriteText& write)>& all) try {
  std::uint64_t written = 0;
  all([&](std::string_view text) {
    report.write_next(std::as_bytes(std::span(text)));
    written += text.size();
  });
  report.commit(written);
} catch (const Error& error) {
  throw Error(error).hint(kInPlace);
}

Progress::Request progress_request(const Reporting& reporting) {
  return {form_of(reporting), put_to_stderr, io::take_status_request, stderr_columns};
}

Observer::Observer(const Reporting& reporting, const std::string& note)
    : reporting_(reporting),
      stats_(open_report(reporting.stats)),
      trace_(open_report(reporting.trace)),
      meter_(reporting.trace ? Meter::Keep::kSpans : Meter::Keep::kTotals) {
  put_to_stderr(note);
  io::hear_status_signal();
  progress_ = std::make_unique<Progress>(meter_, progress_request(reporting));
}

Observer::~Observer() = default;

void Observer::end_progress(std::uint64_t bytes) {
  progress_->done(bytes);
  progress_.reset();
}

bool Observer::sort_is_done(const SortReport& report) {
  if (!report.outcome.is_whole) return tell_without_memory();
  try {
    summarize(report);
  } catch (const std::bad_alloc&) {
    return tell_without_memory();
  }
  return true;
}

void Observer::was_done_before(const SortReport& report) {
  end_progress(0);
  write_reports(report);
}

void Observer::summarize(const SortReport& report) {
  end_progress(report.outcome.bytes);
  write_reports(report);
  const bool at_terminal = io::sys::is_terminal(STDERR_FILENO);
  std::string lines = sort_lines(report.outcome, report.plan, reporting_.verbosity, at_terminal);
  if (reporting_.verbosity > 0) lines.insert(0, memory_files_line(report.plan, report.machine));
  if (report.is_one_of_several) lines = lines_about(report.names.inputs.front(), lines);
  put_to_stderr(colored_summary(lines, stderr_color(reporting_.color)));
}

// A missing summary does no harm; a missing report does.
bool Observer::tell_without_memory() const {
  const bool lacks_report = stats_ || trace_;
  if (lacks_report) {
    tell_report_is_missing();
  } else if (reporting_.verbosity >= 0) {
    std::fputs("gsort: reporting: out of memory\n  the sorted output is in place\n", stderr);
  }
  return !lacks_report;
}

void Observer::tell_report_is_missing() noexcept {
  std::fprintf(stderr, "gsort: reserving memory: out of memory\n  %s\n", kInPlace);
}

void Observer::write_reports(const SortReport& report) {
  if (stats_) {
    write_report(*stats_, [&](const WriteText& write) {
      write(stats_json(report.outcome, report.plan, report.names, report.machine));
    });
  }
  if (!trace_) return;
  write_report(*trace_, [&](const WriteText& write) {
    const std::vector<TrackRecord> tracks = meter_.tracks();
    const std::string devices = device_words(report.plan);
    write_trace({report.outcome.phases, tracks, meter_.lost_spans(),
                 devices.empty() ? "gsort" : "gsort, " + devices},
                write);
  });
}

}  // namespace gsort
