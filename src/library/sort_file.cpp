#include "library/sort_file.hpp"

#include "app/files.hpp"
#include "app/own_files.hpp"
#include "app/prepared_sort.hpp"
#include "base/current_error.hpp"
#include "io/input/reader.hpp"
#include "io/system/process.hpp"
#include "library/member_words.hpp"
#include "library/run_sort.hpp"
#include "options/assumed_type.hpp"
#include "options/caller_options.hpp"
#include "options/form_options.hpp"
#include "options/option_rules.hpp"

namespace gsort {
namespace {

void require_a_sort(const Options& options) {
  const auto refuse = [](const char* what, const char* hint) {
    throw Error(ErrorKind::kUsage, "sort_file", what).hint(hint);
  };
  if (options.inputs.empty()) refuse("no input is given", "name one in Options::inputs");
  if (!options.output) refuse("no output is given", "name one in Options::output");
  if (options.output->empty()) refuse("the output has no name", "name it in Options::output");
  if (options.check != CheckMode::kNone || options.fingerprint ||
      options.explain != ExplainMode::kNone || options.show != Show::kNone || options.stats ||
      options.trace || options.each) {
    refuse("the options ask for more than a sort",
           "leave out check, each, fingerprint, explain, show, stats, trace");
  }
  if (options.form || options.share || options.inputs_here || options.take ||
      !options.from.empty() || options.join || options.parts) {
    refuse("the options ask for a share of a sort",
           "leave out form, share, inputs_here, take, from, join, parts");
  }
  require_bounded(options, "sort_file");
  require_rules(RuleSet::kOutput, options);
}

}  // namespace

void require_known_type(const Options& options, const Job& job) {
  if (!type_is_assumed(options, job)) return;
  throw Error(ErrorKind::kUsage, "reading", "no type was given")
      .path(options.inputs.front())
      .hint("give it with -t, or by the suffix, as in dump.u64");
}

Outcome run_sort(const Options& options, AssumedType assumed) {
  require_a_sort(options);
  refuse_output_name(options);
  refuse_streams_in_place(options);
  io::Reader reader(options.inputs, reader_options(options));
  const Job job = job_of(options, reader);
  if (assumed == AssumedType::kRefused) require_known_type(options, job);
  return PreparedSort(options, job, reader).run(nullptr);
}

SortedFile sort_file(const Options& options) {
  const io::DefaultFloats floats;
  try {
    const Outcome outcome = run_sort(options, AssumedType::kAllowed);
    SortedFile sorted{.verified = outcome.verified};
    copy_statistics(outcome, sorted);
    return sorted;
  } catch (...) {
    const Error error = current_error();
    throw options.type_source == TypeSource::kCaller ? library::in_members(error) : error;
  }
}

}  // namespace gsort
