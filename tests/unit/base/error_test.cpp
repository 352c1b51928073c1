#include "base/error.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace gsort {
namespace {

TEST(Error, SaysOperationPathOffsetAndReasonOnOneLineAndTheHintBelow) {
  const Error error = Error(ErrorKind::kTemporary, "writing run 17 in", "the disk is full")
                          .path("/scratch")
                          .at(4096)
                          .hint("give another folder with -T");
  EXPECT_STREQ(error.what(),
               "writing run 17 in /scratch at byte 4096: the disk is full\n"
               "  give another folder with -T");
  EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
  EXPECT_EQ(error.path(), "/scratch");
  EXPECT_EQ(error.offset_bytes(), 4096U);
  EXPECT_EQ(error.error_number(), 0);
}

TEST(Error, NeedsNoPathOffsetOrHint) {
  EXPECT_STREQ(Error(ErrorKind::kUsage, "-S", "is too small").what(), "-S: is too small");
}

TEST(Error, TakesTheSystemsTextForAnErrno) {
  const Error error = Error::from_errno(ErrorKind::kOutput, "writing", ENOSPC).path("out");
  EXPECT_STREQ(error.what(), "writing out: No space left on device");
  EXPECT_EQ(error.error_number(), ENOSPC);
}

TEST(Error, ShowsNothingThatATerminalWouldObey) {
  const Error error =
      Error(ErrorKind::kInput, "opening", "two\nlines").path("a\x1b[31m gr\xc3\xb6\xdf");
  EXPECT_STREQ(error.what(), "opening a\\x1b[31m gr\xc3\xb6\\xdf: two\\x0alines");
  EXPECT_EQ(error.path(), "a\x1b[31m gr\xc3\xb6\xdf");
}

TEST(Error, ShowsOnlyTheBeginningOfALongName) {
  const Error error = Error(ErrorKind::kInput, "opening", "no").path(std::string(5'000, 'x'));
  EXPECT_EQ(error.what(), "opening " + std::string(1'024, 'x') + "...: no");
}

}  // namespace
}  // namespace gsort
