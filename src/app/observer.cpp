#include "app/observer.hpp"

#include <cstdio>
#include <new>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "app/console.hpp"
#include "app/own_files.hpp"
#include "base/error.hpp"
#include "io/system/same_file.hpp"
#include "io/system/status_signal.hpp"
#include "io/system/sys.hpp"
#include "options/assumed_type.hpp"
#include "options/suffix_warning.hpp"
#include "report/stats.hpp"
#include "report/style.hpp"
#include "report/summary.hpp"
#include "report/trace.hpp"

namespace gsort {
namespace {

constexpr unsigned kUsualColumns = 80;
constexpr const char* kInPlace =
    "the sorted output is in place; only this report could not be written";

std::optional<io::Output> open_report(const Options& options, std::string_view option,
                                      const std::optional<std::string>& path) {
  if (!path) return std::nullopt;
  refuse_shared_report(options, option, *path);
  return io::Output(*path);
}

Progress::Form form_of(const Options& options) {
  const bool rewrites = stderr_rewrites();
  switch (options.progress) {
    case ProgressMode::kNever:
      return Progress::Form::kSilent;
    case ProgressMode::kJson:
      return Progress::Form::kJson;
    case ProgressMode::kAlways:
      return rewrites ? Progress::Form::kRewritten : Progress::Form::kLines;
    case ProgressMode::kAuto:
      break;
  }
  return rewrites && options.verbosity >= 0 ? Progress::Form::kRewritten : Progress::Form::kSilent;
}

// Nothing is lost when standard error cannot be written to but the line itself.
void put_to_stderr(const std::string& text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

unsigned stderr_columns() {
  const unsigned columns = io::sys::terminal_columns(STDERR_FILENO);
  return columns > 0 ? columns : kUsualColumns;
}

void write_text(io::Output& output, std::string_view text) {
  output.write_next(std::as_bytes(std::span(text)));
}

}  // namespace

void tell_of_types(const Options& options) {
  if (options.verbosity < 0 || options.check == CheckMode::kQuiet) return;
  const std::string warning = suffix_warning(options);  // says where the type is from, too
  put_to_stderr(warning.empty() ? assumed_type_note(options) : warning);
}

Observer::Observer(const Options& options)
    : options_(options),
      stats_(open_report(options, "--stats", options.stats)),
      trace_(open_report(options, "--trace", options.trace)),
      meter_(options.trace ? Meter::Keep::kSpans : Meter::Keep::kTotals) {
  if (options.stats && options.trace &&
      (*options.stats == *options.trace || io::same_file(*options.stats, *options.trace))) {
    throw Error(ErrorKind::kUsage, fmt::format("--trace '{}'", *options.trace),
                "is also the file of --stats")
        .hint("give the report a file of its own");
  }
  tell_of_types(options);
  io::hear_status_signal();
  progress_ = std::make_unique<Progress>(
      meter_,
      Progress::Request{form_of(options), put_to_stderr, io::take_status_request, stderr_columns});
}

Observer::~Observer() = default;

void Observer::end_progress(std::uint64_t bytes) {
  const double seconds = static_cast<double>(meter_.now_ns()) * 1e-9;
  progress_.reset();
  if (options_.progress == ProgressMode::kJson) put_to_stderr(done_json(seconds, bytes) + '\n');
}

void Observer::check_is_done(const CheckOutcome& outcome) {
  end_progress(outcome.elements * element_bytes(options_));
  if (options_.check == CheckMode::kQuiet) return;
  print(outcome.in_order ? stdout : stderr,
        check_lines(outcome, options_, options_.inputs.front()));
}

bool Observer::sort_is_done(const Outcome& outcome, const Plan& plan, const Machine& machine) {
  if (!outcome.is_whole) return tell_without_memory();
  try {
    summarize(outcome, plan, machine);
  } catch (const std::bad_alloc&) {
    return tell_without_memory();
  }
  return true;
}

void Observer::summarize(const Outcome& outcome, const Plan& plan, const Machine& machine) {
  end_progress(outcome.bytes);
  try {
    write_reports(outcome, plan, machine);
  } catch (const Error& error) {
    throw Error(error).hint(kInPlace);
  }
  const bool at_terminal = io::sys::is_terminal(STDERR_FILENO);
  const std::string lines = sort_lines(outcome, plan, options_, machine, at_terminal);
  put_to_stderr(colored_summary(lines, stderr_color(options_.color)));
}

// A summary that is missing harms nobody; a report does.
bool Observer::tell_without_memory() const {
  const bool lacks_report = stats_ || trace_;
  if (lacks_report) {
    tell_report_is_missing();
  } else if (options_.verbosity >= 0) {
    std::fputs("gsort: the sorted output is in place; out of memory while reporting\n", stderr);
  }
  return !lacks_report;
}

void Observer::tell_report_is_missing() noexcept {
  std::fprintf(stderr, "gsort: reserving memory: out of memory\n  %s\n", kInPlace);
}

void Observer::write_reports(const Outcome& outcome, const Plan& plan, const Machine& machine) {
  if (stats_) {
    const std::string text = stats_json(outcome, plan, options_, machine);
    write_text(*stats_, text);
    stats_->commit(text.size());
  }
  if (trace_) {
    const std::vector<TrackRecord> tracks = meter_.tracks();
    std::uint64_t written = 0;
    write_trace({outcome.phases, tracks, meter_.lost_spans(), "gsort"}, [&](std::string_view text) {
      write_text(*trace_, text);
      written += text.size();
    });
    trace_->commit(written);
  }
}

}  // namespace gsort
