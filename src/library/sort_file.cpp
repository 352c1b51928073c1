#include "library/sort_file.hpp"

#include "app/files.hpp"
#include "app/prepared_sort.hpp"
#include "base/current_error.hpp"
#include "io/input/reader.hpp"

namespace gsort {
namespace {

void require_a_sort(const Options& options) {
  const auto refuse = [](const char* what, const char* hint) {
    throw Error(ErrorKind::kUsage, "sort_file", what).hint(hint);
  };
  if (options.inputs.empty()) refuse("no input is given", "name one in Options::inputs");
  if (!options.output) refuse("no output is given", "name one in Options::output");
  if (options.check != CheckMode::kNone || options.fingerprint ||
      options.explain != ExplainMode::kNone || options.show != Show::kNone || options.stats ||
      options.trace) {
    refuse("the options ask for more than a sort",
           "leave out check, fingerprint, explain, show, stats, trace");
  }
}

}  // namespace

SortedFile sort_file(const Options& options) {
  require_a_sort(options);
  try {
    io::Reader reader(options.inputs, reader_options(options));
    const Job job = job_of(options, reader);
    const Outcome outcome = PreparedSort(options, job, reader).run(nullptr);
    return {outcome.elements,      outcome.bytes,    outcome.runs,
            outcome.spilled_bytes, outcome.verified, outcome.total_seconds};
  } catch (...) {
    throw current_error();
  }
}

}  // namespace gsort
