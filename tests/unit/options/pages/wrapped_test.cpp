#include "options/pages/wrapped.hpp"

#include <gtest/gtest.h>

namespace gsort {
namespace {

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree\n");
}

TEST(Wrapped, IndentsEveryLine) {
  EXPECT_EQ(wrapped("one two", 5, 2), "  one\n  two\n");
}

TEST(Wrapped, LeavesLongWordsWhole) {
  EXPECT_EQ(wrapped("a longest b", 4), "a\nlongest\nb\n");
}

TEST(Wrapped, MakesNothingOfNothing) {
  EXPECT_EQ(wrapped("", 80, 6), "");
}

}  // namespace
}  // namespace gsort
