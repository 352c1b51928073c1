// gsort.h: words become Options, Outcomes become reports, exceptions become statuses.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/files.hpp"
#include "base/current_error.hpp"
#include "base/made_once.hpp"
#include "base/quoted.hpp"
#include "element/record_text.hpp"
#include "io/system/process.hpp"
#include "library/gsort.h"
#include "library/run_sort.hpp"
#include "options/caller_options.hpp"
#include "pipeline/check_order.hpp"

namespace gsort {
namespace {

static_assert(GSORT_ERROR_USAGE == static_cast<int>(ErrorKind::kUsage) + 1 &&
              GSORT_ERROR_CORRUPT == static_cast<int>(ErrorKind::kCorrupt) + 1);

// The result of a thread's latest call. The texts are the thread's, or literals if memory ran
// out. It has no destructor: destructors of the host program may still call.
struct LastError {
  gsort_error_kind kind = GSORT_ERROR_NONE;
  int number = 0;
  const char* message = "";
  const char* hint = "";
};

constinit thread_local LastError last_error;

void forget_error() noexcept {
  last_error = {};
}

struct Texts {
  std::string message;
  std::string hint;

  Texts() = default;
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;
  ~Texts() { forget_error(); }
};

const ThreadOwned<Texts> kTexts;

void keep_texts(std::string message, std::string hint) {
  Texts& texts = kTexts.own();
  texts.message = std::move(message);
  texts.hint = std::move(hint);
  last_error.message = texts.message.c_str();
  last_error.hint = texts.hint.c_str();
}

void keep(const Error& error) {
  const std::string text = error.what();  // the hint is its second line
  keep_texts(text.substr(0, text.find('\n')), printable(error.hint()));
  last_error.kind = static_cast<gsort_error_kind>(static_cast<int>(error.kind()) + 1);
  last_error.number = error.error_number();
}

// Keeps the current exception.
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
  const io::DefaultFloats floats;
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

std::vector<std::string> names_of(const char* const* inputs, std::size_t count) {
  const auto* const end = inputs + (inputs == nullptr ? 0 : count);
  if (inputs == end) throw wrong_call("no input is given", "name at least one file");
  if (std::find(inputs, end, nullptr) != end) {
    throw wrong_call("the name of an input is NULL", "is `count` the number of inputs?");
  }
  return {inputs, end};
}

std::vector<std::string> words_of(const char* const* options) {
  std::vector<std::string> words;
  for (; options != nullptr && *options != nullptr; ++options) words.emplace_back(*options);
  return words;
}

// Options that a call sets itself, or that only the program has. A check accepts the first three.
constexpr std::string_view kNoOptions[] = {
    "--check", "-C",      "--expect", "--fingerprint", "--output",  "--files0-from", "--each",
    "--form",  "--share", "--take",   "--from",        "--join",    "--inputs-here", "--explain",
    "--stats", "--trace", "-h",       "--help",        "--version", "--generate"};
constexpr std::span kNoOptionsOfASort(kNoOptions);
constexpr std::span kNoOptionsOfACheck = kNoOptionsOfASort.subspan(3);

// Without memory the fingerprint stays unknown; the rest of the call is done.
void set_fingerprint(gsort_report& report, const Fingerprint& fingerprint) noexcept {
  try {
    const std::string text = to_string(fingerprint);
    static_assert(sizeof report.fingerprint > 3 * 16 + 2);
    text.copy(report.fingerprint, sizeof report.fingerprint - 1);
  } catch (const std::bad_alloc&) {
  }
}

gsort_status sort(const CallOfWords& call, const char* const* words, gsort_report& report) {
  const Options options = options_of_call(call, words_of(words));
  const Outcome outcome = run_sort(options, AssumedType::kRefused);
  copy_statistics(outcome, report);
  report.verified = outcome.verified ? 1 : 0;
  if (outcome.verified) set_fingerprint(report, outcome.fingerprint);
  return GSORT_DONE;
}

// The reason why the file is not as it should be; empty if it is.
std::string refutation(const Options& options, const Job& job, const CheckOutcome& found) {
  if (!found.in_order) {
    return disorder_words(job.element, job.is_distinct(), found.disorder_element, found.value,
                          found.value_before);
  }
  const std::string fingerprint = to_string(found.fingerprint);
  if (!options.expected || fingerprint == *options.expected) return {};
  return fmt::format("has fingerprint {}, expected {}", fingerprint, *options.expected);
}

gsort_status check(const char* input, const char* const* words, gsort_report& report) {
  const CallOfWords call{
      .inputs = names_of(&input, 1), .check = CheckMode::kReport, .refused = kNoOptionsOfACheck};
  const Options options = options_of_call(call, words_of(words));
  io::Reader reader(options.inputs, reader_options(options));
  const Job job = job_of(options, reader);
  require_known_type(options, job);
  limit_decoders_of_check(job, reader);
  const CheckOutcome found = check_order(job, reader);
  report.elements = found.elements;
  report.bytes = found.elements * job.element.bytes();
  report.disorder_element = found.disorder_element;
  if (found.in_order) set_fingerprint(report, found.fingerprint);
  const std::string refuted = refutation(options, job, found);
  if (refuted.empty()) return GSORT_DONE;
  keep_texts(fmt::format("{}: {}", printable(input), refuted), {});
  return GSORT_REFUTED;
}

CallOfWords call_of(const char* const* inputs, std::size_t count, const char* output, bool merge) {
  if (output == nullptr) throw wrong_call("no output is given", "name a file");
  return {.inputs = names_of(inputs, count),
          .output = output,
          .merge = merge,
          .refused = kNoOptionsOfASort};
}

}  // namespace
}  // namespace gsort

gsort_status gsort_sort(const char* const* inputs, size_t count, const char* output,
                        const char* const* options, gsort_report* report) {
  return gsort::guarded(report, [&](gsort_report& done) {
    return gsort::sort(gsort::call_of(inputs, count, output, false), options, done);
  });
}

gsort_status gsort_merge(const char* const* inputs, size_t count, const char* output,
                         const char* const* options, gsort_report* report) {
  return gsort::guarded(report, [&](gsort_report& done) {
    return gsort::sort(gsort::call_of(inputs, count, output, true), options, done);
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
