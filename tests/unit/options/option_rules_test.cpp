#include "options/option_rules.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "options/job.hpp"

namespace gsort {
namespace {

using Strings = std::vector<std::string>;

// A way to give a term: words, and what the header of the input says. A second way adds the options
// that the term needs.
struct Given {
  Strings words;
  StoredArray stored = {};
};

StoredArray array_of_rows() {
  StoredArray stored;
  stored.key.emplace();
  stored.row_elements = 5;
  return stored;
}

StoredArray array_of_records() {
  StoredArray stored;
  stored.records = {12, {{"a", 0, 4, {{0, 4, KeyType::kU32}}}}};
  return stored;
}

const Strings kTwoSorted = {"-m", "a.u32", "b.u32"};

Strings joined(Strings words, const Strings& further) {
  words.insert(words.end(), further.begin(), further.end());
  return words;
}

const std::map<std::string, std::vector<Given>, std::less<>> kWays = {
    {"--argsort", {{{"--argsort"}}}},
    {"--batch-elements", {{{"--batch-elements=5"}}}},
    {"--batch-elements (the rows of the array)", {{{"c.npy"}, array_of_rows()}}},
    {"--batch-elements of 128-bit keys", {{{"-t", "u128", "--batch-elements=5"}}}},
    {"--batch-elements with --record",
     {{{"--record=12", "--key=0:u32", "--batch-elements=5"}},
      {{"--batch-elements=5", "c.npy"}, array_of_records()}}},
    {"--check", {{{"-c"}}, {{"-C"}}}},
    {"--check or --fingerprint", {{{"-c"}}}},
    {"--compress", {{{"--compress=gzip"}}}},
    {"--count", {{{"--count"}}, {{"-u", "--count"}}, {{"-m", "--count"}}}},
    {"--device with several devices", {{{"--device=0,1"}}}},
    {"--each", {{{"--each", "a.u32"}}}},
    {"--elements", {{{"--elements=8"}}}},
    {"--check of several FILEs", {{{"--check", "a.u32", "b.u32"}}}},
    {"--endian", {{{"--endian=little"}}}},
    {"--engine=cpu", {{{"--engine=cpu"}}}},
    {"--engine=cuda", {{{"--engine=cuda"}}}},
    {"--expect", {{{"--expect=3e8:f1df234947725f47:f299fe22f7b9830e"}}}},
    {"--explain", {{{"--explain"}}}},
    {"--fingerprint", {{{"--fingerprint"}}}},
    {"--float-order", {{{"--float-order=numeric"}}}},
    {"--form", {{{"--form=d"}}, {{"--form=d", "--share=0/2"}}}},
    {"--from", {{{"--from=d"}}}},
    {"--from=DIR,...", {{{"--from=d"}}}},
    {"--inputs-here", {{{"--inputs-here"}}}},
    {"--intersect",
     {{{"--intersect"}}, {{"-m", "--intersect"}}, {joined({"--intersect"}, kTwoSorted)}}},
    {"--join", {{{"--join=2"}}, {{"--join=2", "-o", "out"}}}},
    {"--key", {{{"--key=a", "--format=npy"}}}},
    {"--merge", {{{"-m"}}}},
    {"--merge of SOSD files", {{{"-m", "--format=sosd", "-t", "u64"}}}},
    {"--min-count", {{{"--min-count=2"}}}},
    {"--no-verify", {{{"--no-verify"}}}},
    {"--output", {{{"-o", "out"}}}},
    {"--output with {rank} in the name, once", {{{"-o", "out-{rank}"}}}},
    {"--parts", {{{"--parts"}}}},
    {"--record", {{{"--record=12", "--key=0:u32"}}, {{"--record=12", "--format=npy"}}}},
    {"--replace=write", {{{"--replace=write"}}}},
    {"--resume", {{{"--resume=d"}}}},
    {"--reverse", {{{"-r"}}}},
    {"SEED", {{{"--shuffle=7"}}}},
    {"--share", {{{"--share=0/2"}}}},
    {"--share=I/P", {{{"--share=0/2"}}}},
    {"--shuffle", {{{"--shuffle"}}, {{"--shuffle=7"}}}},
    {"--shuffle without SEED", {{{"--shuffle"}}}},
    {"--skip", {{{"--skip=8"}}}},
    {"--skip-end", {{{"--skip-end=8"}}}},
    {"--split-output", {{{"--split-output=3"}}, {{"--split-output=3", "-o", "out-{}"}}}},
    {"--stats", {{{"--stats=s"}}}},
    {"--subtract",
     {{{"--subtract"}}, {{"-m", "--subtract"}}, {joined({"--subtract"}, kTwoSorted)}}},
    {"--take",
     {{{"--take=0/2"}}, {{"--take=0/2", "-o", "out"}}, {{"--take=0/2", "--from=d", "-o", "out"}}}},
    {"--take=I/P", {{{"--take=0/2"}}}},
    {"--temporary-directory", {{{"-T", "/tmp"}}}},
    {"--top", {{{"--top=3"}}}},
    {"--trace", {{{"--trace=t"}}}},
    {"--type", {{{"-t", "u64"}}}},
    {"--unique", {{{"-u"}}}},
    {"--verify-encoding", {{{"--verify-encoding"}}}},
    {"an array of records", {{{"c.npy"}, array_of_records()}}},
    {"an output with {} in its name, once", {{{"-o", "out-{}"}}}},
    {"at least two FILEs", {{{"a.u32", "b.u32"}}}},
    {"rows of an array", {{{"c.npy"}, array_of_rows()}}},
};

constexpr auto kNoEnvironment = [](const char*) -> const char* { return nullptr; };

// The message of the program's usage error; empty if there is none.
std::string complaint(const Strings& words, const StoredArray& stored, Program program,
                      const Environment& environment = kNoEnvironment) {
  std::vector<const char*> argv = {"gsort"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  try {
    Options options =
        parse_options(static_cast<int>(argv.size()), argv.data(), environment, {}, program);
    if (options.each) options = options_of_each(options, options.inputs.front(), kNoEnvironment);
    (void)make_job(options, stored);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return fmt::format("{}: {}\n{}", error.operation(), error.reason(), error.hint());
  }
  return "";
}

std::string expected(const OptionRule& rule, std::string_view one, std::string_view other) {
  const std::string why = fmt::format(fmt::runtime(rule.why), one, other);
  return rule.relation == Relation::kNeeds
             ? fmt::format("option {}: needs {}\n{}", one, other, why)
             : fmt::format("options {} and {}: cannot be combined\n{}", one, other, why);
}

// Whether the words of both give the message, and those of one do not; for kNeeds, the reverse.
bool is_reported(const Given& one, const Given& other, const OptionRule& rule,
                 const std::string& message) {
  const bool needs = rule.relation == Relation::kNeeds;
  for (const Program program : {Program::kGsort, Program::kCluster}) {
    const auto says = [&](const Strings& words, const StoredArray& stored) {
      return complaint(words, stored, program) == message;
    };
    const StoredArray& stored =
        other.stored.key || other.stored.records ? other.stored : one.stored;
    const bool together = says(joined(one.words, other.words), stored);
    if (needs ? says(one.words, one.stored) && !together
              : together && !says(one.words, one.stored) && !says(other.words, other.stored)) {
      return true;
    }
  }
  return false;
}

TEST(OptionRules, AreReportedForACommandOfEveryRow) {
  for (const RuleSet set : kAllRuleSets) {
    for (const OptionRule& rule : rules_of(set)) {
      const auto others = rule.relation == Relation::kNeeds ? rule.other.first(1) : rule.other;
      for (const Term& one : rule.one) {
        for (const Term& other : others) {
          const std::string message = expected(rule, one.name, other.name);
          bool found = false;
          ASSERT_TRUE(kWays.contains(one.name) && kWays.contains(other.name)) << message;
          for (const Given& left : kWays.find(one.name)->second) {
            for (const Given& right : kWays.find(other.name)->second) {
              found = found || is_reported(left, right, rule, message);
            }
          }
          EXPECT_TRUE(found) << message;
        }
      }
    }
  }
}

std::string complaint_of_gsort(const Strings& words, const char* in_environment = nullptr) {
  return complaint(words, {}, Program::kGsort, [&](const char* name) {
    return std::string_view(name) == "GSORT_OPTIONS" ? in_environment : nullptr;
  });
}

TEST(OptionRules, AreNotReportedForCommandsOfOtherElements) {
  EXPECT_EQ(complaint_of_gsort({"--engine=cuda", "-t", "u128", "a"}), "");
  EXPECT_EQ(complaint_of_gsort({"--engine=cuda", "--record=12", "--key=0:u32", "a"}), "");
  EXPECT_EQ(complaint_of_gsort({"--engine=cuda", "-t", "u64", "--batch-elements=5", "a"}), "");
  EXPECT_EQ(complaint_of_gsort({"-m", "--count", "-t", "u32", "a", "b"}), "");
}

TEST(OptionRules, WantTheNumberOnceInAName) {
  EXPECT_EQ(complaint_of_gsort({"--split-output=3", "a", "-o", "out-{}"}), "");
  const std::string twice = complaint_of_gsort({"--split-output=3", "a", "-o", "{}-{}"});
  EXPECT_EQ(twice.substr(0, twice.find('\n')),
            "option --split-output: needs an output with {} in its name, once");
}

TEST(OptionRules, SayWhatIsInTheEnvironment) {
  EXPECT_EQ(complaint_of_gsort({"--engine=cpu", "a"}, "--device=0,1"), "");
  const auto options = [](const std::string& text) { return text.substr(0, text.find(':')); };
  EXPECT_EQ(options(complaint_of_gsort({"--resume=d", "a", "-o", "out"}, "-T /tmp")),
            "options --resume and --temporary-directory in GSORT_OPTIONS");
  EXPECT_EQ(options(complaint_of_gsort({"--resume=d", "a", "-o", "out", "-T", "/tmp"})),
            "options --resume and --temporary-directory");
}

}  // namespace
}  // namespace gsort
