#include "cluster/part_table.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace gsort::cluster {
namespace {

TEST(PartTable, GivesEveryRankItsShare) {
  for (const std::uint64_t elements : {0U, 1U, 2U, 5U, 1000U, 1001U}) {
    for (unsigned ranks = 1; ranks <= 8; ++ranks) {
      const PartTable table({elements, ranks, 7, 1, 0});
      EXPECT_EQ(table.borders().front(), 0);
      EXPECT_EQ(table.borders().back(), elements);
      for (unsigned rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(table.begin_of(rank), elements * rank / ranks);
        std::vector<std::uint64_t> turns;
        for (std::uint64_t turn = 0; turn < table.parts(rank); ++turn) {
          turns.push_back(table.in_turn(rank, turn));
          EXPECT_LE(table.elements(table.first(rank) + turn), 7);
          EXPECT_GT(table.elements(table.first(rank) + turn), 0);
        }
        std::ranges::sort(turns);
        for (std::uint64_t turn = 0; turn < turns.size(); ++turn) EXPECT_EQ(turns[turn], turn);
      }
    }
  }
}

TEST(PartTable, GivesARankTheShareThatIsAssigned) {
  PartTable table({101, 3, 7, 1, 0});
  EXPECT_EQ(table.share(2), 2);
  const PartTable in_order = table;
  table.assign({2, 0, 1});
  EXPECT_EQ(table.borders(), in_order.borders());
  for (unsigned rank = 0; rank < 3; ++rank) {
    const unsigned share = table.share(rank);
    EXPECT_EQ(share, (rank + 2) % 3);
    EXPECT_EQ(table.first(rank), in_order.first(share));
    EXPECT_EQ(table.parts(rank), in_order.parts(share));
    EXPECT_EQ(table.begin_of(rank), in_order.begin_of(share));
    EXPECT_EQ(table.end_of(rank), in_order.end_of(share));
    EXPECT_LT(table.in_turn(rank, table.parts(rank) - 1), table.parts(rank));
  }
}

TEST(PartTable, PutsBordersOfRanksWhereTheFileHasMultiples) {
  const PartTable table({1000, 4, 33, 64, 16});
  for (unsigned rank = 1; rank < 4; ++rank) {
    EXPECT_EQ((table.begin_of(rank) + 16) % 64, 0);
    EXPECT_LT(table.begin_of(rank) - 1000 * rank / 4, 64);
  }
  EXPECT_EQ(table.borders().back(), 1000);
  const PartTable small({10, 4, 33, 64, 16});
  EXPECT_EQ(small.parts(0), 1);
  EXPECT_EQ(small.parts(3), 0);
}

// Two hosts never write to one page of a network file system, nor to that of the header.
TEST(PartTable, PutsBordersAtPagesOfANetworkFileSystem) {
  constexpr std::uint64_t kPage = 65536;
  for (const std::uint64_t element : {1U, 4U, 8U, 12U, 24U, 100U}) {
    for (const std::uint64_t header : {0U, 24U, 128U}) {
      for (const std::uint64_t elements : {0U, 1U, 9U, 100'000U, 9'000'000U}) {
        const OneFile file{element, header, true};
        const PartSizes sizes{elements, 3, 1000, 1, 0};
        if (header % std::gcd(element, kPage) != 0) {
          EXPECT_THROW((void)aligned_in_file(sizes, file), Error);
          continue;
        }
        const PartTable table(aligned_in_file(sizes, file));
        EXPECT_EQ(table.borders().back(), elements);
        for (unsigned rank = 1; rank < 3; ++rank) {
          const std::uint64_t border = table.begin_of(rank);
          const bool is_at_end = border == elements || (border == 0 && header == 0);
          EXPECT_TRUE((header + border * element) % kPage == 0 || is_at_end)
              << border << " of " << elements << " elements of " << element;
        }
      }
    }
  }
}

TEST(PartTable, HasExactSharesOfShortFilesElsewhere) {
  const PartSizes sizes{1000, 3, 33, 1, 0};
  const PartTable table(aligned_in_file(sizes, {8, 128, false}));
  EXPECT_EQ(table.begin_of(1), 333);
  EXPECT_EQ(table.begin_of(2), 666);
}

TEST(PartTable, PutsBordersOfLongFilesAtMultiplesOf4MiBBehindAnyHeader) {
  const PartSizes sizes{100'000'000, 3, 1'000'000, 1, 0};
  for (const std::uint64_t element : {8U, 16U}) {
    const PartTable table(aligned_in_file(sizes, {element, 128, false}));
    for (unsigned rank = 1; rank < 3; ++rank) {
      EXPECT_EQ((128 + table.begin_of(rank) * element) % (4 << 20), 0U);
    }
  }
}

// Whatever the length of the elements is.
TEST(PartTable, HasSharesOfLongFilesThatAreExactTo4MiB) {
  const PartSizes sizes{1'000'000'000, 3, 10'000'000, 1, 0};
  for (const std::uint64_t element : {1U, 8U, 12U, 24U, 100U, 101U, 999U, 1000U, 1024U}) {
    for (const bool is_on_network : {false, true}) {
      const std::uint64_t page = is_on_network ? 65536 : 4096;
      const PartTable table(aligned_in_file(sizes, {element, 0, is_on_network}));
      for (unsigned rank = 1; rank < 3; ++rank) {
        EXPECT_EQ(table.begin_of(rank) * element % page, 0U) << element;
        const std::uint64_t behind = table.begin_of(rank) - 1'000'000'000ULL * rank / 3;
        const std::uint64_t most = std::max<std::uint64_t>(4 << 20, std::lcm(page, element));
        EXPECT_LT(behind * element, most + element) << element;
      }
    }
  }
}

}  // namespace
}  // namespace gsort::cluster
