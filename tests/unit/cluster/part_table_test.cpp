#include "cluster/part_table.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

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

TEST(PartTable, PutsBordersOfRanksWhereTheFileHasMultiples) {
  const PartTable table({1000, 4, 33, 64, 16});
  for (unsigned rank = 1; rank < 4; ++rank) {
    EXPECT_EQ((table.begin_of(rank) + 16) % 64, 0);
    EXPECT_LT(1000 * rank / 4 - table.begin_of(rank), 64);
  }
  EXPECT_EQ(table.borders().back(), 1000);
  const PartTable small({10, 4, 33, 64, 16});
  EXPECT_EQ(small.parts(3), 1);
  EXPECT_EQ(small.parts(0), 0);
}

}  // namespace
}  // namespace gsort::cluster
