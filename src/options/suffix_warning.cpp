#include "options/suffix_warning.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/quoted.hpp"
#include "element/record_text.hpp"
#include "form/file_form.hpp"

namespace gsort {
namespace {

// Whether suffixes are compared with the elements. Records have no type, unless -t or a header says
// that they are strings.
bool has_type(const Job& job, const ElementFormat& element) {
  const bool is_told =
      job.type_source == TypeSource::kOption || job.type_source == TypeSource::kHeader;
  return !element.shown_records() || (is_told && string_bytes(element.key) > 0);
}

// No suffix names strings.
bool is_type_of(const KeyFormat& key, KeyType named) {
  return string_bytes(key) == 0 && named == key.type;
}

// Headers of arrays decide instead of suffixes, and have been compared.
bool is_of_other_type(const InputForm& form, const std::string& input, const KeyFormat& key) {
  if (is_read_compressed(form, input)) return false;
  const auto named = key_type_of_path(input);
  return format_of_input(form, input) != FileFormat::kNpy && named && !is_type_of(key, *named);
}

// `gsort -t i32 data.u32 -o data.u32`: the user knows that the suffix does not match.
bool is_named_like_an_input(const std::vector<std::string>& inputs, KeyType type) {
  return std::ranges::any_of(
      inputs, [type](const std::string& input) { return key_type_of_path(input) == type; });
}

// `holds`: "is read as u32 (type from -t)"
std::string warning(const std::string& path, const std::string& holds) {
  return fmt::format("gsort: {} {}, but its suffix says {}\n", printable(path), holds,
                     name_of(*key_type_of_path(path)));
}

std::string type_words(const Job& job) {
  return fmt::format("{} (type from {})", type_text(job.input_element().key),
                     describe(job.type_source));
}

// Raw keys do not show their byte order; if it comes from a header, no option shows it, either.
std::string note_of_byte_order(const Job& job, const std::string& output) {
  const KeyFormat key = job.result_key();
  const bool is_raw = job.output_form.format == FileFormat::kBinary;
  const bool is_big = key.big_endian && bytes_of(key) > 1;
  if (!is_raw || !is_big || job.type_source != TypeSource::kHeader) return {};
  return fmt::format("gsort: {} will hold big-endian {} (byte order from {})\n", printable(output),
                     name_of(key.type), describe(job.type_source));
}

// For text output, and if the input's size is not known, positions of either width are right.
std::string warning_of_positions(const Job& job, const std::string& output, KeyType named) {
  const KeyType widest = job.result_key().type;
  const bool either = job.index_may_shrink || job.output_form.format == FileFormat::kText;
  const bool is_right =
      named == widest || (either && (named == KeyType::kU32 || named == KeyType::kU64));
  if (is_right) return note_of_byte_order(job, output);
  return warning(output, either ? "will hold positions"
                                : fmt::format("will hold positions as {}", name_of(widest)));
}

std::string warning_of_output(const Request& request, const Job& job) {
  const auto named = request.output ? key_type_of_path(*request.output) : std::nullopt;
  if (!named) return {};
  if (job.argsort) return warning_of_positions(job, *request.output, *named);
  const bool is_like_inputs = job.adds_counts() && is_named_like_an_input(request.inputs, *named);
  if (job.count && !is_like_inputs)
    return warning(*request.output, "will hold keys with their counts");
  if (!has_type(job, job.input_element())) return {};
  if (is_type_of(job.result_key(), *named)) return note_of_byte_order(job, *request.output);
  const bool is_asked = job.type_source == TypeSource::kOption;
  if (is_asked && is_named_like_an_input(request.inputs, *named)) return {};
  return warning(*request.output, "will hold " + type_words(job));
}

}  // namespace

std::optional<std::string> input_of_other_type(const Request& request, const Job& job) {
  const ElementFormat& element = job.input_element();
  if (!has_type(job, element)) return std::nullopt;
  const auto found = std::ranges::find_if(request.inputs, [&](const std::string& input) {
    return is_of_other_type(request.input_form, input, element.key);
  });
  return found == request.inputs.end() ? std::nullopt : std::optional(*found);
}

std::string input_warning(const Job& job, const std::string& input) {
  return warning(input, "is read as " + type_words(job));
}

std::string suffix_warning(const Request& request, const Job& job) {
  const bool is_asked = job.type_source == TypeSource::kOption;
  if (!is_asked) {
    if (const auto input = input_of_other_type(request, job)) return input_warning(job, *input);
  }
  return warning_of_output(request, job);
}

}  // namespace gsort
