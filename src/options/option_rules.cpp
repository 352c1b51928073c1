#include "options/option_rules.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "form/npy.hpp"

namespace gsort {
namespace {

using enum Relation;
using Why = std::string_view;
using A = const Asked&;

template <auto kMember>
bool has(A a) {
  return a.options.*kMember != std::remove_cvref_t<decltype(a.options.*kMember)>{};
}

// Terms, each as a list of one.
constexpr Term kArgsort[] = {{"--argsort", has<&Options::argsort>}};
constexpr Term kBatches[] = {{"--batch-elements", has<&Options::batch_elements>}};
constexpr Term kCheck[] = {{"--check", has<&Options::check>}};
constexpr Term kCompress[] = {{"--compress", has<&Options::compress>}};
constexpr Term kCount[] = {{"--count", has<&Options::count>}};
constexpr Term kEach[] = {{"--each", has<&Options::each>}};
constexpr Term kExpect[] = {{"--expect", has<&Options::expected>}};
constexpr Term kExplain[] = {{"--explain", has<&Options::explain>}};
constexpr Term kFingerprint[] = {{"--fingerprint", has<&Options::fingerprint>}};
constexpr Term kForm[] = {{"--form", has<&Options::form>}};
constexpr Term kFrom[] = {{"--from", has<&Options::from>}};
constexpr Term kInputsHere[] = {{"--inputs-here", has<&Options::inputs_here>}};
constexpr Term kIntersect[] = {{"--intersect", has<&Options::intersect>}};
constexpr Term kJoin[] = {{"--join", has<&Options::join>}};
constexpr Term kMerge[] = {{"--merge", has<&Options::merge>}};
constexpr Term kMinCount[] = {{"--min-count", has<&Options::min_count>}};
constexpr Term kOutput[] = {{"--output", has<&Options::output>}};
constexpr Term kParts[] = {{"--parts", has<&Options::parts>}};
constexpr Term kReplaceWrite[] = {{"--replace=write", has<&Options::writes_into_file>}};
constexpr Term kResume[] = {{"--resume", has<&Options::resume>}};
constexpr Term kShare[] = {{"--share", has<&Options::share>}};
constexpr Term kShuffle[] = {{"--shuffle", has<&Options::shuffle>}};
constexpr Term kDrawnShuffle[] = {{"--shuffle", has<&Options::draws_seed>}};
constexpr Term kSeed[] = {{"SEED", [](A a) { return !a.options.draws_seed; }}};
constexpr Term kRandomShuffle[] = {{"--shuffle without SEED", has<&Options::draws_seed>}};
constexpr Term kSkip[] = {
    {"--skip", [](A a) { return a.options.input_form.skip_bytes > 0; }},
    {"--skip-end", [](A a) { return a.options.input_form.skip_end_bytes > 0; }},
    {"--elements", [](A a) { return a.options.input_form.elements.has_value(); }}};
constexpr Term kSplit[] = {{"--split-output", has<&Options::split_output>}};
constexpr Term kStats[] = {{"--stats", has<&Options::stats>}};
constexpr Term kSubtract[] = {{"--subtract", has<&Options::subtract>}};
constexpr Term kTake[] = {{"--take", has<&Options::take>}};
constexpr Term kTemporary[] = {{"--temporary-directory", has<&Options::temporary_directories>}};
constexpr Term kTop[] = {{"--top", has<&Options::top>}};
constexpr Term kTrace[] = {{"--trace", has<&Options::trace>}};
constexpr Term kUnique[] = {{"--unique", has<&Options::unique>}};
constexpr Term kVerifyEncoding[] = {{"--verify-encoding", has<&Options::verify_encoding>}};

constexpr Term kReads[] = {*kFingerprint, *kCheck};
constexpr Term kCheckOrFingerprint[] = {{"--check or --fingerprint", has<&Options::check>},
                                        *kFingerprint};
constexpr Term kSetOperations[] = {*kIntersect, *kSubtract};
constexpr Term kUniqueOrMerge[] = {*kUnique, *kMerge};
constexpr Term kUnknownLength[] = {*kUnique, *kCount, *kIntersect, *kSubtract};
constexpr Term kReports[] = {*kStats, *kTrace};
constexpr Term kTwoFiles[] = {
    {"at least two FILEs", [](A a) { return a.options.inputs.size() >= 2; }}};
constexpr Term kRecords[] = {
    {"an array of records", [](A a) { return a.stored.records && !a.are_of_bytes; }},
    {"--record", [](A a) { return a.options.records && !are_strings(*a.options.records); }}};
constexpr Term kRows[] = {{"rows of an array", [](A a) { return io::has_rows(a.stored); }}};
constexpr Term kRowBatches[] = {{"--batch-elements (the rows of the array)", kRows->is_given}};
constexpr Term kArrays[] = {*kRowBatches, *kBatches};
constexpr Term kOfAllElements[] = {
    {"--unique", [](A a) { return a.options.unique && a.options.check == CheckMode::kNone; }},
    *kTop,
    *kMerge};
constexpr Term kEngineCuda[] = {
    {"--engine=cuda", [](A a) { return a.options.engine == EngineChoice::kCuda; }}};

bool has_arrays(A a) {
  return kRows->is_given(a) || kBatches->is_given(a);
}

constexpr Term kRecordBatches[] = {{"--batch-elements with --record", [](A a) {
                                      return has_arrays(a) &&
                                             (a.options.records || a.stored.records);
                                    }}};
constexpr Term kWideBatches[] = {{"--batch-elements of 128-bit keys", [](A a) {
                                    return has_arrays(a) &&
                                           bytes_of(a.options.key.type) > sizeof(std::uint64_t);
                                  }}};
constexpr Term kSeveralChecked[] = {{"--check of several FILEs", [](A a) {
                                       return a.options.check != CheckMode::kNone &&
                                              a.options.inputs.size() > 1;
                                     }}};
constexpr Term kMergeOfSosd[] = {
    {"--merge of SOSD files", [](A a) {
       return a.options.adds_counts() &&
              std::ranges::any_of(a.options.inputs, [a](const std::string& input) {
                return format_of_input(a.options.input_form, input) == FileFormat::kSosd;
              });
     }}};

bool output_has_once(A a, std::string_view place) {
  const std::string name = a.options.output.value_or("");
  const auto found = name.find(place);
  return found != name.npos && name.find(place, found + 1) == name.npos;
}

constexpr Term kSplitAlone[] = {
    {"--split-output", [](A a) { return a.options.split_output && !a.options.parts; }}};
constexpr Term kPlaceOfNumber[] = {
    {"an output with {} in its name, once", [](A a) { return output_has_once(a, "{}"); }}};
constexpr Term kPlaceOfRank[] = {
    {"--output with {rank} in the name, once", [](A a) { return output_has_once(a, "{rank}"); }}};

constexpr Term kTakeOrJoin[] = {*kTake, *kJoin};
constexpr Term kFormOrJoin[] = {*kForm, *kJoin};
constexpr Term kSteps[] = {*kForm, *kTake, *kJoin};
constexpr Term kOfOrder[] = {{"--reverse", [](A a) { return a.options.key.descending; }},
                             {"--key", has<&Options::record_keys>},
                             *kUnique,
                             *kMerge,
                             *kArgsort};
constexpr Term kForOneProcess[] = {*kArgsort, *kTop, *kMerge, *kBatches, *kResume, *kSplit};
constexpr Term kShareOf[] = {{"--share=I/P", has<&Options::share>}};
constexpr Term kTakeOf[] = {{"--take=I/P", has<&Options::take>}};
constexpr Term kFromFolders[] = {{"--from=DIR,...", has<&Options::from>}};
constexpr Term kNamedOutput[] = {
    {"--output", [](A a) { return a.options.output.value_or("-") != "-"; }}};
constexpr Term kOfRuns[] = {
    {"--type", [](A a) { return a.options.type_source == TypeSource::kOption; }},
    {"--endian", has<&Options::byte_order_is_asked>},
    {"--reverse", [](A a) { return a.options.key.descending; }},
    {"--float-order", has<&Options::float_order_is_asked>},
    {"--record", has<&Options::record_bytes>},
    {"--key", has<&Options::record_keys>},
    *kShuffle,
    {"--no-verify", [](A a) { return !a.options.verify; }},
    kSkip[0],
    kSkip[1],
    kSkip[2]};
constexpr Term kNotInPlace[] = {*kResume, *kSplit, *kForm, *kTake, *kJoin, *kFingerprint, *kCheck};
constexpr Term kEngineCpu[] = {
    {"--engine=cpu", [](A a) { return a.options.engine == EngineChoice::kCpu; }}};
// A list in GSORT_OPTIONS is for sorts that use GPUs.
constexpr Term kSeveralDevices[] = {{"--device with several devices", [](A a) {
                                       const auto& from = a.options.from_environment;
                                       return a.options.devices.listed.size() > 1 &&
                                              std::ranges::count(from, "--device") == 0;
                                     }}};

// Hints that several rows share.
constexpr Why kLeaveOutOne = "leave out one of them";
constexpr Why kOnlyMeasured = "only a sort can be measured; leave out one of them";
constexpr Why kOnlyWritten = "only a sort has an output; leave out one of them";
constexpr Why kRavel = "save array.ravel() to sort all of it";
constexpr Why kMeasureOne = "sort one FILE at a time to measure it";
constexpr Why kWithTake = "give it with each --take, where -o has {{}} in the name";
constexpr Why kOneProcess = "leave out {1}: only one process alone can do it";
constexpr Why kSameSeed = "give SEED a number, so that all processes have the same order";
constexpr Why kRunTwice = "run gsort twice";

constexpr OptionRule kEachRules[] = {
    {kSteps, kNotWith, kEach, kOneProcess},
    {kEach, kNotWith, kMerge, "a merge makes one output of all FILEs; leave out one of them"},
    {kEach, kNotWith, kFingerprint, "run it once for each FILE"},
    {kEach, kNotWith, kExplain, "explain one FILE at a time"},
    {kEach, kNotWith, kResume, "resume one FILE at a time"},
    {kEach, kNotWith, kSplit, "split one FILE at a time"},
    {kEach, kNotWith, kReports, kMeasureOne},
    {kEach, kNotWith, kExpect, "check one FILE at a time"},
};

constexpr OptionRule kReportRules[] = {
    {kStats, kNotWith, kReads, kOnlyMeasured},
    {kStats, kNotWith, kExplain, kOnlyMeasured},
    {kTrace, kNotWith, kReads, kOnlyMeasured},
    {kTrace, kNotWith, kExplain, kOnlyMeasured},
};

constexpr OptionRule kResultRules[] = {
    {kOfAllElements, kNotWith, kRowBatches, kRavel},
    {kOfAllElements, kNotWith, kBatches, "every array is sorted on its own and keeps its elements"},
    {kEngineCuda, kNotWith, kRecordBatches,
     "arrays of records are sorted on the CPU; leave out --engine"},
    {kEngineCuda, kNotWith, kWideBatches,
     "arrays of such keys are sorted on the CPU; leave out --engine"},

    {kIntersect, kNotWith, kSubtract, "run gsort twice; - reads the first result from a pipe"},
    {kSetOperations, kNeeds, kMerge, "sort each FILE, then add -m"},
    {kSetOperations, kNeeds, kTwoFiles, "name all FILEs to compare; -u alone takes one"},

    {kCheck, kNotWith, kMerge, "--merge checks the order of its inputs; leave out one of them"},
    {kCheck, kNotWith, kFingerprint, "--check prints the fingerprint, too; leave out one of them"},
    {kFingerprint, kNotWith, kMerge,
     "a fingerprint does not depend on the order; leave out one of them"},
    {kFingerprint, kNotWith, kUnique, "--fingerprint looks at all elements; leave out one of them"},

    {kSplitAlone, kNotWith, kReads, kOnlyWritten},
    {kSplitAlone, kNotWith, kUnknownLength,
     "the number of keys is not known in advance; write one output, then split it in a second run"},
    {kSplitAlone, kNotWith, kResume, "sort into one output, and split it in another run"},
    {kSplitAlone, kNotWith, kRows, "save array.ravel(), or write one output"},
    {kSplitAlone, kNeeds, kPlaceOfNumber,
     "{{}} becomes the number of the part, as in part-{{}}.u64"},

    {kArgsort, kNotWith, kReads, kOnlyWritten},
    {kArgsort, kNotWith, kSetOperations,
     "positions count the elements of all FILEs; leave out one of them"},
    {kArgsort, kNotWith, kMerge, "leave out -m: all FILEs are sorted as one sequence"},
    {kArgsort, kNotWith, kCount, "-u --argsort writes where each key occurs first"},
    {kArgsort, kNotWith, kRows, kRavel},
    {kArgsort, kNotWith, kBatches, "sort one array at a time, or all elements as one"},

    {kShuffle, kNotWith, kReads, kOnlyWritten},
    {kShuffle, kNotWith, kOfOrder, "a shuffle does not compare elements; leave out {1}"},
    {kShuffle, kNotWith, kBatches, "shuffle all elements as one, or one array at a time"},
    {kShuffle, kNotWith, kInputsHere,
     "positions count the elements of all FILEs, so all processes must see these; leave out one of "
     "them"},
    {kRandomShuffle, kNotWith, kResume, "give SEED a number, so that the same command continues"},

    {kCount, kNeeds, kUniqueOrMerge, "add -u: one of each key comes out, with its count"},
    {kCount, kNotWith, kCheck, "--check -u says whether keys repeat"},
    {kCount, kNotWith, kSetOperations,
     "write the result with -o first, and count keys in another run"},
    {kCount, kNotWith, kRecords, "only keys are counted, not records: give the keys alone"},
    {kCount, kNotWith, kTop,
     "write all counts, then take the first ones, for lines of text with head"},
    {kCount, kNotWith, kMergeOfSosd, "they hold only keys; add -u to count these"},
    {kMinCount, kNeeds, kCount, "add -u --count: each key comes out with its count"},

    {kSeveralChecked, kNotWith, kExpect, "check one FILE at a time"},
    {kExpect, kNeeds, kCheckOrFingerprint,
     "a sort verifies its own output; to check a file, add --check"},
    {kReads, kNotWith, kTop, "{0} looks at all elements; leave out one of them"},
    {kReads, kNotWith, kExplain, "{0} has no plan, it reads its input once; leave out one of them"},

    {kResume, kNotWith, kReads, "only a sort can be resumed"},
    {kResume, kNotWith, kMerge, "a merge reads its inputs once and cannot resume"},
    {kResume, kNotWith, kArrays, "arrays are sorted one by one and cannot resume"},
    {kResume, kNotWith, kTemporary, "runs are kept in the folder of --resume; leave out -T"},
};

constexpr OptionRule kPartRules[] = {
    {kDrawnShuffle, kNeeds, kSeed, kSameSeed},
    {kParts, kNotWith, kReads, kOnlyWritten},
    {kParts, kNeeds, kPlaceOfRank,
     "{{rank}} becomes the number of the process, as in -o sorted-{{rank}}.u64"},
};

constexpr OptionRule kShareRules[] = {
    {kShare, kNeeds, kForm, "--share=I/P is the share of the input that --form reads"},
    {kInputsHere, kNeeds, kForm, "--inputs-here says that the FILEs are those of one share"},
    {kFrom, kNeeds, kTakeOf, "--from names the folders that --take reads"},
    {kForm, kNotWith, kTakeOrJoin, kRunTwice},
    {kTake, kNotWith, kJoin, kRunTwice},
    {kFormOrJoin, kNotWith, kUnique, kWithTake},
    {kSteps, kNotWith, kForOneProcess, kOneProcess},
    {kFormOrJoin, kNotWith, kVerifyEncoding, kWithTake},
    {kJoin, kNotWith, kExplain, kOneProcess},
    {kSteps, kNotWith, kReads, kOneProcess},

    {kForm, kNeeds, kShareOf, "--share=0/1 is the whole input"},
    {kForm, kNotWith, kOutput, "give -o with --take and --join"},
    {kForm, kNotWith, kRandomShuffle, kSameSeed},
    {kForm, kNotWith, kTemporary, "leave out -T: the runs stay in the folder of --form"},
    {kForm, kNotWith, kCompress, kWithTake},
    {kForm, kNotWith, kSkip, "copy the elements into files of their own first"},
    {kTakeOrJoin, kNeeds, kNamedOutput, "give every part and --join the same -o"},
};

constexpr OptionRule kOrderOfShareRules[] = {
    {kTakeOrJoin, kNotWith, kOfRuns, "give it with --form only, which records it with the runs"},
    {kJoin, kNotWith, kTemporary, "leave out -T: there are no temporary files"},
    {kTake, kNeeds, kFromFolders, "name the folders of all shares, which --form made"},
    {kJoin, kNotWith, kReports, "--join sorts nothing; measure --form and --take"},
};

constexpr OptionRule kOutputRules[] = {
    // These only make new files, or continue after a killed process, which may have written a part.
    {kReplaceWrite, kNotWith, kNotInPlace, kLeaveOutOne},
    {kReads, kNotWith, kOutput, "{0} has no output; leave out one of them"},
    {kEngineCpu, kNotWith, kSeveralDevices, kLeaveOutOne},
};

// In the order of RuleSet.
constexpr std::span<const OptionRule> kRules[] = {kEachRules,  kReportRules, kResultRules,
                                                  kPartRules,  kShareRules,  kOrderOfShareRules,
                                                  kOutputRules};

const Term* first_given(std::span<const Term> terms, A asked) {
  const auto found =
      std::ranges::find_if(terms, [&](const Term& term) { return term.is_given(asked); });
  return found == terms.end() ? nullptr : &*found;
}

// `option` may have a value or words after its name.
std::string with_origin(const Options& options, std::string_view option) {
  const std::string_view name = option.substr(0, option.find_first_of(" ="));
  const bool is_there = std::ranges::count(options.from_environment, name) > 0;
  return fmt::format("{}{}", option, is_there ? " in GSORT_OPTIONS" : "");
}

void require_rule(const OptionRule& rule, A asked) {
  const Term* const one = first_given(rule.one, asked);
  if (one == nullptr) return;
  const Term* other = first_given(rule.other, asked);
  if ((other != nullptr) == (rule.relation == kNeeds)) return;
  if (other == nullptr) other = rule.other.data();
  const std::string why = fmt::format(fmt::runtime(rule.why), one->name, other->name);
  if (rule.relation == kNeeds) {
    throw Error(ErrorKind::kUsage, fmt::format("option {}", one->name),
                fmt::format("needs {}", other->name))
        .hint(why);
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("options {} and {}", with_origin(asked.options, one->name),
                          with_origin(asked.options, other->name)),
              "cannot be combined")
      .hint(why);
}

}  // namespace

std::span<const OptionRule> rules_of(RuleSet set) {
  return kRules[static_cast<std::size_t>(set)];
}

void require_rules(RuleSet set, const Options& options, const StoredArray& stored,
                   bool are_of_bytes) {
  for (const OptionRule& rule : rules_of(set)) require_rule(rule, {options, stored, are_of_bytes});
}

}  // namespace gsort
