// Observer: what the user sees of a job besides its result. It holds the meter, shows the progress
// while the job runs, and in the end prints the summary and writes the files of --stats and
// --trace.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/meter.hpp"
#include "io/output/output.hpp"
#include "options/request.hpp"
#include "plan/machine.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"
#include "report/progress.hpp"
#include "report/trace.hpp"

namespace gsort {

// Ignores errors: if standard error cannot be written, only the text is lost.
void put_to_stderr(const std::string& text);

// The hint if a report is missing.
inline constexpr const char* kInPlace =
    "the sorted output is in place; only this report could not be written";

// Writes all of a report: `all` hands over its text. Throws: Error with that hint.
void write_report(io::Output& report, const std::function<void(const WriteText& write)>& all);

// How progress is shown on standard error; kSilent if it is not shown.
[[nodiscard]] Progress::Request progress_request(const Reporting& reporting);

// The data of a report on a sort.
struct SortReport {
  const FileNames& names;
  const Outcome& outcome;
  const Plan& plan;
  const Machine& machine;
  bool is_one_of_several = false;  // each sort is of one file, which the lines name
};

class Observer {
 public:
  // Opens the files of the reports, so that errors are known before the sort, prints `note`, and
  // begins to show progress. `reporting` outlives it. Throws: Error(kOutput) if a report cannot be
  // opened.
  Observer(const Reporting& reporting, const std::string& note);
  ~Observer();  // wipes the status line
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  [[nodiscard]] Meter& meter() { return meter_; }

  // Call it when the check of this many bytes is done.
  void check_is_done(std::uint64_t bytes) { end_progress(bytes); }

  // Call it when the sort is done and its output in place. Returns false, after a message, if a
  // report is missing because memory has run out. Throws: Error(kOutput) if a report cannot be
  // written; it says that the output is in place.
  [[nodiscard]] bool sort_is_done(const SortReport& report);

  // Call it if an earlier process has completed the sort: writes the reports, without a summary.
  // Throws: as sort_is_done().
  void was_done_before(const SortReport& report);

  // Used when memory does not even suffice to handle an exception. Takes no memory.
  static void tell_report_is_missing() noexcept;

 private:
  void end_progress(std::uint64_t bytes);
  void summarize(const SortReport& report);
  [[nodiscard]] bool tell_without_memory() const;
  void write_reports(const SortReport& report);

  const Reporting& reporting_;
  std::optional<io::Output> stats_;
  std::optional<io::Output> trace_;
  Meter meter_;
  std::unique_ptr<Progress> progress_;
};

}  // namespace gsort
