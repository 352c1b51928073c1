#include "base/current_error.hpp"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include <gtest/gtest.h>

namespace gsort {
namespace {

template <class Thrown>
Error error_of(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return current_error();
  }
}

TEST(CurrentError, IsAnErrorAsItWasThrown) {
  const Error thrown = Error(ErrorKind::kOutput, "writing", "it broke").path("out").hint("mend it");
  EXPECT_STREQ(error_of(thrown).what(), thrown.what());
  EXPECT_EQ(error_of(thrown).kind(), ErrorKind::kOutput);
}

TEST(CurrentError, SaysThatMemoryHasRunOut) {
  const Error error = error_of(std::bad_alloc());
  EXPECT_EQ(error.kind(), ErrorKind::kResource);
  EXPECT_EQ(error.error_number(), ENOMEM);
  EXPECT_FALSE(error.hint().empty());
}

TEST(CurrentError, TakesTheReasonOfWhatTheSystemRefused) {
  const Error error = error_of(std::system_error(EAGAIN, std::generic_category()));
  EXPECT_EQ(error.reason(), std::generic_category().message(EAGAIN));
  EXPECT_FALSE(error.hint().empty());
}

TEST(CurrentError, TakesTheTextOfWhateverALibraryThrows) {
  const Error error = error_of(std::runtime_error("no more of these"));
  EXPECT_EQ(error.reason(), "no more of these");
  EXPECT_FALSE(error.hint().empty());
}

}  // namespace
}  // namespace gsort
