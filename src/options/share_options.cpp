#include "options/share_options.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/quoted.hpp"
#include "form/valid_format.hpp"
#include "options/exclusive_options.hpp"
#include "options/option_values.hpp"

namespace gsort {
namespace {

Error needs(std::string_view option, std::string_view what, std::string_view hint) {
  return Error(ErrorKind::kUsage, fmt::format("option {}", option), fmt::format("needs {}", what))
      .hint(std::string(hint));
}

NumberOf parse_number_of(std::string_view text, std::string_view option) {
  const auto number = [&](std::string_view digits, unsigned& to) {
    const char* const end = digits.data() + digits.size();
    const auto [stop, problem] = std::from_chars(digits.data(), end, to);
    return problem == std::errc() && stop == end;
  };
  NumberOf parsed;
  const std::size_t slash = text.find('/');
  const bool is_one = slash != text.npos && number(text.substr(0, slash), parsed.number) &&
                      number(text.substr(slash + 1), parsed.of);
  if (is_one && parsed.number < parsed.of && parsed.of <= kMostShares) return parsed;
  throw Error(ErrorKind::kUsage, fmt::format("{} '{}'", option, text), "is not I/P")
      .hint(fmt::format("P is how many there are, at most {}, and I counts them from 0: 0/4, 1/4, "
                        "2/4, 3/4",
                        kMostShares));
}

// The first of the options that change what a sort makes.
std::string_view result_option(const Options& options) {
  if (options.unique && !options.take) return "--unique";
  if (options.argsort) return "--argsort";
  if (options.top) return "--top";
  if (options.merge) return "--merge";
  if (options.batch_elements) return "--batch-elements";
  if (options.each) return "--each";
  if (options.resume) return "--resume";
  if (options.split_output) return "--split-output";
  if (options.verify_encoding && !options.take) return "--verify-encoding";
  if (options.explain != ExplainMode::kNone && options.join) return "--explain";
  return reading_option(options);
}

constexpr std::string_view kPlaceOfPart = "{}";
constexpr const char* kWithTake = "give it with each --take, where -o has {} in the name";

void refuse_beside_form(const Options& options) {
  const auto refuse = [&](std::string_view other, std::string_view hint) {
    throw exclude_each_other(options, "--form", other, hint);
  };
  if (!options.share) throw needs("--form", "--share=I/P", "--share=0/1 is the whole input");
  if (options.output) refuse("--output", "give -o with --take and --join");
  if (!options.temporary_directories.empty()) {
    refuse("--temporary-directory", "leave out -T: the runs stay in the folder of --form");
  }
  if (options.compress) refuse("--compress", kWithTake);
  if (options.input_form.skip_bytes > 0)
    refuse("--skip", "remove the headers from the files first");
  if (options.output_format && options.output_format != options.input_form.format) {
    throw Error(ErrorKind::kUsage, "option --form",
                "writes no output in the format OUT of --format")
        .hint("give --format=IN here, and --format=IN:OUT with --take");
  }
}

// What the folders say already.
void refuse_order_beside(const Options& options, std::string_view name) {
  const auto refuse = [&](std::string_view other) {
    throw exclude_each_other(options, name, other,
                             "give it with --form only, which records it with the runs");
  };
  if (options.type_source == TypeSource::kOption) refuse("--type");
  if (options.byte_order_is_asked) refuse("--endian");
  if (options.key.descending) refuse("--reverse");
  if (options.float_order_is_asked) refuse("--float-order");
  if (options.record_bytes) refuse("--record");
  if (!options.record_keys.empty()) refuse("--key");
  if (!options.verify) refuse("--no-verify");
  if (options.input_form.skip_bytes > 0) refuse("--skip");
  if (options.join && !options.temporary_directories.empty()) {
    throw exclude_each_other(options, name, "--temporary-directory",
                             "leave out -T: there are no temporary files");
  }
}

void refuse_beside_output_of(const Options& options, std::string_view name) {
  if (options.output.value_or("-") == "-") {
    throw needs(name, "--output", "give every part and --join the same -o");
  }
  if (options.output->find(kPlaceOfPart) != options.output->rfind(kPlaceOfPart)) {
    throw Error(ErrorKind::kUsage, fmt::format("--output '{}'", *options.output),
                "contains {} more than once")
        .hint("use {} once, for the number of the part, as in -o part-{}.txt");
  }
  if (options.inputs != std::vector<std::string>{"-"} || options.files0_from) {
    throw Error(ErrorKind::kUsage, fmt::format("operand '{}'", options.inputs.front()),
                fmt::format("cannot be combined with {}", name))
        .hint("give inputs with --form only");
  }
  refuse_order_beside(options, name);
}

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
  element.records = records;
  return element;
}

}  // namespace

void set_share(Options& options, std::string_view value) {
  options.share = parse_number_of(value, "--share");
}

void set_take(Options& options, std::string_view value) {
  options.take = parse_number_of(value, "--take");
}

void set_join(Options& options, std::string_view value) {
  options.join = parse_count(value, 1, kMostShares, "--join");
}

void set_from(Options& options, std::string_view value) {
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    options.from.push_back(checked_path(value.substr(begin, end - begin), "--from"));
    begin = end + 1;
  }
}

void refuse_beside_shares(const Options& options) {
  const std::string_view name = options.form   ? "--form"
                                : options.take ? "--take"
                                : options.join ? "--join"
                                               : "";
  if (options.share && !options.form)
    throw needs("--share", "--form", "--share=I/P is the share of the input that --form reads");
  if (options.inputs_here && !options.form) {
    throw needs("--inputs-here", "--form",
                "--inputs-here says that the FILEs are those of one share");
  }
  if (!options.from.empty() && !options.take) {
    throw needs("--from", "--take=I/P", "--from names the folders that --take reads");
  }
  if (name.empty()) return;
  if (options.form && options.take)
    throw exclude_each_other(options, "--form", "--take", "run gsort twice");
  if (options.form && options.join)
    throw exclude_each_other(options, "--form", "--join", "run gsort twice");
  if (options.take && options.join)
    throw exclude_each_other(options, "--take", "--join", "run gsort twice");
  const std::string_view result = result_option(options);
  if (!result.empty()) {
    const bool is_for_take = result == "--unique" || result == "--verify-encoding";
    throw exclude_each_other(
        options, name, result,
        is_for_take ? kWithTake
                    : fmt::format("leave out {}: only one process alone can do it", result));
  }
  if (options.form) return refuse_beside_form(options);
  refuse_beside_output_of(options, name);
  if (options.take && options.from.empty()) {
    throw needs("--take", "--from=DIR,...", "name the folders of all shares, which --form made");
  }
  if (options.join && (options.stats || options.trace)) {
    throw exclude_each_other(options, "--join", options.stats ? "--stats" : "--trace",
                             "--join sorts nothing; measure --form and --take");
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
