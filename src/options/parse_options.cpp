// Boost.Program_options does the lexical work (which word is an option, which its value); the table
// decides what an option means. Errors of Boost become errors in gsort's words.
#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "form/file_form.hpp"
#include "options/caller_options.hpp"
#include "options/form_options.hpp"
#include "options/option_rules.hpp"
#include "options/option_spec.hpp"
#include "options/option_values.hpp"
#include "options/options.hpp"
#include "options/record_options.hpp"
#include "options/result_options.hpp"
#include "options/share_options.hpp"
#include "options/suggest.hpp"

namespace gsort {
namespace {

namespace po = boost::program_options;
using Words = std::vector<std::string>;

constexpr Choice<bool> kSwitch[] = {{"on", true}, {"off", false}};

constexpr const char* kSeeHelp = "gsort -h shows the common options, gsort --help all";
constexpr const char* kSeeClusterHelp = "gsort-mpi --help shows all options";

const char* see_help(Program program) {
  return program == Program::kGsort ? kSeeHelp : kSeeClusterHelp;
}

// The origin of words, which decides whether files may be among them, and the text of errors.
enum class Origin : std::uint8_t { kEnvironment, kArguments };

// As an option of Boost: "name,letter", and the number of values.
void describe_to_boost(const OptionSpec& spec, const std::string& names,
                       po::options_description& description) {
  if (!spec.takes_value()) {
    description.add_options()(names.c_str(), "");
    return;
  }
  auto value = std::make_unique<po::typed_value<std::string>>(nullptr);
  if (spec.value_is_optional()) value->implicit_value(std::string(spec.implicit_value));
  // Not add_options(), which loses the value if memory runs out.
  description.add(boost::shared_ptr<po::option_description>(
      new po::option_description(names.c_str(), value.release())));
}

po::options_description describe_to_boost(Program program) {
  po::options_description description;
  for (const OptionSpec& spec : option_table(program)) {
    std::string names(spec.name);
    if (spec.letter != '\0') names += std::string(",") + spec.letter;
    describe_to_boost(spec, names, description);
    if (!spec.alias.empty()) describe_to_boost(spec, std::string(spec.alias), description);
  }
  return description;
}

// The row that Boost's key ("output", or "-C" for a letter without a name) stands for.
const OptionSpec& row_of(std::string_view key, Program program) {
  const auto rows = option_table(program);
  return *std::ranges::find_if(rows, [key](const OptionSpec& spec) {
    return spec.name.empty() ? display_name(spec) == key : spec.name == key || spec.alias == key;
  });
}

// An option of gsort that gsort-mpi does not have.
Error only_on_one_machine(std::string_view typed) {
  return Error(ErrorKind::kUsage, fmt::format("option '{}'", typed),
               "gsort-mpi does not have it yet")
      .hint("use gsort on one machine; gsort-mpi --help lists the options of gsort-mpi");
}

Error unknown_long_option(std::string_view typed, Program program) {
  std::vector<std::string_view> names;
  for (const OptionSpec& spec : option_table(program)) {
    if (!spec.name.empty()) names.push_back(spec.name);
  }
  const bool gsort_has_it =
      std::ranges::find(option_table(), typed.substr(2), &OptionSpec::name) != option_table().end();
  if (program == Program::kCluster && gsort_has_it) return only_on_one_machine(typed);
  if (std::ranges::count(names, typed.substr(2)) > 0) throw std::bad_alloc();
  const auto nearest = nearest_option(typed.substr(2), names);
  return Error(ErrorKind::kUsage, fmt::format("option '{}'", typed), "is unknown")
      .hint(nearest ? fmt::format("did you mean --{}?", *nearest) : see_help(program));
}

// `typed` is a word of letters, "-rx", up to a '='.
Error unknown_letter(std::string_view typed, bool has_value, Program program) {
  const auto has = [](std::span<const OptionSpec> rows, char letter) {
    return std::ranges::find(rows, letter, &OptionSpec::letter) != rows.end();
  };
  for (const char letter : typed.substr(1)) {
    if (!has(option_table(program), letter)) {
      if (has(option_table(), letter)) return only_on_one_machine(fmt::format("-{}", letter));
      const auto meant = name_elsewhere(std::string_view(&letter, 1));
      return Error(ErrorKind::kUsage, fmt::format("option '-{}'", letter), "is unknown")
          .hint(meant ? fmt::format("did you mean --{}?", *meant) : see_help(program));
    }
  }
  if (!has_value) throw std::bad_alloc();
  return Error(ErrorKind::kUsage, fmt::format("option '{}'", typed), "takes no value")
      .hint(see_help(program));
}

// An error of Boost, in gsort's words.
Error in_our_words(const po::error_with_option_name& refused, Program program) {
  std::string name = refused.get_option_name();  // "--output", "-o", sometimes with its value
  const bool has_value = name.find('=') != name.npos;
  name.resize(std::min(name.find('='), name.size()));
  // An option of gsort's is unknown to Boost if an allocation fails while Boost compares names.
  if (dynamic_cast<const po::unknown_option*>(&refused) != nullptr) {
    return name.starts_with("--") ? unknown_long_option(name, program)
                                  : unknown_letter(name, has_value, program);
  }
  const auto* const syntax = dynamic_cast<const po::invalid_syntax*>(&refused);
  const bool takes_none =
      syntax != nullptr && syntax->kind() == po::invalid_syntax::extra_parameter;
  return Error(ErrorKind::kUsage, fmt::format("option '{}'", name),
               takes_none ? "takes no value" : "needs a value")
      .hint(see_help(program));
}

// Reads "--explain" as "--explain=text". Otherwise Boost would take the next word as the value of
// an option whose value is optional.
std::pair<std::string, std::string> complete_optional_value(const std::string& word,
                                                            Program program) {
  for (const OptionSpec& spec : option_table(program)) {
    if (spec.value_is_optional() && word == display_name(spec)) {
      return {std::string(spec.name), std::string(spec.implicit_value)};
    }
  }
  return {};
}

std::vector<po::option> tokenize(const Words& words, Program program) {
  using Style = po::command_line_style::style_t;
  constexpr int kStyle = Style::unix_style & ~Style::allow_guessing;
  const po::options_description description = describe_to_boost(program);
  po::command_line_parser parser(words);
  parser.options(description).style(kStyle).extra_parser([program](const std::string& word) {
    return complete_optional_value(word, program);
  });
  try {
    return parser.run().options;
  } catch (const po::error_with_option_name& refused) {
    throw in_our_words(refused, program);
  }
}

// Boost would accept the end of the text as the end of a quotation.
bool quotations_are_closed(std::string_view text) {
  char open = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (open != '\0') {
      if (text[i] == open) open = '\0';
    } else if (text[i] == '"' || text[i] == '\'') {
      open = text[i];
    }
  }
  return open == '\0';
}

Words split_words(const char* text) {
  try {
    if (quotations_are_closed(text)) return po::split_unix(text, " \t\r\n");
  } catch (const std::exception&) {  // a backslash at the end
  }
  throw Error(ErrorKind::kUsage, fmt::format("GSORT_OPTIONS '{}'", text),
              "has an open quotation, or a backslash at its end")
      .hint("quote words with '...' or \"...\"; a backslash keeps the character after it");
}

// Options that are not on the command line must not change the result.
void require_origin(const OptionSpec& row, Origin origin) {
  if (row.in_environment || origin == Origin::kArguments) return;
  throw Error(ErrorKind::kUsage, "option " + display_name(row),
              "is allowed on the command line only")
      .hint(fmt::format("GSORT_OPTIONS holds options of resources and reporting, such as -S and "
                        "-v; take {} out of it, and give it with the command",
                        display_name(row)));
}

// Keeps, for messages, the options that are not on the command line.
void note_origin(Options& options, const OptionSpec& row, Origin origin) {
  const std::string name = display_name(row);
  std::erase(options.from_environment, name);
  if (origin == Origin::kEnvironment) options.from_environment.push_back(name);
}

void apply_words(Options& options, const Words& words, Origin origin, Program program) {
  for (const po::option& option : tokenize(words, program)) {
    if (!option.string_key.empty()) {
      const OptionSpec& row = row_of(option.string_key, program);
      require_origin(row, origin);
      row.apply(options, option.value.empty() ? "" : option.value.front());
      note_origin(options, row, origin);
    } else if (origin == Origin::kEnvironment) {
      throw Error(ErrorKind::kUsage, fmt::format("operand '{}'", option.value.front()),
                  "is not an option")
          .hint("GSORT_OPTIONS holds options only; name files on the command line");
    } else {
      options.inputs.push_back(checked_path(option.value.front(), "operand"));
    }
  }
}

// Errors about options of the environment say so, because these options are not on the command line
// that the user sees.
void apply_environment(Options& options, const char* text, Program program) {
  const Words words = split_words(text);
  try {
    apply_words(options, words, Origin::kEnvironment, program);
  } catch (const Error& error) {
    throw Error(error.kind(), error.operation() + " in GSORT_OPTIONS", error.reason())
        .hint(error.hint());
  }
}

void resolve_type(Options& options, const Environment& environment) {
  if (options.type_source == TypeSource::kOption) return;
  const std::string& first = options.inputs.front();
  const auto type = key_type_of_path(first);
  if (type && !is_read_compressed(options.input_form, first)) {
    options.key.type = *type;
    options.type_source = TypeSource::kSuffix;
  } else if (const char* const name = environment("GSORT_TYPE"); name != nullptr && *name != 0) {
    const bool big_endian = options.key.big_endian;
    const bool order_is_asked = options.byte_order_is_asked;
    set_type(options, name, "GSORT_TYPE");
    if (order_is_asked) options.key.big_endian = big_endian;
    options.type_source = TypeSource::kEnvironment;
  } else {
    options.type_source = TypeSource::kDefault;
  }
}

// The inputs from all places that may name them.
void resolve_inputs(Options& options, const NameList& name_list) {
  if (options.files0_from && !options.inputs.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("operand '{}'", options.inputs.front()),
                "cannot be combined with --files0-from")
        .hint("name all inputs in the list, or all on the command line");
  }
  if (options.files0_from) options.inputs = name_list(*options.files0_from);
  if (options.inputs.empty()) options.inputs.emplace_back("-");
}

