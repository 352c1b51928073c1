#include "base/units.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/error_of.hpp"

namespace gsort {
namespace {

TEST(ParseSize, ReadsPowersOf1024) {
  EXPECT_EQ(parse_size("0B", 0, "-S"), 0U);
  EXPECT_EQ(parse_size("512B", 0, "-S"), 512U);
  EXPECT_EQ(parse_size("3K", 0, "-S"), 3 * kKiB);
  EXPECT_EQ(parse_size("512M", 0, "-S"), 512 * kMiB);
  EXPECT_EQ(parse_size("4G", 0, "-S"), 4 * kGiB);
  EXPECT_EQ(parse_size("2T", 0, "-S"), 2 * kTiB);
  EXPECT_EQ(parse_size("1P", 0, "-S"), 1024 * kTiB);
  EXPECT_EQ(parse_size("7E", 0, "-S"), 7 * 1024 * 1024 * kTiB);
}

TEST(ParseSize, ReadsFractionsThatAreWholeBytes) {
  EXPECT_EQ(parse_size("1.5T", 0, "-S"), kTiB + kTiB / 2);
  EXPECT_EQ(parse_size("0.5K", 0, "-S"), 512U);
}

TEST(ParseSize, ReadsLongAndLowerCaseUnits) {
  for (const char* const text : {"2M", "2m", "2MB", "2MiB"}) {
    EXPECT_EQ(parse_size(text, 0, "-S"), 2 * kMiB) << text;
  }
}

TEST(ParseSize, ReadsPercentagesOfTheWhole) {
  EXPECT_EQ(parse_size("50%", 1'000, "-S"), 500U);
  EXPECT_EQ(parse_size("100%", 1'000, "-S"), 1'000U);
  EXPECT_EQ(parse_size("0.1%", 1'000, "-S"), 1U);
}

class ParseSizeRefuses : public testing::TestWithParam<const char*> {};

TEST_P(ParseSizeRefuses, WithAUsageErrorThatNamesOptionAndText) {
  const Error error = test::error_of([&] { (void)parse_size(GetParam(), kGiB, "-S"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.operation(), std::string("-S '") + GetParam() + "'");
}

INSTANTIATE_TEST_SUITE_P(BareNumbers, ParseSizeRefuses, testing::Values("0", "512", "1.5"));
INSTANTIATE_TEST_SUITE_P(Signs, ParseSizeRefuses,
                         testing::Values("-1", "-1M", "-0M", "+1M", "--1M", "-5%"));
INSTANTIATE_TEST_SUITE_P(Overflow, ParseSizeRefuses,
                         testing::Values("9E", "8E", "16E", "99999999999999999999G", "1000000P",
                                         "18446744073709551616B"));
INSTANTIATE_TEST_SUITE_P(OtherNotations, ParseSizeRefuses,
                         testing::Values("1e99G", "2^64", "0x10M", "1e3M", "inf", "infM", "nanM",
                                         "1,5M", "1_000M", "1M2K"));
INSTANTIATE_TEST_SUITE_P(Nonsense, ParseSizeRefuses,
                         testing::Values("", " ", "M", "%", "x", "5 M", "5MM", "5Mi", "5Q", "5M ",
                                         " 5M", "5%M", "5KiBB"));
INSTANTIATE_TEST_SUITE_P(FractionsOfAByte, ParseSizeRefuses, testing::Values("1.5B", "0.3B"));
INSTANTIATE_TEST_SUITE_P(Percentages, ParseSizeRefuses, testing::Values("101%", "1e2%", "50%%"));

TEST(ParseSize, RefusesPercentagesOfNothing) {
  EXPECT_THROW((void)parse_size("50%", 0, "-S"), Error);
}

TEST(ParseSize, SaysHowToWriteABareNumber) {
  const Error error = test::error_of([&] { (void)parse_size("512", 0, "-S"); });
  EXPECT_NE(error.hint().find("512M"), std::string::npos) << error.what();
  EXPECT_NE(error.hint().find("512B"), std::string::npos) << error.what();
}

TEST(FormatBytes, KeepsThreeSignificantDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1'000), "0.98 KiB");
  EXPECT_EQ(format_bytes(kKiB), "1 KiB");
  EXPECT_EQ(format_bytes(1'536), "1.50 KiB");
  EXPECT_EQ(format_bytes(128 * kMiB), "128 MiB");
  EXPECT_EQ(format_bytes(12 * kGiB + 410 * kMiB), "12.4 GiB");
  EXPECT_EQ(format_bytes(~std::uint64_t{0}), "16 EiB");
}

TEST(FormatCount, GroupsByThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'000), "1,000");
  EXPECT_EQ(format_count(268'435'456), "268,435,456");
  EXPECT_EQ(format_count(~std::uint64_t{0}), "18,446,744,073,709,551,615");
}

TEST(Rounding, GoesToTheNextMultiple) {
  EXPECT_EQ(round_up(0, 8), 0U);
  EXPECT_EQ(round_up(1, 8), 8U);
  EXPECT_EQ(round_up(8, 8), 8U);
  EXPECT_EQ(round_down(15, 8), 8U);
  EXPECT_EQ(div_up(0, 8), 0U);
  EXPECT_EQ(div_up(9, 8), 2U);
  EXPECT_EQ(div_up(~std::uint64_t{0}, 2), std::uint64_t{1} << 63);
}

}  // namespace
}  // namespace gsort
