#include "options/assumed_type.hpp"

#include <gtest/gtest.h>

#include "options/options.hpp"

namespace gsort {
namespace {

Options options_of(const std::vector<std::string>& inputs) {
  Options options;
  options.inputs = inputs;
  options.type_source = TypeSource::kDefault;
  return options;
}

std::string note_for(const Options& options) {
  return assumed_type_note(options, make_job(options));
}

bool is_assumed(const Options& options) {
  return type_is_assumed(options, make_job(options));
}

TEST(AssumedType, IsNamedInOneLine) {
  Options options = options_of({"in.bin"});
  EXPECT_EQ(note_for(options), "gsort: in.bin: no type given, read as i32 (-t TYPE)\n");
  options.inputs = {"-", "in.bin", "more.u64"};
  EXPECT_EQ(note_for(options),
            "gsort: standard input and 2 more: no type given, read as i32 (-t TYPE)\n");
  options.inputs = {"a\x1b[31m"};
  EXPECT_EQ(note_for(options), "gsort: a\\x1b[31m: no type given, read as i32 (-t TYPE)\n");
}

TEST(AssumedType, OfRecordsIsThatOfTheirKeys) {
  Options options = options_of({"in"});
  options.records.emplace();
  EXPECT_EQ(note_for(options), "gsort: in: no type given, keys read as i32 (-t TYPE)\n");
}

TEST(AssumedType, IsNoneWhereSomebodyGaveIt) {
  Options options = options_of({"in"});
  for (const TypeSource source : {TypeSource::kCaller, TypeSource::kOption, TypeSource::kSuffix,
                                  TypeSource::kEnvironment, TypeSource::kHeader}) {
    options.type_source = source;
    EXPECT_FALSE(is_assumed(options)) << describe(source);
    EXPECT_EQ(note_for(options), "");
  }
}

TEST(AssumedType, DoesNotMatterFromTextToText) {
  Options options = options_of({"in.txt"});
  EXPECT_FALSE(is_assumed(options));
  options.output = "out.bin";
  EXPECT_TRUE(is_assumed(options));
  options.check = CheckMode::kReport;
  options.output.reset();
  EXPECT_FALSE(is_assumed(options));
  options.inputs.emplace_back("in.bin");
  EXPECT_TRUE(is_assumed(options));
  options.input_form.format = FileFormat::kText;
  EXPECT_FALSE(is_assumed(options));
}

}  // namespace
}  // namespace gsort
