// gsort.h: words become Options, Outcomes become reports, exceptions become statuses.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/files.hpp"
#include "base/current_error.hpp"
#include "base/quoted.hpp"
#include "element/record_text.hpp"
#include "library/gsort.h"
#include "library/run_sort.hpp"
#include "options/assumed_type.hpp"
#include "pipeline/check_order.hpp"
#include "pipeline/survey.hpp"

namespace gsort {
namespace {

static_assert(GSORT_ERROR_USAGE == static_cast<int>(ErrorKind::kUsage) + 1 &&
              GSORT_ERROR_CORRUPT == static_cast<int>(ErrorKind::kCorrupt) + 1);

// What a thread's latest call has to say. The texts are `kept`, or literals where memory ran out.
struct LastError {
  gsort_error_kind kind = GSORT_ERROR_NONE;
  int number = 0;
  const char* message = "";
  const char* hint = "";
  std::string kept_message;
  std::string kept_hint;
};

thread_local LastError last_error;

void forget_error() noexcept {
  last_error.kind = GSORT_ERROR_NONE;
  last_error.number = 0;
  last_error.message = "";
  last_error.hint = "";
}

void keep_texts(std::string message, std::string hint) noexcept {
  last_error.kept_message = std::move(message);
  last_error.kept_hint = std::move(hint);
  last_error.message = last_error.kept_message.c_str();
  last_error.hint = last_error.kept_hint.c_str();
}

void keep(const Error& error) {
  const std::string text = error.what();  // the hint is its second line
  keep_texts(text.substr(0, text.find('\n')), printable(error.hint()));
  last_error.kind = static_cast<gsort_error_kind>(static_cast<int>(error.kind()) + 1);
  last_error.number = error.error_number();
}

// Keeps what is being handled.
void keep_current_error() noexcept {
  try {
    keep(current_error());
  } catch (...) {  // no memory even for the text
    last_error.kind = GSORT_ERROR_RESOURCE;
    last_error.number = ENOMEM;
    last_error.message = "reserving memory: out of memory";
    last_error.hint = "end other programs, or give less memory with -S";
  }
}

Error wrong_call(const char* what, const char* hint) {
  return Error(ErrorKind::kUsage, "calling gsort", what).hint(hint);
}

// As many bytes as the caller knows of.
void fill(gsort_report* report, const gsort_report& done) noexcept {
  if (report == nullptr) return;
  constexpr std::size_t kBegin = sizeof report->size;
  const std::size_t end = std::min(report->size, sizeof done);
  std::memcpy(reinterpret_cast<char*>(report) + kBegin,
              reinterpret_cast<const char*>(&done) + kBegin, end - kBegin);
}

void require_size(const gsort_report* report) {
  if (report == nullptr || report->size >= sizeof report->size) return;
  throw wrong_call("the report has no size", "set report.size to sizeof(gsort_report)");
}

// Runs one call of a caller in C: `work` fills a report and returns the status.
template <class Work>
gsort_status guarded(gsort_report* report, const Work& work) noexcept {
  forget_error();
  try {
    require_size(report);
    fill(report, {});
    gsort_report done{};
    const gsort_status status = work(done);
    fill(report, done);
    return status;
  } catch (...) {
    keep_current_error();
    return GSORT_ERROR;
  }
}

struct Files {
  const char* const* inputs;
  std::size_t count;
  const char* output;  // nullptr: none
};

void require_inputs(const Files& files) {
  const auto* const end = files.inputs + (files.inputs == nullptr ? 0 : files.count);
  if (files.inputs == end) throw wrong_call("no input is given", "name at least one file");
  if (std::find(files.inputs, end, nullptr) != end) {
    throw wrong_call("the name of an input is NULL", "is `count` the number of inputs?");
  }
}

// What the words mean as a command line; the environment has no say.
Options parsed(const char* mode, const Files& files, const char* const* words) {
  require_inputs(files);
  std::vector<const char*> arguments = {"gsort"};
  if (mode != nullptr) arguments.push_back(mode);
  for (; words != nullptr && *words != nullptr; ++words) arguments.push_back(*words);
  std::string output;
  if (files.output != nullptr) {
    output = std::string("--output=") + files.output;
    arguments.push_back(output.c_str());
  }
  arguments.push_back("--");
  arguments.insert(arguments.end(), files.inputs, files.inputs + files.count);
  if (!std::in_range<int>(arguments.size())) {
    throw wrong_call("too many inputs", "merge them in several calls");
  }
  Options options = parse_options(static_cast<int>(arguments.size()), arguments.data(),
                                  [](const char*) -> const char* { return nullptr; });
  if (options.show == Show::kNone && options.inputs.size() != files.count) {
    throw wrong_call("the options hold a name of a file", "give names as inputs or as output");
  }
  return options;
}

void set_fingerprint(gsort_report& report, const Fingerprint& fingerprint) {
  const std::string text = to_string(fingerprint);
  static_assert(sizeof report.fingerprint > 3 * 16 + 2);
  text.copy(report.fingerprint, sizeof report.fingerprint - 1);
}

bool asks_for_more(const Options& options) {
  return options.show != Show::kNone || options.explain != ExplainMode::kNone || options.each;
}

gsort_status sort(const char* mode, const Files& files, const char* const* words,
                  gsort_report& report) {
  if (files.output == nullptr) throw wrong_call("no output is given", "name a file");
  const Options options = parsed(mode, files, words);
  if (asks_for_more(options) || options.check != CheckMode::kNone || options.fingerprint ||
      options.stats || options.trace) {
    throw wrong_call("the options ask for more than a sort",
                     "leave out --check, --each, --fingerprint, --explain, --stats, --trace, and "
                     "what prints a text, as --help does");
  }
  const Outcome outcome = run_sort(options, AssumedType::kRefused);
  report.elements = outcome.elements;
  report.bytes = outcome.bytes;
  report.output_elements = outcome.output_elements;
  report.runs = outcome.runs;
  report.spilled_bytes = outcome.spilled_bytes;
  report.seconds = outcome.total_seconds;
  report.verified = outcome.verified ? 1 : 0;
  if (outcome.verified) set_fingerprint(report, outcome.fingerprint);
  return GSORT_DONE;
}

void require_a_check(const Options& options) {
  if (!asks_for_more(options)) return;
  throw wrong_call("the options ask for more than a check",
                   "leave out --each, --explain, and what prints a text, as --help does");
}

// Why the file is not as it should be; empty if it is.
std::string refutation(const Options& options, const Job& job, const CheckOutcome& found) {
  if (!found.in_order) {
    return disorder_words(job.element, job.unique, found.disorder_element, found.value,
                          found.value_before);
  }
  const std::string fingerprint = to_string(found.fingerprint);
  if (!options.expected || fingerprint == *options.expected) return {};
  return fmt::format("has fingerprint {}, expected {}", fingerprint, *options.expected);
}

gsort_status check(const char* input, const char* const* words, gsort_report& report) {
  const Options options = parsed("-c", {&input, 1, nullptr}, words);
  require_a_check(options);
  io::Reader reader(options.inputs, reader_options(options));
  const Job job = job_of(options, reader);
  require_known_type(options, job);
  limit_decoders_of_check(options, reader);
  const CheckOutcome found =
      check_order(job.element, wanted_order(job), reader, cores_for(options.parallel));
  report.elements = found.elements;
  report.bytes = found.elements * job.element.bytes();
  report.disorder_element = found.disorder_element;
  if (found.in_order) set_fingerprint(report, found.fingerprint);
  const std::string refuted = refutation(options, job, found);
  if (refuted.empty()) return GSORT_DONE;
  keep_texts(fmt::format("{}: {}", printable(input), refuted), {});
  return GSORT_REFUTED;
}

}  // namespace
}  // namespace gsort

gsort_status gsort_sort(const char* const* inputs, size_t count, const char* output,
                        const char* const* options, gsort_report* report) {
  return gsort::guarded(report, [&](gsort_report& done) {
    return gsort::sort(nullptr, {inputs, count, output}, options, done);
  });
}

gsort_status gsort_merge(const char* const* inputs, size_t count, const char* output,
                         const char* const* options, gsort_report* report) {
  return gsort::guarded(report, [&](gsort_report& done) {
    return gsort::sort("-m", {inputs, count, output}, options, done);
  });
}

gsort_status gsort_check(const char* input, const char* const* options, gsort_report* report) {
  return gsort::guarded(report,
                        [&](gsort_report& done) { return gsort::check(input, options, done); });
}

gsort_error_kind gsort_last_error() {
  return gsort::last_error.kind;
}
const char* gsort_error_message() {
  return gsort::last_error.message;
}
const char* gsort_error_hint() {
  return gsort::last_error.hint;
}
int gsort_error_number() {
  return gsort::last_error.number;
}
const char* gsort_version() {
  return GSORT_VERSION;
}
