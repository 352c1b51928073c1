#include "form/text_error.hpp"

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

// The first line of the message, without what all have in common.
std::string said(std::string_view line, KeyType type) {
  const Error error = bad_line("f", 7, line, type);
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_FALSE(error.hint().empty());
  const std::string message = error.what();
  constexpr std::string_view kStart = "reading f: line 7, column ";
  EXPECT_TRUE(message.starts_with(kStart)) << message;
  return message.substr(kStart.size(), message.find('\n') - kStart.size());
}

TEST(TextError, NamesTheColumnOfWhatIsWrong) {
  EXPECT_EQ(said("12x4", KeyType::kU32), "3: '12x4' is not a whole number");
  EXPECT_EQ(said("--4", KeyType::kI32), "2: '--4' is not a whole number");
  EXPECT_EQ(said("-", KeyType::kI32), "2: '-' is not a whole number");
  EXPECT_EQ(said("1 abc", KeyType::kI32), "2: ' ' is not a whole number");
  EXPECT_EQ(said("1.5", KeyType::kI32), "2: '1.5' is not a whole number");
  EXPECT_EQ(said("abc", KeyType::kF64), "1: 'abc' is not a number");
  EXPECT_EQ(said("1.5 2", KeyType::kF64), "4: ' ' is not a number");
  EXPECT_EQ(said("", KeyType::kF64), "1: the line is empty");
  EXPECT_EQ(said("1\r2", KeyType::kI32), "2: the lines end with CR alone");
  EXPECT_EQ(said("  12x4\r", KeyType::kU32), "5: '12x4' is not a whole number");
  EXPECT_EQ(said("\t256", KeyType::kU8), "2: '256' does not fit u8");
  EXPECT_EQ(said(" x", KeyType::kF64), "2: 'x' is not a number");
}

TEST(TextError, TellsWhatDoesNotFitFromWhatIsNoNumber) {
  EXPECT_EQ(said("256", KeyType::kU8), "1: '256' does not fit u8");
  EXPECT_EQ(said("-1", KeyType::kU8), "1: '-1' does not fit u8");
  EXPECT_EQ(said("-129", KeyType::kI8), "1: '-129' does not fit i8");
  EXPECT_EQ(said("1e999", KeyType::kF64), "1: '1e999' does not fit f64");
  EXPECT_EQ(bad_line("f", 1, "300", KeyType::kI8).hint(),
            "i8 holds numbers from -128 to 127; -t i64 holds this one");
  EXPECT_TRUE(bad_line("f", 1, "9223372036854775808", KeyType::kI64)
                  .hint()
                  .ends_with("; -t u64 holds this one"));
  EXPECT_TRUE(bad_line("f", 1, "18446744073709551616", KeyType::kU64)
                  .hint()
                  .ends_with("; -t takes another type"));
  EXPECT_EQ(
      bad_line("f", 1, "65520", KeyType::kF16).hint(),
      "f16 holds numbers from -65504 to 65504; numbers beyond, but below 65520, are rounded to "
      "these; -t f64 holds this one");
  EXPECT_EQ(bad_line("f", 1, "-1e39", KeyType::kBF16).hint(),
            "bf16 holds numbers from -3.3895314e+38 to 3.3895314e+38; numbers beyond, but below "
            "3.3961775e+38, are rounded to these; -t f64 holds this one");
}

TEST(TextError, NamesTheTypeThatHoldsFractions) {
  for (const char* const line : {"1.5", "-0.25", "1e3", "nan", "1e999"}) {
    const Error error = bad_line("f", 1, line, KeyType::kI32);
    EXPECT_EQ(error.hint(), "likely i32 is the wrong type: -t f64 sorts such numbers") << line;
  }
  for (const char* const line : {"12x4", "1.2.3", "1.5abc"}) {
    const Error error = bad_line("f", 1, line, KeyType::kI32);
    EXPECT_EQ(error.hint(), "each line holds one number, and nothing else") << line;
  }
}

TEST(TextError, TellsWhatIsTooSmallFromWhatIsTooLarge) {
  EXPECT_EQ(said("1e-60", KeyType::kF32), "1: '1e-60' is too close to 0 for f32");
  EXPECT_EQ(said("-1e-400", KeyType::kF64), "1: '-1e-400' is too close to 0 for f64");
  EXPECT_EQ(said("1e-99999", KeyType::kF64), "1: '1e-99999' is too close to 0 for f64");
  EXPECT_EQ(said("-1e39", KeyType::kF32), "1: '-1e39' does not fit f32");
  EXPECT_EQ(said("1e99999", KeyType::kF64), "1: '1e99999' does not fit f64");
  EXPECT_EQ(bad_line("f", 1, "1e-60", KeyType::kF32).hint(),
            "f32 has no value between 0 and 1e-45; -t f64 holds this one");
}

TEST(TextError, NamesThePlusSignThatIsOneTooMany) {
  EXPECT_EQ(said("+5", KeyType::kF64), "1: '+5' begins with a plus sign");
  EXPECT_EQ(said("+5", KeyType::kU8), "1: '+5' begins with a plus sign");
}

TEST(TextError, DoesNotTakeEveryHeapOfDigitsForANumber) {
  EXPECT_EQ(said("1.2.3", KeyType::kF64), "1: '1.2.3' is not a number");
  EXPECT_EQ(said("1-2", KeyType::kF32), "1: '1-2' is not a number");
}

TEST(TextError, QuotesNoMoreThanTheWordAndNothingRaw) {
  const std::string secret = "12345678901234567890abcdefghij and the rest of the line";
  EXPECT_EQ(said(secret, KeyType::kI64), "21: '12345678901234567890abcd...' is not a whole number");
  EXPECT_EQ(said("\x1b[0m\xff", KeyType::kI64), "1: '\\x1b[0m\\xff' is not a whole number");
  const Error error = line_too_long("f", 2, std::string(5000, '0'));
  EXPECT_TRUE(test::contains(error.what(),
                             "line 2, column 1: '000000000000000000000000...' is "
                             "longer than 5000 bytes"));
}

}  // namespace
}  // namespace gsort::io
