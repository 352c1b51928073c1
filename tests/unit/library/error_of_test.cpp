#include "library/error_of.hpp"

#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

namespace gsort {
namespace {

TEST(ErrorOf, IsNullWhereNothingIsThrown) {
  int calls = 0;
  EXPECT_EQ(error_of([&] { ++calls; }), std::nullopt);
  EXPECT_EQ(calls, 1);
}

TEST(ErrorOf, IsTheErrorThatIsThrown) {
  const auto error =
      error_of([] { throw Error(ErrorKind::kUsage, "sorting", "no keys").hint("give some"); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::kUsage);
  EXPECT_EQ(error->reason(), "no keys");
  EXPECT_EQ(error->hint(), "give some");
}

TEST(ErrorOf, IsMadeOfOtherExceptions) {
  const auto no_memory = error_of([] { throw std::bad_alloc(); });
  ASSERT_TRUE(no_memory.has_value());
  EXPECT_EQ(no_memory->kind(), ErrorKind::kResource);
  EXPECT_NE(error_of([] { throw std::runtime_error("x"); }), std::nullopt);
}

}  // namespace
}  // namespace gsort
