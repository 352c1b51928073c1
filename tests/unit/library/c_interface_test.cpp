#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "library/gsort.h"
#include "library/sort_file.hpp"
#include "options/pages/help.hpp"
#include "support/measured.hpp"
#include "support/sorted_copy.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using io::test::read_file;
using io::test::TempFolder;
using io::test::write_file;
using test::Bytes;
using Words = std::vector<const char*>;

constexpr KeyFormat kU32{KeyType::kU32};

Bytes keys_of(std::size_t count) {
  return test::generated(kU32, Distribution::kUniform, count);
}

gsort_report empty_report() {
  gsort_report report{};
  report.size = sizeof report;
  return report;
}

// `words` gets the NULL at its end.
gsort_status sort(const std::string& input, const std::string& output, Words words,
                  gsort_report* report = nullptr) {
  words.push_back(nullptr);
  const char* const inputs[] = {input.c_str()};
  return gsort_sort(inputs, 1, output.c_str(), words.data(), report);
}

gsort_status check(const std::string& input, Words words, gsort_report* report = nullptr) {
  words.push_back(nullptr);
  return gsort_check(input.c_str(), words.data(), report);
}

std::string message() {
  return gsort_error_message();
}

class CInterface : public testing::Test {
 protected:
  const TempFolder folder_;
};

