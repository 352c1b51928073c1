#include "app/answers.hpp"

#include "app/console.hpp"
#include "report/summary.hpp"

namespace gsort {
namespace {

// Whether the elements are those of --expect; prints a message if not.
bool is_expected(const Request& request, const Fingerprint& found) {
  if (!request.expected || to_string(found) == *request.expected) return true;
  if (request.check != CheckMode::kQuiet) {
    print(stderr, difference_line(found, *request.expected, request.inputs));
  }
  return false;
}

}  // namespace

bool answer_check(const Request& request, const Job& job, const CheckOutcome& outcome) {
  if (outcome.in_order && !is_expected(request, outcome.fingerprint)) return false;
  if (request.check != CheckMode::kQuiet) {
    print(outcome.in_order ? stdout : stderr, check_lines(outcome, job, request.inputs.front()));
  }
  return outcome.in_order;
}

bool answer_fingerprint(const Request& request, const Fingerprint& found) {
  if (!is_expected(request, found)) return false;
  print(stdout, to_string(found) + '\n');
  return true;
}

}  // namespace gsort
