#include "report/style.hpp"

#include <gtest/gtest.h>

namespace gsort {
namespace {

TEST(WantsColor, AtATerminalUnlessSomethingSpeaksAgainstIt) {
  EXPECT_TRUE(wants_color(ColorMode::kAuto, nullptr, "xterm", true));
  EXPECT_TRUE(wants_color(ColorMode::kAuto, "", "xterm", true)) << "empty means not set";
  EXPECT_FALSE(wants_color(ColorMode::kAuto, "1", "xterm", true));
  EXPECT_FALSE(wants_color(ColorMode::kAuto, nullptr, "dumb", true));
  EXPECT_FALSE(wants_color(ColorMode::kAuto, nullptr, "xterm", false));
}

TEST(WantsColor, AsTheOptionSaysWhateverElseIsSaid) {
  EXPECT_TRUE(wants_color(ColorMode::kAlways, "1", "dumb", false));
  EXPECT_FALSE(wants_color(ColorMode::kNever, nullptr, "xterm", true));
}

TEST(ErrorText, IsTheMessageItselfWithoutColor) {
  EXPECT_EQ(error_text("reading in: is a directory\n  name a file", false),
            "gsort: reading in: is a directory\n  name a file\n");
}

TEST(ErrorText, ColorsTheNameAndDimsTheWayOut) {
  EXPECT_EQ(error_text("what: why\n  hint", true),
            "\x1b[1;31mgsort:\x1b[0m what: why\n\x1b[2m  hint\x1b[0m\n");
  EXPECT_EQ(error_text("what: why", true), "\x1b[1;31mgsort:\x1b[0m what: why\n");
}

TEST(ColoredSummary, ColorsTheVerdictOnly) {
  EXPECT_EQ(colored_summary("sorted, verified\n", false), "sorted, verified\n");
  EXPECT_EQ(colored_summary("sorted, verified\n", true), "sorted, \x1b[32mverified\x1b[0m\n");
  EXPECT_EQ(colored_summary("sorted, not verified\n", true),
            "sorted, \x1b[33mnot verified\x1b[0m\n");
  EXPECT_EQ(colored_summary("", true), "");
}

}  // namespace
}  // namespace gsort