TEST_F(CInterface, SortsAFileAndReportsWhatItDid) {
  const Bytes raw = keys_of(50'000);
  write_file(folder_ / "in.u32", raw);
  gsort_report report = empty_report();
  EXPECT_EQ(sort(folder_ / "in.u32", folder_ / "out", {}, &report), GSORT_DONE) << message();
  EXPECT_EQ(read_file(folder_ / "out"), test::sorted_copy(raw, kU32));
  EXPECT_EQ(report.elements, 50'000U);
  EXPECT_EQ(report.output_elements, 50'000U);
  EXPECT_EQ(report.bytes, 200'000U);
  EXPECT_EQ(report.verified, 1);
  EXPECT_EQ(gsort_last_error(), GSORT_ERROR_NONE);
  EXPECT_EQ(message(), "");

  gsort_report checked = empty_report();
  EXPECT_EQ(check(folder_ / "out", {"-t", "u32"}, &checked), GSORT_DONE) << message();
  EXPECT_EQ(checked.elements, 50'000U);
  EXPECT_STREQ(checked.fingerprint, report.fingerprint);
  const std::string expected = std::string("--expect=") + report.fingerprint;
  EXPECT_EQ(check(folder_ / "out", {"-t", "u32", expected.c_str()}), GSORT_DONE) << message();
}

TEST_F(CInterface, TakesTheOptionsOfTheCommandLine) {
  const Bytes raw = keys_of(10'000);
  write_file(folder_ / "-in", raw);
  KeyFormat descending = kU32;
  descending.descending = true;
  EXPECT_EQ(sort(folder_ / "-in", folder_ / "out", {"-rt", "u32", "--parallel=2", "-S", "64M"}),
            GSORT_DONE)
      << message();
  EXPECT_EQ(read_file(folder_ / "out"), test::sorted_copy(raw, descending));
}

TEST_F(CInterface, MergesSortedFiles) {
  const Bytes one = keys_of(3'000);
  const Bytes other = test::generated(kU32, Distribution::kFewDistinct, 2'000);
  write_file(folder_ / "a.u32", test::sorted_copy(one, kU32));
  write_file(folder_ / "b.u32", test::sorted_copy(other, kU32));
  const std::string names[] = {folder_ / "a.u32", folder_ / "b.u32"};
  const char* const inputs[] = {names[0].c_str(), names[1].c_str()};
  const std::string output = folder_ / "out";
  gsort_report report = empty_report();
  EXPECT_EQ(gsort_merge(inputs, 2, output.c_str(), nullptr, &report), GSORT_DONE) << message();
  Bytes both = one;
  both.insert(both.end(), other.begin(), other.end());
  EXPECT_EQ(read_file(output), test::sorted_copy(both, kU32));
  EXPECT_EQ(report.output_elements, 5'000U);

  write_file(folder_ / "b.u32", other);
  EXPECT_EQ(gsort_merge(inputs, 2, output.c_str(), nullptr, nullptr), GSORT_ERROR);
  EXPECT_EQ(gsort_last_error(), GSORT_ERROR_INPUT);
  EXPECT_NE(message().find("b.u32"), std::string::npos) << message();
  EXPECT_EQ(read_file(output), test::sorted_copy(both, kU32));
}

TEST_F(CInterface, AddsCounts) {
  write_file(folder_ / "in.u32", keys_of(3'000));
  EXPECT_EQ(sort(folder_ / "in.u32", folder_ / "counts", {"-u", "--count"}), GSORT_DONE);
  const std::string counts = folder_ / "counts";
  const std::string keys = folder_ / "in.u32";
  const std::string output = folder_ / "out";
  const char* const words[] = {"--count", "-t", "u32", nullptr};
  const char* inputs[] = {counts.c_str(), counts.c_str()};
  EXPECT_EQ(gsort_merge(inputs, 2, output.c_str(), words, nullptr), GSORT_DONE) << message();
  Bytes doubled = read_file(counts);
  constexpr std::size_t kPairBytes = 12;
  for (std::size_t at = 4; at < doubled.size(); at += kPairBytes) {
    std::uint64_t count = 0;
    std::memcpy(&count, &doubled[at], sizeof count);
    count *= 2;
    std::memcpy(&doubled[at], &count, sizeof count);
  }
  EXPECT_EQ(read_file(output), doubled);

  inputs[1] = keys.c_str();
  EXPECT_EQ(gsort_merge(inputs, 2, output.c_str(), words, nullptr), GSORT_ERROR);
  EXPECT_EQ(gsort_last_error(), GSORT_ERROR_USAGE);
  EXPECT_NE(message().find("in.u32: its suffix says u32"), std::string::npos) << message();
  EXPECT_EQ(read_file(output), doubled);
}

TEST_F(CInterface, SaysWhereTheOrderBreaks) {
  write_file(folder_ / "in.u8", Bytes{std::byte{1}, std::byte{9}, std::byte{4}, std::byte{5}});
  gsort_report report = empty_report();
  EXPECT_EQ(check(folder_ / "in.u8", {}, &report), GSORT_REFUTED);
  EXPECT_EQ(report.disorder_element, 2U);
  EXPECT_NE(message().find("in.u8: element 2 is out of order: 4 after 9"), std::string::npos)
      << message();
  EXPECT_EQ(gsort_last_error(), GSORT_ERROR_NONE);
  EXPECT_EQ(check(folder_ / "in.u8", {"-r"}, &report), GSORT_REFUTED);
  EXPECT_EQ(report.disorder_element, 1U);
}

TEST_F(CInterface, SaysThatOtherElementsWereExpected) {
  write_file(folder_ / "in.u8", Bytes(3));
  EXPECT_EQ(check(folder_ / "in.u8", {"--expect=3:0000000000000000:0000000000000000"}),
            GSORT_REFUTED);
  EXPECT_NE(message().find("expected 3:"), std::string::npos) << message();
}

TEST_F(CInterface, TellsErrorsByKindTextAndHint) {
  gsort_report report = empty_report();
  report.elements = 7;
  EXPECT_EQ(sort(folder_ / "none.u8", folder_ / "out", {}, &report), GSORT_ERROR);
  EXPECT_EQ(gsort_last_error(), GSORT_ERROR_INPUT);
  EXPECT_EQ(gsort_error_number(), ENOENT);
  EXPECT_NE(message().find("none.u8: No such file"), std::string::npos) << message();
  EXPECT_EQ(message().find('\n'), std::string::npos);
  EXPECT_STRNE(gsort_error_hint(), "");
  EXPECT_EQ(report.elements, 0U);
  EXPECT_TRUE(folder_.entries().empty());
}

TEST_F(CInterface, RefusesWhatIsNoSort) {
  const std::string input = folder_ / "in.u8";
  write_file(input, Bytes(4));
  const Words refused[] = {{"--check"},
                           {"--each"},
                           {"--fingerprint"},
                           {"--explain"},
                           {"--help"},
                           {"--stats=s"},
                           {"--trace=t"},
                           {"--nonsense"},
                           {"file"},
                           {"-t"},
                           {"-t", "u7"},
                           {"-o", "other"},
                           {"--"},
                           {"-"},
                           {"-o"},
                           {"--output"},
                           {"-T"},
                           {"-r", "-S"},
                           {"--join=2"},
                           {"--form=f", "--share=0/1"},
                           {"--take=0/1", "--from=f"},
                           {"--files0-from=f"},
                           {"--expect=e"},
                           {"--split-output=0"},
                           {"--parallel=1000000"}};
  for (const Words& words : refused) {
    EXPECT_EQ(sort(input, folder_ / "out", words), GSORT_ERROR) << words.front();
    EXPECT_EQ(gsort_last_error(), GSORT_ERROR_USAGE) << words.front() << message();
  }
  EXPECT_EQ(sort(input, folder_ / "out", {"--each"}), GSORT_ERROR);
  EXPECT_NE(message().find("--each"), std::string::npos) << message();
  for (const Words& words : {Words{"--explain"},
                             {"--fingerprint"},
                             {"--help"},
                             {"-o", "out"},
                             {"--each"},
                             {"-tu8", "-T"},
                             {"--join=2"},
                             {"--stats=s"}}) {
    EXPECT_EQ(check(input, words), GSORT_ERROR) << words.front();
    EXPECT_EQ(gsort_last_error(), GSORT_ERROR_USAGE) << words.front() << message();
  }
  EXPECT_EQ(folder_.entries().size(), 1U);
}

TEST_F(CInterface, AWordThatLacksItsValueIsNamed) {
  write_file(folder_ / "in.u8", Bytes(4));
  EXPECT_EQ(sort(folder_ / "in.u8", folder_ / "out", {"-o"}), GSORT_ERROR);
  EXPECT_EQ(message(), "option '--output': needs a value");
  EXPECT_EQ(gsort_check("-", Words{"-tu64", "-T", nullptr}.data(), nullptr), GSORT_ERROR);
  EXPECT_EQ(message(), "option '--temporary-directory': needs a value");
  EXPECT_EQ(folder_.entries().size(), 1U);
}

TEST_F(CInterface, RefusesNamesThatAreEmpty) {
  write_file(folder_ / "in.u8", Bytes(4));
  EXPECT_EQ(sort(folder_ / "in.u8", "", {}), GSORT_ERROR);
  EXPECT_EQ(gsort_last_error(), GSORT_ERROR_USAGE) << message();
  EXPECT_EQ(message(), "output '': is empty");
  EXPECT_EQ(sort("", folder_ / "out", {"-tu8"}), GSORT_ERROR);
  EXPECT_EQ(message(), "input '': is empty");
}

// An input may have any name.
TEST_F(CInterface, TakesNamesThatLookLikeOptions) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  write_file(folder_ / "--check", Bytes{std::byte{2}, std::byte{1}});
  EXPECT_EQ(sort("--check", "-r", {"-tu8"}), GSORT_DONE) << message();
  std::filesystem::current_path(before);
  EXPECT_EQ(read_file(folder_ / "-r"), (Bytes{std::byte{1}, std::byte{2}}));
}

TEST_F(CInterface, RefusesKeysOfAnUnknownType) {
  write_file(folder_ / "in", Bytes(8));
  EXPECT_EQ(sort(folder_ / "in", folder_ / "out", {}), GSORT_ERROR);
  EXPECT_NE(message().find("no type was given"), std::string::npos) << message();
  write_file(folder_ / "in", Bytes(7));
  EXPECT_EQ(sort(folder_ / "in", folder_ / "out", {}), GSORT_ERROR);
  EXPECT_NE(message().find("size, 4, and no type was given"), std::string::npos) << message();
  write_file(folder_ / "in", Bytes(8));
  EXPECT_EQ(check(folder_ / "in", {}), GSORT_ERROR);
  EXPECT_EQ(gsort_last_error(), GSORT_ERROR_USAGE);
}

TEST_F(CInterface, RefusesNullAndReportsWithoutASize) {
  const char* const inputs[] = {"in.u8", nullptr};
  gsort_report report{};
  EXPECT_EQ(gsort_sort(nullptr, 1, "out", nullptr, nullptr), GSORT_ERROR);
  EXPECT_EQ(gsort_sort(inputs, 0, "out", nullptr, nullptr), GSORT_ERROR);
  EXPECT_EQ(gsort_sort(inputs, 2, "out", nullptr, nullptr), GSORT_ERROR);
  EXPECT_EQ(gsort_sort(inputs, 1, nullptr, nullptr, nullptr), GSORT_ERROR);
  EXPECT_EQ(gsort_check(nullptr, nullptr, nullptr), GSORT_ERROR);
  EXPECT_EQ(gsort_check("in.u8", nullptr, &report), GSORT_ERROR);
  EXPECT_EQ(gsort_last_error(), GSORT_ERROR_USAGE);
  EXPECT_NE(message().find("no size"), std::string::npos) << message();
}

// Statistics become members of the same name; all members of the first version exist.
TEST_F(CInterface, TakesEveryStatisticThatAReportHas) {
  Statistics statistics;
  test::set_each(statistics, 100);
  gsort_report report{};
  SortedFile sorted;
  copy_statistics(statistics, report);
  copy_statistics(statistics, sorted);
  std::string in_c;
  std::string in_cpp;
#define GSORT_EXPECT(member, ...)                  \
  [&](const auto& of_c, const auto& of_cpp) {      \
    if constexpr (requires { of_c.member; }) {     \
      EXPECT_EQ(of_c.member, statistics.member);   \
      in_c += #member " ";                         \
    }                                              \
    if constexpr (requires { of_cpp.member; }) {   \
      EXPECT_EQ(of_cpp.member, statistics.member); \
      in_cpp += #member " ";                       \
    }                                              \
  }(report, sorted);
  GSORT_STATISTICS(GSORT_EXPECT)
#undef GSORT_EXPECT
  EXPECT_EQ(in_c, "bytes elements output_elements seconds runs spilled_bytes ");
  EXPECT_EQ(in_cpp, "bytes elements seconds runs spilled_bytes ");
}

// A caller compiled with an older header has a shorter report.
TEST_F(CInterface, WritesNoMoreThanTheCallersReport) {
  write_file(folder_ / "in.u8", Bytes(5));
  gsort_report report;
  std::memset(&report, 0x5A, sizeof report);
  report.size = offsetof(gsort_report, bytes);
  EXPECT_EQ(check(folder_ / "in.u8", {}, &report), GSORT_DONE) << message();
  EXPECT_EQ(report.elements, 5U);
  EXPECT_EQ(report.bytes, 0x5A5A5A5A5A5A5A5AU);
}

TEST_F(CInterface, HasTheVersionOfTheProgram) {
  const std::string begin = std::string("gsort ") + gsort_version() + " (engines: cpu";
  EXPECT_EQ(text_of(Show::kVersion).substr(0, begin.size()), begin);
}

TEST_F(CInterface, KeepsTheErrorsOfThreadsApart) {
  EXPECT_EQ(gsort_check(nullptr, nullptr, nullptr), GSORT_ERROR);
  const std::string mine = message();
  std::thread([] {
    EXPECT_EQ(message(), "");
    EXPECT_EQ(gsort_check("/none.u8", nullptr, nullptr), GSORT_ERROR);
    EXPECT_NE(message().find("/none.u8"), std::string::npos) << message();
  }).join();
  EXPECT_EQ(message(), mine);
}

TEST_F(CInterface, NeverReplacesAnInputByOtherElements) {
  const Bytes raw = keys_of(100);
  write_file(folder_ / "in.u32", raw);
  const Words cases[] = {{"--argsort"},
                         {"-u", "--count"},
                         {"--format=bin:text"},
                         {"--format=bin:npy"},
                         {"--compress=gzip"}};
  for (const Words& words : cases) {
    EXPECT_EQ(sort(folder_ / "in.u32", folder_ / "in.u32", words), GSORT_ERROR) << words.front();
    EXPECT_EQ(gsort_last_error(), GSORT_ERROR_USAGE) << message();
    EXPECT_EQ(read_file(folder_ / "in.u32"), raw) << words.front();
    EXPECT_EQ(sort(folder_ / "in.u32", folder_ / "out", words), GSORT_DONE) << message();
  }
}

}  // namespace
}  // namespace gsort
