#include "options/pages/value_hint.hpp"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

namespace gsort {
namespace {

const OptionSpec& row(std::string_view name) {
  return *std::ranges::find(option_table(), name, &OptionSpec::name);
}

TEST(ValueHint, TakesChoicesFromTheNameOfTheValue) {
  EXPECT_EQ(hint_of(row("engine")), ValueHint::kChoices);
  EXPECT_EQ(choice_words(row("engine")), "auto cuda cpu");
}

TEST(ValueHint, TakesChoicesThatARowLists) {
  EXPECT_EQ(choice_words(row("format")), "bin text npy sosd");
}

TEST(ValueHint, KnowsFilesAndFolders) {
  EXPECT_EQ(hint_of(row("output")), ValueHint::kFile);
  EXPECT_EQ(hint_of(row("files0-from")), ValueHint::kFile);
  EXPECT_EQ(hint_of(row("temporary-directory")), ValueHint::kFolder);
}

TEST(ValueHint, IsNothingForSwitchesAndNumbers) {
  EXPECT_EQ(hint_of(row("reverse")), ValueHint::kNone);
  EXPECT_EQ(hint_of(row("device")), ValueHint::kNone);
  EXPECT_TRUE(choices_of(row("device")).empty());
}

// A choice that the parser refuses would be a bad offer.
TEST(ValueHint, OffersOnlyWhatIsAccepted) {
  for (const OptionSpec& spec : option_table()) {
    for (const std::string_view choice : choices_of(spec)) {
      Options options;
      EXPECT_NO_THROW(spec.apply(options, choice)) << display_name(spec) << ' ' << choice;
    }
  }
}

}  // namespace
}  // namespace gsort
