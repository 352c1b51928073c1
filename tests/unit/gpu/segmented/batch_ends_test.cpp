// The words of pairs, where numbers end.
#include "gpu/segmented/batch_ends.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

// No test sorts 2^32 pairs in many arrays.
TEST(PairEnds, HasFillThatIsNoLessThanAnyPairOfItsArray) {
  constexpr std::uint32_t kGreatest = ~std::uint32_t{0};
  constexpr unsigned kRowWords = 32;
  for (const unsigned pairs : {1U, 2U, 16U, 31U}) {
    const unsigned first = kGreatest - pairs + 1;  // of the last pairs that one call can have
    const std::uint64_t last = PairEnds::word(kGreatest, first, pairs - 1);
    EXPECT_EQ(last, ~std::uint64_t{0});
    for (unsigned next = pairs; next < kRowWords; ++next) {
      EXPECT_GE(PairEnds::word(kGreatest, first, next), last);
    }
  }
  EXPECT_GT(PairEnds::word(kGreatest, 100, 3), PairEnds::word(kGreatest, 100, 2));
}

}  // namespace
}  // namespace gsort::gpu
