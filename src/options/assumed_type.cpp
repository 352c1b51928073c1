#include "options/assumed_type.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/quoted.hpp"
#include "form/file_form.hpp"

namespace gsort {
namespace {

constexpr KeyType kAssumedType = KeyFormat{}.type;

bool is_text(const Request& request, const std::string& input) {
  return format_of_input(request.input_form, input) == FileFormat::kText;
}

bool puts_out_text(const Request& request, const Job& job) {
  return request.check != CheckMode::kNone || job.output_form.format == FileFormat::kText ||
         job.argsort;
}

}  // namespace

bool type_is_assumed(const Request& request, const Job& job) {
  if (job.type_source != TypeSource::kDefault) return false;
  const auto holds_text = [&](const std::string& input) { return is_text(request, input); };
  return !puts_out_text(request, job) || !std::ranges::all_of(request.inputs, holds_text);
}

std::string how_to_give_the_type(const ElementFormat& element) {
  const std::string_view type = name_of(kAssumedType);
  if (element.shown_records()) return fmt::format("give it with --key=OFFSET:TYPE or -t {}", type);
  return fmt::format("give it with -t {}, a suffix, as in FILE.{}, or GSORT_TYPE", type, type);
}

std::string assumed_type_note(const Request& request, const Job& job) {
  if (!type_is_assumed(request, job)) return {};
  const std::string& first = request.inputs.front();
  const std::size_t others = request.inputs.size() - 1;
  return fmt::format("gsort: {}{}: no type given, {}read as {} (-t TYPE)\n",
                     first == "-" ? "standard input" : printable(first),
                     others > 0 ? fmt::format(" and {} more", others) : "",
                     job.input_element().shown_records() ? "keys " : "", name_of(kAssumedType));
}

}  // namespace gsort
