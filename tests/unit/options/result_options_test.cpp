#include "options/result_options.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "options/option_rules.hpp"

namespace gsort {
namespace {

template <class F>
std::string complaint(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "";
}

TEST(ResultOptions, ReadNumbersOfElements) {
  Options options;
  EXPECT_EQ(parse_elements("0", "--top"), 0U);
  EXPECT_EQ(parse_elements("18446744073709551615", "--top"), UINT64_MAX);
  set_batch_elements(options, "1");
  EXPECT_EQ(options.batch_elements, 1U);
}

TEST(ResultOptions, RefuseWhatIsNoNumberOfElements) {
  for (const char* const text : {"", "x", "-1", "1K", "1 ", "18446744073709551616"}) {
    Options options;
    EXPECT_NE(complaint([&] { (void)parse_elements(text, "--top"); }), "") << text;
    EXPECT_NE(complaint([&] { set_batch_elements(options, text); }), "") << text;
  }
  Options options;
  EXPECT_NE(complaint([&] { set_batch_elements(options, "0"); }), "");
}

TEST(ResultOptions, MayStandBesideEachOtherWhereThatMeansSomething) {
  Options options;
  options.unique = options.merge = true;
  options.top = 3;
  EXPECT_EQ(complaint([&] { require_rules(RuleSet::kResult, options); }), "");
  Options check;
  check.check = CheckMode::kReport;
  check.unique = true;
  EXPECT_EQ(complaint([&] { require_rules(RuleSet::kResult, check); }), "");
  check.batch_elements = 5;
  EXPECT_EQ(complaint([&] { require_rules(RuleSet::kResult, check); }), "");
  Options fingerprint;
  fingerprint.fingerprint = true;
  fingerprint.batch_elements = 5;
  EXPECT_EQ(complaint([&] { require_rules(RuleSet::kResult, fingerprint); }), "");
}

TEST(ResultOptions, CompareSortedInputsOnly) {
  for (bool Options::*operation : {&Options::intersect, &Options::subtract}) {
    Options options;
    options.*operation = true;
    options.inputs = {"a", "b"};
    const auto said = [&] { return complaint([&] { require_rules(RuleSet::kResult, options); }); };
    EXPECT_NE(said().find("needs --merge"), std::string::npos) << said();
    options.merge = options.unique = true;
    options.top = 3;
    EXPECT_EQ(said(), "");
    options.inputs.pop_back();
    EXPECT_NE(said().find("at least two FILEs"), std::string::npos) << said();
    options.inputs.emplace_back("b");
    options.intersect = options.subtract = true;
    EXPECT_NE(said().find("options --intersect and --subtract"), std::string::npos) << said();
  }
}

TEST(ResultOptions, ThatExcludeEachOtherAreBothNamed) {
  const auto expect_named = [](const Options& options, const std::string& one,
                               const std::string& other) {
    const std::string text = complaint([&] { require_rules(RuleSet::kResult, options); });
    EXPECT_NE(text.find(one), std::string::npos) << text;
    EXPECT_NE(text.find(other), std::string::npos) << text;
  };
  Options check;
  check.check = CheckMode::kQuiet;
  Options fingerprint;
  fingerprint.fingerprint = true;
  Options batch;
  batch.batch_elements = 5;
  for (const auto& [first, name] : {std::pair<Options, std::string>(check, "--check"),
                                    {fingerprint, "--fingerprint"},
                                    {batch, "--batch-elements"}}) {
    Options options = first;
    options.top = 1;
    expect_named(options, name, "--top");
    options = first;
    options.merge = true;
    expect_named(options, name, "--merge");
  }
  check.fingerprint = true;
  expect_named(check, "--check", "--fingerprint");
  fingerprint.unique = true;
  expect_named(fingerprint, "--fingerprint", "--unique");
  batch.unique = true;
  expect_named(batch, "--batch-elements", "--unique");
  batch.unique = false;
  batch.engine = EngineChoice::kCuda;
  EXPECT_EQ(complaint([&] { require_rules(RuleSet::kResult, batch); }), "");
  batch.records.emplace();
  expect_named(batch, "--batch-elements with --record", "--engine=cuda");
  batch.records.reset();
  batch.key.type = KeyType::kU128;
  expect_named(batch, "--batch-elements of 128-bit keys", "--engine=cuda");
}

}  // namespace
}  // namespace gsort
