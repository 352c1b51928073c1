// gsort: parse, plan, run, report, exit code. The only place that exits; all code below throws.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "app/answers.hpp"
#include "app/console.hpp"
#include "app/files.hpp"
#include "app/observer.hpp"
#include "app/own_files.hpp"
#include "app/prepared_sort.hpp"
#include "app/shares.hpp"
#include "base/current_error.hpp"
#include "base/units.hpp"
#include "element/fingerprint.hpp"
#include "io/input/name_list.hpp"
#include "io/runs/resume_folder.hpp"
#include "io/system/process.hpp"
#include "io/system/sys.hpp"
#include "io/system/temporary_file.hpp"
#include "options/options.hpp"
#include "options/pages/help.hpp"
#include "pipeline/check_order.hpp"
#include "report/explain.hpp"
#include "report/style.hpp"

namespace gsort {
namespace {

// kRefuted: --check found disorder, or --expect other elements.
enum ExitCode { kDone = 0, kRefuted = 1, kTrouble = 2 };

bool output_is_in_place = false;

int check(const Options& options, const Job& job, io::Reader& reader) {
  limit_decoders_of_check(job, reader);
  Observer observer(options, note_of_types(options, job));
  const CheckOutcome outcome = check_order(job, reader, &observer.meter());
  observer.check_is_done(outcome.elements * job.element.bytes());
  return answer_check(options, job, outcome) ? kDone : kRefuted;
}

int fingerprint(const Options& options, const Job& job, io::Reader& reader) {
  limit_decoders_of_check(job, reader);
  Observer observer(options, note_of_types(options, job));
  const Fingerprint found = fingerprint_of_input(job, reader, &observer.meter());
  observer.check_is_done(found.count * job.element.bytes());
  return answer_fingerprint(options, found) ? kDone : kRefuted;
}

int sort(const Options& options, const Job& job, io::Reader& reader) {
  PreparedSort prepared(options, job, reader);
  if (options.explain != ExplainMode::kNone) {
    refuse_explaining_into_inputs(options, reader);
    put_to_stderr(note_of_types(options, job));
    print(stdout, explain(options.explain, prepared.plan(), prepared.machine()));
    return kDone;
  }
  refuse_shared_reports(options);
  const std::string note = note_of_types(options, job);
  refuse_messages_in_output(options, note);
  Observer observer(options, note);
  Outcome outcome = prepared.run(&observer.meter());
  output_is_in_place = true;
  prepared.remember_rates(outcome);
  const bool all_told =
      observer.sort_is_done({options, outcome, prepared.plan(), prepared.machine(), options.each});
  return all_told ? kDone : kTrouble;
}

const char* environment(const char* name) {
  return std::getenv(name);
}

// Reports a share or a part, unless another process had made it before.
int report_share(Observer& observer, const Options& options, const ShareDone& done) {
  if (options.explain != ExplainMode::kNone) {
    print(stdout, explain(options.explain, done.plan, done.machine));
    return kDone;
  }
  output_is_in_place = true;
  if (done.was_there) {
    observer.was_done_before({options, done.outcome, done.plan, done.machine});
    const std::string what = options.form ? "share" : "part";
    if (options.verbosity > 0) print(stderr, "gsort: the " + what + " is complete already\n");
    return kDone;
  }
  return observer.sort_is_done({options, done.outcome, done.plan, done.machine}) ? kDone : kTrouble;
}

// The request with the names of all files that are read and written; --take reads only runs.
Request request_of_share(const Options& options) {
  Request request = options;
  if (options.form) request.output = options.form;
  if (options.take) request.inputs.clear();
  const auto add_files_of = [&](const std::string& folder) {
    std::ranges::copy(io::ResumeFolder::files_of(folder), std::back_inserter(request.inputs));
  };
  std::ranges::for_each(options.from, add_files_of);
  if (options.form) add_files_of(*options.form);
  return request;
}

// Runs of a share, a part, or the join of parts.
int run_share(const Options& options) {
  if (options.join) {
    const Fingerprint joined = join(options);
    if (options.verbosity > 0) {
      print(stderr, "gsort: joined " + format_count(joined.count) + " elements, fingerprint " +
                        to_string(joined) + '\n');
    }
    return kDone;
  }
  refuse_shared_reports(request_of_share(options));
  if (options.take) {
    Observer observer(options, "");
    return report_share(observer, options, take(options, observer.meter()));
  }
  io::Reader reader(options.inputs, reader_options(options));
  const Job job = job_of(options, reader);
  if (options.explain != ExplainMode::kNone) refuse_explaining_into_inputs(options, reader);
  Observer observer(options, note_of_types(options, job));
  return report_share(observer, options, form(options, job, reader, observer.meter()));
}

// A sort or a check, as the options say.
int run_one(const Options& options) {
  const bool only_reads = options.fingerprint || options.check != CheckMode::kNone;
  if (options.files0_from && !only_reads) refuse_writing_the_list(options, *options.files0_from);
  if (options.form || options.take || options.join) return run_share(options);
  if (!only_reads) refuse_streams_in_place(options);
  io::Reader reader(options.inputs, reader_options(options));
  const Job job = job_of(options, reader);
  if (options.fingerprint) return fingerprint(options, job, reader);
  return options.check == CheckMode::kNone ? sort(options, job, reader)
                                           : check(options, job, reader);
}

// Prints the current exception, and the file that it is about.
void tell_trouble_of(const std::string& input, ColorMode color) {
  const Error error = current_error();
  const bool is_named = std::string_view(error.what()).find(input) != std::string_view::npos;
  const Error named =
      is_named ? error
               : Error(error.kind(), error.operation() + " (for " + input + ")", error.reason())
                     .path(error.path())
                     .hint(error.hint());
  print(stderr, error_text(named.what(), stderr_color(color)));
}

void require_folder(const std::string& output) {
  std::error_code problem;
  const auto type = std::filesystem::status(output, problem).type();
  if (type == std::filesystem::file_type::directory) return;
  const bool is_known = type != std::filesystem::file_type::none;
  throw Error(ErrorKind::kUsage, "--output '" + output + "'",
              is_known ? "is not a folder" : problem.message())
      .hint("with --each, -o names an existing folder; without -o, results replace the FILEs");
}

// Sorts each file separately. Returns the worst status.
int run_each(Options options) {
  const bool replaces = !options.output && options.check == CheckMode::kNone;
  if (options.output) {
    require_folder(*options.output);
    refuse_results_over_others(options);
  }
  if (replaces) refuse_files_given_twice(options);
  int worst = kDone;
  const std::vector<std::string> inputs = std::exchange(options.inputs, {});
  for (const std::string& input : inputs) {
    try {
      output_is_in_place = false;
      if (replaces) require_replaceable(input);
      worst = std::max(worst, run_one(options_of_each(options, input, environment)));
    } catch (...) {
      tell_trouble_of(input, options.color);
      worst = kTrouble;
    }
  }
  return worst;
}

// At a terminal it would wait for keys that the user does not type.
void refuse_a_bare_call(int argc) {
  if (argc != 1 || !io::sys::is_terminal(STDIN_FILENO)) return;
  throw Error(ErrorKind::kUsage, "reading standard input", "it is a terminal, and no FILE is named")
      .hint("gsort -h shows how to call gsort: gsort FILE -o OUTPUT sorts a file");
}

// `color` becomes the requested mode as soon as it is known.
int run(int argc, const char* const* argv, ColorMode& color) {
  io::take_process();
  io::remove_names_on_signals();
  refuse_a_bare_call(argc);
  Options options = parse_options(argc, argv, environment, io::read_name_list);
  color = options.color;
  if (options.show != Show::kNone) {
    print(stdout, text_of(options.show));
    return kDone;
  }
  return options.each ? run_each(std::move(options)) : run_one(options);
}

// Prints the current exception.
void tell_trouble(ColorMode color) noexcept {
  try {
    const std::string text = error_text(current_error().what(), stderr_color(color));
    std::fputs(text.c_str(), stderr);
  } catch (...) {  // no memory even for the text
    std::fputs(
        "gsort: reserving memory: out of memory\n  end other programs, or give less memory with "
        "-S\n",
        stderr);
  }
}

// For an exception that cannot be passed on: in a thread of a library, or if a library cannot
// continue. Files without names vanish with the process. If several threads call it, the first one
// prints the message.
[[noreturn]] void end_at_once() {
  if (!std::current_exception()) std::abort();
  static std::atomic_flag somebody_tells;
  if (somebody_tells.test_and_set()) {
    while (true) ::pause();
  }
  if (output_is_in_place) {
    Observer::tell_report_is_missing();
  } else {
    tell_trouble(ColorMode::kAuto);
  }
  std::_Exit(kTrouble);
}

}  // namespace
}  // namespace gsort

int main(int argc, char** argv) {
  std::set_terminate(gsort::end_at_once);
  gsort::ColorMode color = gsort::ColorMode::kAuto;
  try {
    return gsort::run(argc, argv, color);
  } catch (...) {
    gsort::tell_trouble(color);
    return gsort::kTrouble;
  }
}
