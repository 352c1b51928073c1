#include "options/result_options.hpp"

#include <string>
#include <vector>

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

TEST(TemporaryFolders, AreThoseAskedForElseTmpdirElseBesideTheOutputElseVarTmp) {
  using Folders = std::vector<std::string>;
  FileNames names;
  EXPECT_EQ(names.temporary_folders(""), Folders{"/var/tmp"});
  EXPECT_EQ(names.temporary_folders("/data"), Folders{"/data"});
  names.tmpdir = "/t";
  EXPECT_EQ(names.temporary_folders("/data"), Folders{"/t"});
  names.temporary_directories = {"/a", "/b"};
  EXPECT_EQ(names.temporary_folders("/data"), (Folders{"/a", "/b"}));
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

}  // namespace
}  // namespace gsort
