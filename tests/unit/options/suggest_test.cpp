#include "options/suggest.hpp"

#include <array>

#include <gtest/gtest.h>

namespace gsort {
namespace {

TEST(EditDistance, CountsEditsAndSwapsOfNeighbours) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("tpye", "type"), 1U);
  EXPECT_EQ(edit_distance("bufer-size", "buffer-size"), 1U);
}

TEST(NearestName, TakesTheOneThatWasBegun) {
  constexpr std::array<std::string_view, 2> kNames = {"parallel", "buffer-size"};
  EXPECT_EQ(nearest_name("buf", kNames), "buffer-size");
}

TEST(NearestName, TakesTheFewestEdits) {
  constexpr std::array<std::string_view, 3> kNames = {"reverse", "engine", "endian"};
  EXPECT_EQ(nearest_name("enginne", kNames), "engine");
  EXPECT_EQ(nearest_name("endain", kNames), "endian");
}

TEST(NearestName, SaysNothingWhereNothingIsNear) {
  constexpr std::array<std::string_view, 2> kNames = {"reverse", "type"};
  EXPECT_FALSE(nearest_name("zebra", kNames));
  EXPECT_FALSE(nearest_name("", kNames));
}

}  // namespace
}  // namespace gsort