// SOSD files do not store the type of their keys, and it decides how many bytes there must be.
void refuse_untyped_sosd(const Options& options) {
  const bool is_untyped = options.type_source == TypeSource::kDefault;
  if (!is_untyped || options.input_form.format != FileFormat::kSosd) return;
  if (options.take || options.join) return;  // the shares have their type
  throw Error(ErrorKind::kUsage, "--format=sosd", "no type was given")
      .hint("SOSD files hold u64 or u32: give -t u64 or -t u32");
}

void refuse_contradictions(const Options& options, Program program) {
  refuse_untyped_sosd(options);
  require_rules(RuleSet::kReports, options);
  refuse_output_name(options);
  if (program == Program::kGsort) require_rules(RuleSet::kShares, options);
  require_rules(RuleSet::kResult, options);
  if (program == Program::kCluster) {
    require_rules(RuleSet::kParts, options);
    refuse_place_of_rank(options);
  } else {
    refuse_files_of_shares(options);
    require_rules(RuleSet::kOrderOfShares, options);
  }
  require_rules(RuleSet::kOutput, options);
  if (std::ranges::count(options.inputs, "-") > 1) {
    throw Error(ErrorKind::kUsage, "operand '-'", "is given twice").hint("stdin is read once");
  }
}

// Completes the options from all that were given.
Options resolved(Options options, const Environment& environment, Program program) {
  resolve_type(options, environment);
  resolve_records(options);
  refuse_contradictions(options, program);
  name_own_files(options);
  return options;
}

