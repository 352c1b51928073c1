#include "options/pages/help.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "options/option_spec.hpp"
#include "options/options.hpp"

namespace gsort {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(ShortHelp, FitsOneScreen) {
  const auto lines = lines_of(text_of(Show::kHelp));
  EXPECT_LE(lines.size(), 32U);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80U) << line;
}

TEST(ShortHelp, ShowsExamplesBeforeOptions) {
  const std::string text = text_of(Show::kHelp);
  EXPECT_LT(text.find("gsort input.bin -o output.bin"), text.find("--type"));
}

// Its words, with one blank between any two.
std::string in_one_line(const std::string& text) {
  std::istringstream stream(text);
  std::string line;
  for (std::string word; stream >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST(FullHelp, ShowsEveryOption) {
  const std::string text = in_one_line(text_of(Show::kFullHelp));
  for (const OptionSpec& spec : option_table()) {
    EXPECT_NE(text.find(display_name(spec)), std::string::npos) << display_name(spec);
    EXPECT_NE(text.find(spec.help), std::string::npos) << spec.help;
  }
}

TEST(FullHelp, IsShortEnoughToRead) {
  EXPECT_LE(lines_of(text_of(Show::kFullHelp)).size(), 186U);
}

TEST(FullHelp, KeepsToEightyColumns) {
  for (const std::string& line : lines_of(text_of(Show::kFullHelp)))
    EXPECT_LE(line.size(), 80U) << line;
}

TEST(OptionTable, HasUniqueNamesAndLetters) {
  std::multiset<std::string> names;
  for (const OptionSpec& spec : option_table()) {
    if (!spec.name.empty()) names.insert(std::string(spec.name));
    if (spec.letter != '\0') names.insert(std::string(1, spec.letter));
  }
  for (const std::string& name : names) EXPECT_EQ(names.count(name), 1U) << name;
}

TEST(OptionTable, DescribesOptionsBeforeTheirValues) {
  for (const OptionSpec& spec : option_table()) {
    const auto first = spec.choices.substr(0, spec.choices.find('|'));
    EXPECT_TRUE(first.empty() || !spec.help.starts_with(first)) << spec.help;
  }
}

TEST(OptionTable, KeepsItsGroupsTogether) {
  const auto rows = option_table();
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &OptionSpec::group));
}

TEST(OptionTable, LeavesResultsToTheCommandLine) {
  std::string allowed;
  for (const OptionSpec& spec : option_table()) {
    const bool is_aid =
        spec.group == OptionGroup::kResources || spec.group == OptionGroup::kReporting;
    if (spec.in_environment && !is_aid) allowed += display_name(spec) + ' ';
    if (!spec.in_environment && is_aid) allowed += "not " + display_name(spec) + ' ';
  }
  EXPECT_EQ(allowed,
            "--temporary-directory not --no-verify not -h not --help not --version not "
            "--generate ");
}

TEST(OptionTable, HasCompleteRows) {
  for (const OptionSpec& spec : option_table()) {
    EXPECT_NE(spec.apply, nullptr);
    EXPECT_FALSE(spec.help.empty()) << display_name(spec);
    EXPECT_LE(spec.help.size(), 94U) << display_name(spec);
    EXPECT_LE(spec.value_is_optional(), spec.takes_value()) << display_name(spec);
    const bool letter_with_optional = spec.value_is_optional() && spec.letter != '\0';
    EXPECT_FALSE(letter_with_optional) << "-" << spec.letter << " would swallow later letters";
  }
}

TEST(Version, IsOneLine) {
  EXPECT_EQ(lines_of(version_text()).size(), 1U);
}

}  // namespace
}  // namespace gsort
