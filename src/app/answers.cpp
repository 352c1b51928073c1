#include "app/answers.hpp"

#include "app/console.hpp"
#include "report/summary.hpp"

namespace gsort {
namespace {

// Whether what was read is what --expect asks for; says so if not.
bool is_expected(const Options& options, const Fingerprint& found) {
  if (!options.expected || to_string(found) == *options.expected) return true;
  if (options.check != CheckMode::kQuiet) {
    print(stderr, difference_line(found, *options.expected, options.inputs));
  }
  return false;
}

}  // namespace

bool answer_check(const Options& options, const Job& job, const CheckOutcome& outcome) {
  if (outcome.in_order && !is_expected(options, outcome.fingerprint)) return false;
  if (options.check != CheckMode::kQuiet) {
    print(outcome.in_order ? stdout : stderr, check_lines(outcome, job, options.inputs.front()));
  }
  return outcome.in_order;
}

bool answer_fingerprint(const Options& options, const Fingerprint& found) {
  if (!is_expected(options, found)) return false;
  print(stdout, to_string(found) + '\n');
  return true;
}

}  // namespace gsort