// Several FILEs are checked each, as by --each, if nothing is wrong with the other options.
void check_each(Options& options, const Environment& environment, Program program) {
  if (options.check == CheckMode::kNone || options.inputs.size() < 2) return;
  static_cast<void>(resolved(options, environment, program));
  if (program == Program::kCluster) {
    throw Error(ErrorKind::kUsage, fmt::format("operand '{}'", options.inputs[1]),
                "cannot be given: --check of gsort-mpi takes one file")
        .hint("gsort -c checks each of several files");
  }
  options.each = true;
}

}  // namespace

std::vector<std::string> option_words(const std::vector<std::string>& arguments, Program program) {
  std::vector<std::string> words;
  for (const po::option& option : tokenize(arguments, program)) {
    if (option.string_key.empty()) continue;
    const Words& typed = option.original_tokens;
    words.insert(words.end(), typed.begin(), typed.end());
  }
  return words;
}

Options parse_options(int argc, const char* const* argv, const Environment& environment,
                      const NameList& name_list, Program program) {
  Options options;
  if (const char* const words = environment("GSORT_OPTIONS"); words != nullptr) {
    apply_environment(options, words, program);
  }
  apply_words(options, Words(argv + std::min(argc, 1), argv + argc), Origin::kArguments, program);
  if (options.show != Show::kNone) return options;
  if (const char* const text = environment("GSORT_CACHE"); text != nullptr && *text != 0) {
    options.keep_rates = parse_choice(text, kSwitch, "GSORT_CACHE");
  }
  if (const char* const folder = environment("TMPDIR"); folder != nullptr) options.tmpdir = folder;
  resolve_inputs(options, name_list);
  check_each(options, environment, program);
  if (options.each) {
    require_rules(RuleSet::kEach, options);
    refuse_inputs_of_each(options);
    return options;
  }
  return resolved(std::move(options), environment, program);
}

