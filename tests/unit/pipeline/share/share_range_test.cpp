#include "pipeline/share/share_range.hpp"

#include <gtest/gtest.h>

namespace gsort {
namespace {

TEST(ShareRange, SharesFollowEachOtherAndDifferByOne) {
  for (const std::uint64_t elements : {0ULL, 1ULL, 5ULL, 1000ULL, ~0ULL}) {
    for (const std::uint32_t shares : {1U, 2U, 7U, 1000U}) {
      std::uint64_t next = 0;
      for (std::uint32_t share = 0; share < shares; ++share) {
        const OutputRange range = share_of(elements, share, shares);
        ASSERT_EQ(range.begin, next);
        ASSERT_LE(range.elements() - elements / shares, 1U);
        next = range.end;
      }
      ASSERT_EQ(next, elements);
    }
  }
}

TEST(ShareRange, PartsOfAFileBeginAtPages) {
  constexpr std::uint64_t kElements = 10'000'019;
  for (const std::uint64_t element_bytes : {1U, 4U, 8U, 12U, 100U}) {
    for (const std::uint64_t header_bytes : {0U, 128U}) {
      std::uint64_t next = 0;
      for (std::uint64_t part = 0; part < 7; ++part) {
        const std::uint64_t begin = part_border(kElements, part, 7, element_bytes, header_bytes);
        ASSERT_GE(begin, next);
        ASSERT_LE(begin, share_border(kElements, part, 7));
        ASSERT_GT(begin + 65536, share_border(kElements, part, 7));
        ASSERT_TRUE(part == 0 || (header_bytes + begin * element_bytes) % 65536 == 0);
        next = begin;
      }
      ASSERT_EQ(part_border(kElements, 7, 7, element_bytes, header_bytes), kElements);
    }
  }
}

TEST(ShareRange, ShortPartsAreExact) {
  for (std::uint64_t part = 0; part <= 5; ++part) {
    EXPECT_EQ(part_border(1000, part, 5, 8, 0), 200 * part);
  }
}

// Neither two parts, nor a part and the header, have a page of the file in common.
TEST(ShareRange, PartsOnANetworkFileSystemShareNoPage) {
  for (const std::uint64_t elements : {0U, 1U, 1000U, 20'000U, 100'003U, 10'000'019U}) {
    for (const std::uint64_t element_bytes : {1U, 4U, 8U, 12U, 100U}) {
      for (const std::uint64_t header_bytes : {0U, 128U}) {
        const auto border = [&](std::uint64_t part) {
          return part_border_on_network(elements, part, 7, element_bytes, header_bytes).value();
        };
        ASSERT_EQ(border(0), 0U);
        ASSERT_EQ(border(7), elements);
        for (std::uint64_t part = 1; part < 7; ++part) {
          ASSERT_GE(border(part), border(part - 1));
          const bool is_at_page = (header_bytes + border(part) * element_bytes) % 65536 == 0;
          const bool is_behind_header = header_bytes == 0 || border(part) > 0;
          ASSERT_TRUE(border(part) == elements || (is_at_page && is_behind_header));
        }
      }
    }
  }
}

TEST(ShareRange, PartsOnANetworkFileSystemNeedElementsThatBeginAtPages) {
  EXPECT_FALSE(part_border_on_network(1'000'000, 1, 2, 128, 129));
  EXPECT_FALSE(part_border_on_network(1000, 1, 2, 128, 129));
}

// 129 bytes before elements of 128: no element begins at a page.
TEST(ShareRange, PartsAreExactWhereNoElementBeginsAtAPage) {
  EXPECT_EQ(part_border(1'000'000, 1, 2, 128, 129), 500'000U);
}

}  // namespace
}  // namespace gsort
