#include "options/result_options.hpp"

#include <charconv>
#include <limits>
#include <random>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "options/option_values.hpp"

namespace gsort {
namespace {

constexpr std::string_view kPlaceOfNumber = "{}";
constexpr std::string_view kPlaceOfRank = "{rank}";

}  // namespace

std::vector<std::string> FileNames::outputs() const {
  const std::string name = output.value_or("-");
  if (!split_output) return {name};
  const std::string_view number = parts ? kPlaceOfRank : kPlaceOfNumber;
  const std::size_t place = name.find(number);
  const std::size_t digits = std::to_string(*split_output - 1).size();
  std::vector<std::string> names;
  for (unsigned part = 0; part < *split_output; ++part) {
    names.push_back(fmt::format("{}{:0{}}{}", name.substr(0, place), part, digits,
                                name.substr(place + number.size())));
  }
  return names;
}

std::vector<std::string> FileNames::temporary_folders(const std::string& output_folder) const {
  if (!temporary_directories.empty()) return temporary_directories;
  if (!tmpdir.empty()) return {tmpdir};
  return {output_folder.empty() ? "/var/tmp" : output_folder};
}

void refuse_place_of_rank(const Options& options) {
  const std::string name = options.output.value_or("");
  if (options.parts || name.find(kPlaceOfRank) == name.npos) return;
  throw Error(ErrorKind::kUsage, fmt::format("--output '{}'", name),
              "has {rank} in the name, but --parts is not given")
      .hint("add --parts to write one file for each process, or choose another name");
}

std::uint64_t parse_elements(std::string_view text, std::string_view option) {
  std::uint64_t elements = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), elements);
  if (problem == std::errc::result_out_of_range) {
    throw Error(ErrorKind::kUsage, fmt::format("{} '{}'", option, text), "is too large")
        .hint(fmt::format("the largest number is {}", std::numeric_limits<std::uint64_t>::max()));
  }
  if (problem != std::errc() || end != text.data() + text.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} '{}'", option, text),
                "is not a number of elements")
        .hint("give a whole number in digits, as in 1000");
  }
  return elements;
}

void set_shuffle(Options& options, std::string_view value) {
  options.draws_seed = value == "random";
  if (options.draws_seed) {
    std::random_device random;
    options.shuffle = std::uint64_t{random()} << 32 | random();
    return;
  }
  options.shuffle = whole_number<std::uint64_t>(value);
  if (options.shuffle) return;
  throw Error(ErrorKind::kUsage, fmt::format("--shuffle '{}'", value), "is not a valid seed")
      .hint("give a whole number from 0 to 18446744073709551615, or --shuffle alone");
}

void set_min_count(Options& options, std::string_view value) {
  options.min_count = parse_elements(value, "--min-count");
  if (options.min_count != 0) return;
  throw Error(ErrorKind::kUsage, "--min-count '0'", "must be at least 1")
      .hint("every key occurs at least once; --min-count=2 leaves out keys that occur once");
}

std::string name_in_folder(const std::string& path) {
  return path.substr(path.rfind('/') + 1);  // from 0 if there is none
}

void refuse_inputs_of_each(const Options& options) {
  if (options.check != CheckMode::kNone) return;
  std::set<std::string> names;
  for (const std::string& input : options.inputs) {
    const std::string name = name_in_folder(input);
    if (input == "-" || name.empty()) {
      throw Error(ErrorKind::kUsage, fmt::format("operand '{}'", input),
                  "cannot be sorted by --each")
          .hint("name files; each is replaced, or written under its name into the folder of -o");
    }
    if (!options.output) continue;
    if (names.insert(name).second) continue;
    throw Error(ErrorKind::kUsage, fmt::format("operand '{}'", input),
                fmt::format("has the output of an earlier FILE: {} in {}", name, *options.output))
        .hint("sort them with separate commands, each with its own folder");
  }
}

void set_batch_elements(Options& options, std::string_view value) {
  options.batch_elements = parse_elements(value, "--batch-elements");
  if (options.batch_elements != 0) return;
  throw Error(ErrorKind::kUsage, "--batch-elements '0'", "is not a number of elements")
      .hint("an array has at least 1");
}

}  // namespace gsort
