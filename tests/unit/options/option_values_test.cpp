#include "options/option_values.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/error_of.hpp"

namespace gsort {
namespace {

enum class Colour : std::uint8_t { kRed, kBlue };
constexpr Choice<Colour> kColours[] = {{"red", Colour::kRed}, {"blue", Colour::kBlue}};

TEST(OptionValues, KnowEveryKeyType) {
  for (const KeyType type : kAllKeyTypes) {
    EXPECT_EQ(parse_key_type(name_of(type), "--type").type, type);
  }
}

TEST(OptionValues, NameTheTypesWhenOneIsUnknown) {
  const Error error = test::error_of([&] { static_cast<void>(parse_key_type("u33", "--type")); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(std::string(error.what()), "--type 'u33': is not a key type\n  the types are " +
                                           std::string(kKeyTypeNames) +
                                           "; bytesN, with N up to 32, compares N bytes");
}

TEST(OptionValues, AcceptCountsWithinTheirBoundsOnly) {
  EXPECT_EQ(parse_count("1", 1, 8, "--parallel"), 1U);
  EXPECT_EQ(parse_count("8", 1, 8, "--parallel"), 8U);
  for (const char* const bad :
       {"", "0", "9", "-1", "+1", " 1", "1 ", "1.5", "99999999999", "two"}) {
    EXPECT_THROW(static_cast<void>(parse_count(bad, 1, 8, "--parallel")), Error) << bad;
  }
}

TEST(OptionValues, ReadListsOfDevices) {
  using List = std::vector<unsigned>;
  EXPECT_EQ(parse_devices("0", "--device"), (DeviceChoice{List{0}, false}));
  EXPECT_EQ(parse_devices("1023", "--device"), (DeviceChoice{List{1023}, false}));
  EXPECT_EQ(parse_devices("1,0", "--device"), (DeviceChoice{List{1, 0}, false}));
  EXPECT_EQ(parse_devices("0,0,2", "--device"), (DeviceChoice{List{0, 0, 2}, false}));
  EXPECT_EQ(parse_devices("all", "--device"), (DeviceChoice{List{}, true}));
  EXPECT_TRUE(parse_devices("auto", "--device").is_auto());
  std::string many = "0";
  for (int i = 1; i < 64; ++i) many += ",0";
  EXPECT_EQ(parse_devices(many, "--device").listed.size(), 64U);
  many += ",0";
  for (const char* const bad :
       {"", ",", "0,", ",0", "0,,1", "0;1", "a", "0,a", "1024", "-1", "0, 1", "all,0", "auto,auto",
        "99999999999999999999", many.c_str()}) {
    EXPECT_THROW(static_cast<void>(parse_devices(bad, "--device")), Error) << bad;
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
  const Error error =
      test::error_of([&] { static_cast<void>(parse_choice("Blue", kColours, "--colour")); });
  EXPECT_EQ(error.hint(), "the values are red, blue");
}

}  // namespace
}  // namespace gsort