Options options_of_call(const CallOfWords& call, const std::vector<std::string>& words) {
  Options options;
  const auto refuse = [](std::string what, const char* why) {
    throw Error(ErrorKind::kUsage, std::move(what), why)
        .hint("leave it out: the arguments of the call name its files and say what is done");
  };
  if (std::ranges::find(words, "--") != words.end()) refuse("word '--'", "is not an option");
  for (const po::option& option : tokenize(words, Program::kGsort)) {
    const std::string value = option.value.empty() ? "" : option.value.front();
    if (option.string_key.empty()) refuse(fmt::format("word '{}'", value), "is not an option");
    const OptionSpec& row = row_of(option.string_key, Program::kGsort);
    if (std::ranges::find(call.refused, display_name(row)) != call.refused.end()) {
      refuse(fmt::format("option '{}'", display_name(row)), "is not one of this call");
    }
    row.apply(options, value);
  }
  for (const std::string& input : call.inputs) {
    options.inputs.push_back(checked_path(input, "input"));
  }
  if (call.output) options.output = checked_path(*call.output, "output");
  if (call.check != CheckMode::kNone) options.check = call.check;
  options.merge = options.merge || call.merge;
  constexpr auto kNoEnvironment = [](const char*) -> const char* { return nullptr; };
  return resolved(std::move(options), kNoEnvironment, Program::kGsort);
}

Options options_of_each(Options one, const std::string& input, const Environment& environment) {
  one.inputs = {input};
  if (one.check == CheckMode::kNone) {
    one.output = one.output ? *one.output + '/' + name_in_folder(input) : input;
  }
  resolve_type(one, environment);
  resolve_records(one);
  refuse_contradictions(one, Program::kGsort);
  return one;
}

const Request& request_of(const Options& options) {
  return options;
}

const char* describe(TypeSource source) {
  constexpr const char* kSources[] = {"the caller", "-t",          "the suffix of the first input",
                                      "GSORT_TYPE", "the default", "the header of the input",
                                      "--key"};
  return kSources[static_cast<std::size_t>(source)];
}

}  // namespace gsort
