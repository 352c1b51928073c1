#include "options/option_values.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace gsort {
namespace {

enum class Colour : std::uint8_t { kRed, kBlue };
constexpr Choice<Colour> kColours[] = {{"red", Colour::kRed}, {"blue", Colour::kBlue}};

TEST(OptionValues, KnowEveryKeyType) {
  for (const KeyType type : kAllKeyTypes) {
    EXPECT_EQ(parse_key_type(name_of(type), "--type"), type);
  }
}

TEST(OptionValues, NameTheTypesWhenOneIsUnknown) {
  try {
    static_cast<void>(parse_key_type("u33", "--type"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(std::string(error.what()),
              "--type 'u33': is not a key type\n  the types are " + std::string(kKeyTypeNames));
  }
}

TEST(OptionValues, AcceptCountsWithinTheirBoundsOnly) {
  EXPECT_EQ(parse_count("1", 1, 8, "--parallel"), 1U);
  EXPECT_EQ(parse_count("8", 1, 8, "--parallel"), 8U);
  for (const char* const bad :
       {"", "0", "9", "-1", "+1", " 1", "1 ", "1.5", "99999999999", "two"}) {
    EXPECT_THROW(static_cast<void>(parse_count(bad, 1, 8, "--parallel")), Error) << bad;
  }
}

TEST(OptionValues, ReadOneDevice) {
  EXPECT_EQ(parse_device("0", "--device"), 0U);
  EXPECT_EQ(parse_device("1023", "--device"), 1023U);
  for (const char* const bad : {"", ",", "0,", ",0", "0,1", "0;1", "a", "1024"}) {
    EXPECT_THROW(static_cast<void>(parse_device(bad, "--device")), Error) << bad;
  }
}

TEST(OptionValues, KeepSizesAsTypedOnceTheirSyntaxIsRight) {
  EXPECT_EQ(checked_size("512M", "--buffer-size"), "512M");
  EXPECT_EQ(checked_size("50%", "--buffer-size"), "50%");
  for (const char* const bad : {"", "4", "4Q", "-4G", "101%", "G", "4 G"}) {
    EXPECT_THROW(static_cast<void>(checked_size(bad, "--buffer-size")), Error) << bad;
  }
}

TEST(OptionValues, RefuseAnEmptyName) {
  EXPECT_EQ(checked_path("a b", "--output"), "a b");
  EXPECT_THROW(static_cast<void>(checked_path("", "--output")), Error);
}

TEST(OptionValues, ListTheWordsWhenNoneFits) {
  EXPECT_EQ(parse_choice("blue", kColours, "--colour"), Colour::kBlue);
  try {
    static_cast<void>(parse_choice("Blue", kColours, "--colour"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.hint(), "the values are red, blue");
  }
}

}  // namespace
}  // namespace gsort
