#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "options/option_spec.hpp"
#include "options/options.hpp"
#include "support/error_of.hpp"

namespace gsort {
namespace {

using Variables = std::map<std::string, std::string>;
using Strings = std::vector<std::string>;

Options parse(const Strings& arguments, const Variables& variables = {}) {
  std::vector<const char*> argv = {"gsort"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return parse_options(static_cast<int>(argv.size()), argv.data(),
                       [&variables](const char* name) -> const char* {
                         const auto found = variables.find(name);
                         return found == variables.end() ? nullptr : found->second.c_str();
                       });
}

// The message of the usage error that the arguments must give.
std::string complaint(const Strings& arguments, const Variables& variables = {}) {
  const Error error = test::error_of([&] { static_cast<void>(parse(arguments, variables)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  return error.what();
}

TEST(ParseOptions, GivesTheDefaultsForNothing) {
  const Options options = parse({});
  EXPECT_EQ(options.inputs, Strings{"-"});
  EXPECT_FALSE(options.output);
  EXPECT_EQ(options.key, KeyFormat{});
  EXPECT_EQ(options.key.type, KeyType::kI32);
  EXPECT_EQ(options.type_source, TypeSource::kDefault);
  EXPECT_TRUE(options.verify);
  EXPECT_EQ(options.verbosity, 0);
  EXPECT_EQ(options.engine, EngineChoice::kAuto);
}

TEST(ParseOptions, WorksWithoutEvenAProgramName) {
  EXPECT_EQ(parse_options(0, nullptr, [](const char*) { return nullptr; }).inputs, Strings{"-"});
}

TEST(OptionWords, LeaveOutOperandsOnlyWhereTheyAreNoValues) {
  const Strings typed = {"a", "--inputs-here", "out", "-t", "u32", "-o", "out", "--", "out", "-r"};
  const Strings options = {"--inputs-here", "-t", "u32", "-o", "out"};
  EXPECT_EQ(option_words(typed, Program::kCluster), options);
}

TEST(ParseOptions, ReadsEveryOption) {
  const Options o =
      parse({"--type=u64", "--endian=big", "--reverse", "--output=out", "--temporary-directory=/a",
             "--buffer-size=512M", "--gpu-memory=50%", "--parallel=3", "--batch-size=17",
             "--engine=cpu", "--device=1", "--direct-io=off", "--no-verify", "--progress=json",
             "--color=never", "--stats=s", "--trace=t", "-vv", "in"});
  EXPECT_EQ(o.key, (KeyFormat{KeyType::kU64, true, true}));
  EXPECT_EQ(o.output, "out");
  EXPECT_EQ(o.temporary_directories, Strings{"/a"});
  EXPECT_EQ(o.buffer_size, "512M");
  EXPECT_EQ(o.gpu_memory, "50%");
  EXPECT_EQ(o.parallel, 3U);
  EXPECT_EQ(o.batch_size, 17U);
  EXPECT_EQ(o.engine, EngineChoice::kCpu);
  EXPECT_EQ(o.devices.listed, std::vector<unsigned>{1});
  EXPECT_EQ(o.direct_io, DirectIo::kOff);
  EXPECT_FALSE(o.verify);
  EXPECT_EQ(o.progress, ProgressMode::kJson);
  EXPECT_EQ(o.color, ColorMode::kNever);
  EXPECT_EQ(o.stats, "s");
  EXPECT_EQ(o.trace, "t");
  EXPECT_EQ(o.verbosity, 2);
  EXPECT_EQ(o.inputs, Strings{"in"});
}

TEST(ParseOptions, ProvesWhatIsEncodedWhereThatIsAskedFor) {
  EXPECT_FALSE(parse({"in"}).verify_encoding);
  EXPECT_TRUE(parse({"--verify-encoding", "in"}).verify_encoding);
}

TEST(ParseOptions, TakesManyInputsForAFingerprint) {
  const Options o = parse({"--fingerprint", "a.u64", "b.u64"});
  EXPECT_TRUE(o.fingerprint);
  EXPECT_EQ(o.inputs, (Strings{"a.u64", "b.u64"}));
  EXPECT_FALSE(parse({"a.u64"}).fingerprint);
}

TEST(ParseOptions, TakesAnExpectedFingerprintWhereOneIsComputed) {
  const std::string expected = "3e8:f1df234947725f47:f299fe22f7b9830e";
  const std::string expect = "--expect=" + expected;
  for (const std::string job : {"-c", "-C", "--fingerprint"}) {
    EXPECT_EQ(parse({job, expect, "in"}).expected, expected);
    EXPECT_EQ(parse({job, "in"}).expected, std::nullopt);
    EXPECT_EQ(complaint({job, expect + "0", "in"}).find("--expect '3e8:"), 0U);
  }
  EXPECT_EQ(complaint({expect, "in"}).find("option --expect: needs --check or --fingerprint"), 0U);
}

TEST(ParseOptions, ReadsLettersAloneJoinedAndWithTheirValue) {
  const Options o = parse({"-rvt", "u8", "-S4G", "-oout", "-T", "/a", "-T/b", "in"});
  EXPECT_EQ(o.key, (KeyFormat{KeyType::kU8, false, true}));
  EXPECT_EQ(o.verbosity, 1);
  EXPECT_EQ(o.buffer_size, "4G");
  EXPECT_EQ(o.output, "out");
  EXPECT_EQ(o.temporary_directories, (Strings{"/a", "/b"}));
  EXPECT_EQ(o.inputs, Strings{"in"});
}

TEST(ParseOptions, TakesOptionsAfterFilesAndFilesAfterTwoDashes) {
  const Options o = parse({"a", "-r", "b", "--", "-c", "--explain"});
  EXPECT_EQ(o.inputs, (Strings{"a", "b", "-c", "--explain"}));
  EXPECT_TRUE(o.key.descending);
  EXPECT_EQ(o.check, CheckMode::kNone);
}

TEST(ParseOptions, LetsTheLastOfTwoWin) {
  const Options o =
      parse({"-t", "u8", "-S1G", "--engine=cuda", "-t", "f64", "-S2G", "--engine=cpu"});
  EXPECT_EQ(o.key.type, KeyType::kF64);
  EXPECT_EQ(o.buffer_size, "2G");
  EXPECT_EQ(o.engine, EngineChoice::kCpu);
  EXPECT_EQ(parse({"-vv", "-q"}).verbosity, -1);
  EXPECT_EQ(parse({"-q", "-v"}).verbosity, 1);
}

TEST(ParseOptions, LeavesTheNextWordToExplainAlone) {
  const Options o = parse({"--explain", "input"});
  EXPECT_EQ(o.explain, ExplainMode::kText);
  EXPECT_EQ(parse({"--explain=json", "in"}).explain, ExplainMode::kJson);
  EXPECT_EQ(o.inputs, Strings{"input"});
}

TEST(ParseOptions, TakesTheTypeFromOptionThenSuffixThenEnvironment) {
  const Variables variables = {{"GSORT_TYPE", "i16"}};
  const Options by_option = parse({"-t", "u8", "a.f32"}, variables);
  EXPECT_EQ(by_option.key.type, KeyType::kU8);
  EXPECT_EQ(by_option.type_source, TypeSource::kOption);
  const Options by_suffix = parse({"a.f32", "b.u64"}, variables);
  EXPECT_EQ(by_suffix.key.type, KeyType::kF32);
  EXPECT_EQ(by_suffix.type_source, TypeSource::kSuffix);
  const Options by_environment = parse({"a.bin"}, variables);
  EXPECT_EQ(by_environment.key.type, KeyType::kI16);
  EXPECT_EQ(by_environment.type_source, TypeSource::kEnvironment);
  EXPECT_EQ(parse({"a.bin"}, {{"GSORT_TYPE", ""}}).type_source, TypeSource::kDefault);
}

TEST(ParseOptions, NeedsNoTypeForRecordsWhoseKeysHaveTheirOwn) {
  EXPECT_EQ(parse({"--record=8", "--key=0:u32,4:bytes2", "in"}).type_source,
            TypeSource::kRecordKeys);
  EXPECT_EQ(parse({"--record=8", "--key=0:u32,4", "in"}).type_source, TypeSource::kDefault);
  EXPECT_EQ(parse({"-t", "u8", "--record=8", "--key=0:u32", "in"}).type_source,
            TypeSource::kOption);
}

TEST(ParseOptions, PutsTheEnvironmentsOptionsBeforeTheArguments) {
  const Variables variables = {{"GSORT_OPTIONS", "--parallel=2 -T '/my disk' --engine=cpu"}};
  const Options o = parse({"--parallel=3", "-T", "b"}, variables);
  EXPECT_EQ(o.parallel, 3U);
  EXPECT_EQ(o.engine, EngineChoice::kCpu);
  EXPECT_EQ(o.temporary_directories, (Strings{"/my disk", "b"}));
}

TEST(ParseOptions, RefusesOptionsOfTheEnvironmentThatChangeTheResult) {
  for (const OptionSpec& spec : option_table()) {
    const std::string name = display_name(spec);
    const std::string words = name + (!spec.takes_value() ? "" : spec.name.empty() ? " 1" : "=1");
    const bool refused =
        complaint({}, {{"GSORT_OPTIONS", words + " file"}})
            .starts_with("option " + name +
                         " in GSORT_OPTIONS: is allowed on the command line only\n");
    EXPECT_EQ(refused, !spec.in_environment) << words;
  }
}

TEST(ParseOptions, KeepsRatesUnlessTheEnvironmentSaysOff) {
  EXPECT_TRUE(parse({}).keep_rates);
  EXPECT_TRUE(parse({}, {{"GSORT_CACHE", ""}}).keep_rates);
  EXPECT_TRUE(parse({}, {{"GSORT_CACHE", "on"}}).keep_rates);
  EXPECT_FALSE(parse({}, {{"GSORT_CACHE", "off"}}).keep_rates);
  EXPECT_EQ(complaint({}, {{"GSORT_CACHE", "no"}}),
            "GSORT_CACHE 'no': is not one of its values\n  the values are on, off");
}

TEST(ParseOptions, RefusesFilesAndBadQuotesInTheEnvironment) {
  EXPECT_NE(complaint({}, {{"GSORT_OPTIONS", "-v file"}})
                .find("'file' in GSORT_OPTIONS: is not an option"),
            std::string::npos);
  EXPECT_NE(complaint({}, {{"GSORT_OPTIONS", "-v \\"}}).find("has an open quotation"),
            std::string::npos);
  EXPECT_EQ(complaint({}, {{"GSORT_TYPE", "int"}}).find("GSORT_TYPE 'int': "), 0U);
}

TEST(ParseOptions, SuggestsTheNameThatWasMeant) {
  EXPECT_EQ(complaint({"--bufer-size=4G"}),
            "option '--bufer-size': is unknown\n  did you mean --buffer-size?");
  EXPECT_NE(complaint({"--buffer=4G"}).find("--buffer-size?"), std::string::npos);
}

TEST(ParseOptions, NamesTheLetterThatIsUnknown) {
  EXPECT_EQ(complaint({"-rx"}).find("option '-x': is unknown"), 0U);
}

TEST(ParseOptions, RefusesMissingAndSuperfluousValues) {
  EXPECT_EQ(complaint({"--output"}).find("option '--output': needs a value"), 0U);
  EXPECT_EQ(complaint({"--output="}).find("option '--output': needs a value"), 0U);
  EXPECT_EQ(complaint({"--reverse=yes"}).find("option '--reverse': takes no value"), 0U);
  EXPECT_EQ(complaint({"-r=yes"}).find("option '-r': takes no value"), 0U);
}

TEST(ParseOptions, RefusesASizeWithoutAUnit) {
  const std::string message = complaint({"-S", "512"});
  EXPECT_EQ(message.find("--buffer-size '512': has no unit"), 0U);
  EXPECT_NE(message.find("512M"), std::string::npos);
}

TEST(ParseOptions, RefusesContradictions) {
  EXPECT_EQ(complaint({"-o", "a", "-o", "b"}).find("--output 'b'"), 0U);
  EXPECT_EQ(complaint({"-", "-"}).find("operand '-'"), 0U);
  EXPECT_EQ(parse({"-o", "a", "-o", "a"}).output, "a");
}

TEST(ParseOptions, ChecksEachOfSeveralFiles) {
  EXPECT_TRUE(parse({"-c", "a", "b"}).each);
  EXPECT_FALSE(parse({"-c", "a"}).each);
}

TEST(ParseOptions, TakesTheInputsFromAList) {
  const char* const argv[] = {"gsort", "--files0-from=list"};
  const auto none = [](const char*) { return nullptr; };
  const Options o = parse_options(2, argv, none, [](const std::string& list) {
    EXPECT_EQ(list, "list");
    return Strings{"a.u16", "b"};
  });
  EXPECT_EQ(o.inputs, (Strings{"a.u16", "b"}));
  EXPECT_EQ(o.key.type, KeyType::kU16);
  EXPECT_EQ(complaint({"--files0-from=list", "x"}).find("operand 'x': cannot be combined with"),
            0U);
}

TEST(ParseOptions, AnswersHelpWithoutCheckingMore) {
  EXPECT_EQ(parse({"-h"}).show, Show::kHelp);
  EXPECT_EQ(parse({"--help"}).show, Show::kFullHelp);
  EXPECT_EQ(parse({"-V"}).show, Show::kVersion);
  EXPECT_EQ(parse({"-h", "-c", "a", "b"}, {{"GSORT_TYPE", "int"}}).show, Show::kHelp);
}

}  // namespace
}  // namespace gsort
