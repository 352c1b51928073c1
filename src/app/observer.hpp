// Observer: what the user sees of a job besides its result. It holds the meter, shows the progress
// while the job runs, and in the end prints the summary and writes the files of --stats and
// --trace.
#pragma once

#include <memory>
#include <optional>

#include "base/meter.hpp"
#include "io/output/output.hpp"
#include "options/options.hpp"
#include "plan/machine.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"
#include "report/progress.hpp"

namespace gsort {

// Says what the keys are read as where that may not be what they are; not with -q and -C.
// Requires: what the headers of the inputs say is part of the options.
void tell_of_types(const Options& options);

class Observer {
 public:
  // Opens the files of the reports, so that what is wrong with them is known before anything is
  // sorted, tells of types, and begins to show progress.
  // Throws: Error(kUsage) when one of them is an input, the output, of the folder of --resume, or
  // the other one; Error(kOutput) when one cannot be opened.
  explicit Observer(const Options& options);
  ~Observer();  // wipes the status line
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  [[nodiscard]] Meter& meter() { return meter_; }

  // The check is done; prints what it found, unless -C keeps that quiet.
  void check_is_done(const CheckOutcome& outcome);

  // The sort is done and its output in place. Returns false if memory has run out and a report is
  // missing for it; that is told then.
  // Throws: Error(kOutput) when a report cannot be written; it says that the output is in place.
  [[nodiscard]] bool sort_is_done(const Outcome& outcome, const Plan& plan, const Machine& machine);

  // For when not even an exception can be handled any more. Takes no memory.
  static void tell_report_is_missing() noexcept;

 private:
  void end_progress(std::uint64_t bytes);
  void summarize(const Outcome& outcome, const Plan& plan, const Machine& machine);
  [[nodiscard]] bool tell_without_memory() const;
  void write_reports(const Outcome& outcome, const Plan& plan, const Machine& machine);

  const Options& options_;
  std::optional<io::Output> stats_;
  std::optional<io::Output> trace_;
  Meter meter_;
  std::unique_ptr<Progress> progress_;
};

}  // namespace gsort
