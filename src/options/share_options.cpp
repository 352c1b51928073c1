#include "options/share_options.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/quoted.hpp"
#include "form/valid_format.hpp"
#include "options/option_values.hpp"

namespace gsort {
namespace {

constexpr std::string_view kPlaceOfPart = "{}";

bool take_word(std::istringstream& words, std::string_view one, std::string_view other,
               bool& is_other) {
  std::string word;
  words >> word;
  is_other = word.starts_with(other);
  return is_other || word.starts_with(one);
}

// "little endian ascending"; for floats in numeric order "numeric little endian ascending".
bool take_order(std::istringstream& words, std::optional<KeyType> type, bool& big_endian,
                bool& descending, FloatOrder& float_order) {
  bool ignored = false;
  if (type && is_float(*type)) {
    const auto begin = words.tellg();
    std::string word;
    words >> word;
    if (word != "numeric") {
      float_order = FloatOrder::kTotal;
      words.seekg(begin);
    }
  }
  return take_word(words, "little", "big", big_endian) &&
         take_word(words, "endian", "endian", ignored) &&
         take_word(words, "ascending", "descending", descending);
}

// "i32 of 4 at 8 little endian ascending"
std::optional<KeyField> field_of(const std::string& text) {
  std::istringstream words(text);
  KeyField field;
  std::string type;
  std::string of;
  std::string at;
  words >> type >> of >> field.bytes >> at >> field.offset;
  field.type = key_type_named(type);
  if (!field.type && type != "bytes") return std::nullopt;
  if (!words ||
      !take_order(words, field.type, field.big_endian, field.descending, field.float_order)) {
    return std::nullopt;
  }
  return field;
}

std::optional<ElementFormat> format_of(const std::string& text) {
  ElementFormat element;
  std::istringstream words(text);
  std::string type;
  words >> type;
  if (type != "records") {
    const auto key = key_type_named(type);
    if (!key || !take_order(words, key, element.key.big_endian, element.key.descending,
                            element.key.float_order)) {
      return {};
    }
    element.key.type = *key;
    return element;
  }
  RecordFormat records;
  std::string of;
  words >> of >> records.bytes;
  for (std::size_t comma = text.find(", "); comma != text.npos;) {
    const std::size_t next = text.find(", ", comma + 2);
    const auto field = field_of(text.substr(comma + 2, next - comma - 2));
    if (!field) return std::nullopt;
    records.keys.push_back(*field);
    comma = next;
  }
  if (!words || records.keys.empty()) return std::nullopt;
  const KeyField& first = records.keys.front();
  if (!first.type) element.key.big_endian = first.big_endian;  // of the counts of such keys
  element.records = records;
  return element;
}

}  // namespace

NumberOf parse_number_of(std::string_view text, std::string_view option) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto number = whole_number<unsigned>(text.substr(0, slash));
  const auto of = whole_number<unsigned>(text.substr(std::min(slash + 1, text.size())));
  if (number && of && *number < *of && *of <= kMostShares) return {*number, *of};
  throw Error(ErrorKind::kUsage, fmt::format("{} '{}'", option, text), "is not I/P")
      .hint(fmt::format("P is how many there are, at most {}, and I counts them from 0: 0/4, 1/4, "
                        "2/4, 3/4",
                        kMostShares));
}

void set_from(Options& options, std::string_view value) {
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    options.from.push_back(checked_path(value.substr(begin, end - begin), "--from"));
    begin = end + 1;
  }
}

void refuse_files_of_shares(const Options& options) {
  if (options.form && options.output_format && options.output_format != options.input_form.format) {
    throw Error(ErrorKind::kUsage, "option --form",
                "writes no output in the format OUT of --format")
        .hint("give --format=IN here, and --format=IN:OUT with --take");
  }
  if (!options.take && !options.join) return;
  if (options.output->find(kPlaceOfPart) != options.output->rfind(kPlaceOfPart)) {
    throw Error(ErrorKind::kUsage, fmt::format("--output '{}'", *options.output),
                "contains {} more than once")
        .hint("use {} once, for the number of the part, as in -o part-{}.txt");
  }
  if (options.inputs != std::vector<std::string>{"-"} || options.files0_from) {
    throw Error(ErrorKind::kUsage, fmt::format("operand '{}'", options.inputs.front()),
                fmt::format("cannot be combined with {}", options.take ? "--take" : "--join"))
        .hint("give inputs with --form only");
  }
}

void name_own_files(Options& options) {
  if (!options.take && !options.join) return;
  if (options.output->find(kPlaceOfPart) == options.output->npos) return;
  options.split_output = options.take ? options.take->of : *options.join;
}

ElementFormat element_of_job(const std::string& description, std::uint64_t element_bytes) {
  const auto element = format_of(description.substr(0, description.find(';')));
  if (element && is_valid(*element) && element->bytes() == element_bytes) return *element;
  throw Error(ErrorKind::kTemporary, "reading what the runs hold",
              fmt::format("'{}' of {} bytes is unknown", printable(description), element_bytes))
      .hint("use the same version of gsort with --form and --take");
}

}  // namespace gsort
