#include "options/result_options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "form/npy.hpp"
#include "options/exclusive_options.hpp"

namespace gsort {
namespace {

constexpr std::string_view kPlaceOfNumber = "{}";
constexpr std::string_view kPlaceOfRank = "{rank}";

bool has_once(std::string_view name, std::string_view place) {
  const auto found = name.find(place);
  return found != std::string_view::npos && name.find(place, found + 1) == name.npos;
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

// Arrays keep their places, and so all their elements.
void refuse_beside_batches(const Options& options, const StoredArray& stored) {
  const bool rows = io::has_rows(stored);
  const std::string_view batches =
      rows ? "--batch-elements (the rows of the array)" : "--batch-elements";
  const char* const hint = rows ? "save array.ravel() to sort all of it"
                                : "every array is sorted on its own and keeps its elements";
  const bool checks = options.check != CheckMode::kNone;
  if (options.unique && !checks) throw exclude_each_other(options, "--unique", batches, hint);
  if (options.top) throw exclude_each_other(options, "--top", batches, hint);
  if (options.merge) throw exclude_each_other(options, "--merge", batches, hint);
  if (options.engine != EngineChoice::kCuda) return;
  if (options.records || stored.records) {
    throw exclude_each_other(options, "--engine=cuda", "--batch-elements with --record",
                             "arrays of records are sorted on the CPU; leave out --engine");
  }
  if (bytes_of(options.key.type) > sizeof(std::uint64_t)) {
    throw exclude_each_other(options, "--engine=cuda", "--batch-elements of 128-bit keys",
                             "arrays of such keys are sorted on the CPU; leave out --engine");
  }
}

void refuse_beside_check(const Options& options) {
  if (options.merge) {
    throw exclude_each_other(options, "--check", "--merge",
                             "--merge checks the order of its inputs; leave out one of them");
  }
  if (options.fingerprint) {
    throw exclude_each_other(options, "--check", "--fingerprint",
                             "--check prints the fingerprint, too; leave out one of them");
  }
}

void refuse_beside_fingerprint(const Options& options) {
  if (options.merge) {
    throw exclude_each_other(options, "--fingerprint", "--merge",
                             "a fingerprint does not depend on the order; leave out one of them");
  }
  if (options.unique) {
    throw exclude_each_other(options, "--fingerprint", "--unique",
                             "--fingerprint looks at all elements; leave out one of them");
  }
}

void refuse_beside_set_operations(const Options& options, const StoredArray& stored) {
  const std::string_view name = options.intersect ? "--intersect" : "--subtract";
  const auto refuse = [&](std::string_view reason, std::string_view hint) {
    throw Error(ErrorKind::kUsage, fmt::format("option {}", name), std::string(reason))
        .hint(std::string(hint));
  };
  if (options.intersect && options.subtract) {
    throw exclude_each_other(options, "--intersect", "--subtract",
                             "run gsort twice; - reads the first result from a pipe");
  }
  if (!options.merge) refuse("needs --merge", "sort each FILE, then add -m");
  if (options.inputs.size() < 2) {
    refuse("needs at least two FILEs", "name all FILEs to compare; -u alone takes one");
  }
  if (options.records || stored.records) {
    throw exclude_each_other(options, name, stored.records ? "an array of records" : "--record",
                             "only keys are compared, not records: give the keys alone");
  }
}

void refuse_beside_count(const Options& options, const StoredArray& stored) {
  const auto refuse = [&](std::string_view other, std::string_view hint) {
    throw exclude_each_other(options, "--count", other, hint);
  };
  if (!options.unique && !options.merge) {
    throw Error(ErrorKind::kUsage, "option --count", "needs --unique")
        .hint("add -u: one of each key comes out, with its count");
  }
  if (options.check != CheckMode::kNone) refuse("--check", "--check -u says whether keys repeat");
  if (options.intersect || options.subtract) {
    refuse(options.intersect ? "--intersect" : "--subtract",
           "write the result with -o first, and count keys in another run");
  }
  if (options.records || stored.records) {
    refuse(stored.records ? "an array of records" : "--record",
           "only keys are counted, not records: give the keys alone");
  }
  if (options.top) {
    refuse("--top", "write all counts, then take the first ones, for lines of text with head");
  }
  const auto is_sosd = [&](const std::string& input) {
    return format_of_input(options.input_form, input) == FileFormat::kSosd;
  };
  if (adds_counts(options) && std::ranges::any_of(options.inputs, is_sosd)) {
    refuse("--merge of SOSD files", "they hold only keys; add -u to count these");
  }
}

void refuse_beside_argsort(const Options& options, const StoredArray& stored) {
  const auto refuse = [&](std::string_view other, std::string_view hint) {
    throw exclude_each_other(options, "--argsort", other, hint);
  };
  const std::string_view reads = reading_option(options);
  if (!reads.empty()) refuse(reads, "only a sort has an output; leave out one of them");
  if (options.intersect || options.subtract) {
    refuse(options.intersect ? "--intersect" : "--subtract",
           "positions count the elements of all FILEs; leave out one of them");
  }
  if (options.merge) refuse("--merge", "leave out -m: all FILEs are sorted as one sequence");
  if (options.count) refuse("--count", "-u --argsort writes where each key occurs first");
  if (io::has_rows(stored)) refuse("rows of an array", "save array.ravel() to sort all of it");
  if (options.batch_elements) {
    refuse("--batch-elements", "sort one array at a time, or all elements as one");
  }
}

void refuse_beside_split_output(const Options& options, const StoredArray& stored) {
  const auto refuse = [&](std::string_view other, std::string_view hint) {
    throw exclude_each_other(options, "--split-output", other, hint);
  };
  constexpr std::string_view kUnknown =
      "the number of keys is not known in advance; write one output, then split it in a second run";
  const std::string_view reads = reading_option(options);
  if (!reads.empty()) refuse(reads, "only a sort has an output; leave out one of them");
  if (options.unique) refuse("--unique", kUnknown);
  if (options.count) refuse("--count", kUnknown);
  if (options.intersect) refuse("--intersect", kUnknown);
  if (options.subtract) refuse("--subtract", kUnknown);
  if (options.resume) refuse("--resume", "sort into one output, and split it in another run");
  if (io::has_rows(stored)) {
    refuse("rows of an array", "save array.ravel(), or write one output");
  }
  if (has_once(options.output.value_or(""), kPlaceOfNumber)) return;
  throw Error(ErrorKind::kUsage, "option --split-output",
              "needs an output with {} in its name, once")
      .hint("{} becomes the number of the part, as in part-{}.u64");
}

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

void refuse_wrong_parts(const Options& options) {
  const std::string name = options.output.value_or("");
  const std::string_view reads = reading_option(options);
  if (options.parts && !reads.empty()) {
    throw exclude_each_other(options, "--parts", reads,
                             "only a sort has an output; leave out one of them");
  }
  if (options.parts && !has_once(name, kPlaceOfRank)) {
    throw Error(ErrorKind::kUsage, "option --parts", "needs --output with {rank} in the name, once")
        .hint("{rank} becomes the number of the process, as in -o sorted-{rank}.u64");
  }
  if (!options.parts && name.find(kPlaceOfRank) != name.npos) {
    throw Error(ErrorKind::kUsage, fmt::format("--output '{}'", name),
                "has {rank} in the name, but --parts is not given")
        .hint("add --parts to write one file for each process, or choose another name");
  }
}

bool adds_counts(const Options& options) {
  return options.merge && options.count && !options.unique;
}

void set_top(Options& options, std::string_view value) {
  options.top = parse_elements(value, "--top");
}

void set_min_count(Options& options, std::string_view value) {
  options.min_count = parse_elements(value, "--min-count");
  if (options.min_count != 0) return;
  throw Error(ErrorKind::kUsage, "--min-count '0'", "must be at least 1")
      .hint("every key occurs at least once; --min-count=2 leaves out keys that occur once");
}

std::string name_in_folder(const std::string& path) {
  return path.substr(path.rfind('/') + 1);  // from 0 where there is none
}

void refuse_beside_each(const Options& options) {
  const auto refuse = [&](std::string_view other, std::string_view hint) {
    throw exclude_each_other(options, "--each", other, hint);
  };
  if (options.merge)
    refuse("--merge", "a merge makes one output of all FILEs; leave out one of them");
  if (options.fingerprint) refuse("--fingerprint", "run it once for each FILE");
  if (options.explain != ExplainMode::kNone) refuse("--explain", "explain one FILE at a time");
  if (options.resume) refuse("--resume", "resume one FILE at a time");
  if (options.split_output) refuse("--split-output", "split one FILE at a time");
  if (options.stats) refuse("--stats", "sort one FILE at a time to measure it");
  if (options.trace) refuse("--trace", "sort one FILE at a time to measure it");
  if (options.expected) refuse("--expect", "check one FILE at a time");
  std::set<std::string> names;
  for (const std::string& input : options.inputs) {
    const std::string name = name_in_folder(input);
    if (input == "-" || name.empty()) {
      throw Error(ErrorKind::kUsage, fmt::format("operand '{}'", input),
                  "cannot be sorted by --each")
          .hint("name files; each is replaced, or written under its name into the folder of -o");
    }
    if (options.check != CheckMode::kNone || !options.output) continue;
    if (names.insert(name).second) continue;
    throw Error(ErrorKind::kUsage, fmt::format("operand '{}'", input),
                fmt::format("has the output of an earlier FILE: {} in {}", name, *options.output))
        .hint("sort them in separate runs, each with its own folder");
  }
}

void set_batch_elements(Options& options, std::string_view value) {
  options.batch_elements = parse_elements(value, "--batch-elements");
  if (options.batch_elements != 0) return;
  throw Error(ErrorKind::kUsage, "--batch-elements '0'", "is not a number of elements")
      .hint("an array has at least 1");
}

void refuse_result_contradictions(const Options& options, const StoredArray& stored) {
  if (options.batch_elements || io::has_rows(stored)) refuse_beside_batches(options, stored);
  if (options.intersect || options.subtract) refuse_beside_set_operations(options, stored);
  if (options.check != CheckMode::kNone) refuse_beside_check(options);
  if (options.fingerprint) refuse_beside_fingerprint(options);
  if (options.split_output && !options.parts) refuse_beside_split_output(options, stored);
  if (options.argsort) refuse_beside_argsort(options, stored);
  if (options.count) refuse_beside_count(options, stored);
  if (options.min_count && !options.count) {
    throw Error(ErrorKind::kUsage, "option --min-count", "needs --count")
        .hint("add -u --count: each key comes out with its count");
  }
  const std::string_view reads = reading_option(options);
  if (reads.empty() && options.expected) {
    throw Error(ErrorKind::kUsage, "option --expect", "needs --check or --fingerprint")
        .hint("a sort verifies its own output; to check a file, add --check");
  }
  if (!reads.empty() && options.top) {
    throw exclude_each_other(options, reads, "--top",
                             fmt::format("{} looks at all elements; leave out one of them", reads));
  }
  if (!reads.empty() && options.explain != ExplainMode::kNone) {
    throw exclude_each_other(
        options, reads, "--explain",
        fmt::format("{} has no plan, it reads its input once; leave out one of them", reads));
  }
}

}  // namespace gsort
