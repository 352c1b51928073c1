// The memories of several devices as one: every byte has one place, neighbouring buffers are in
// different memories, and what one memory says when it fails is said.
#include "io/runs/tier_group.hpp"

#include <gtest/gtest.h>

#include "base/parallel.hpp"
#include "io/runs/run_tier.hpp"
#include "support/vector_tier.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

using gsort::test::VectorTier;

constexpr std::uint64_t kBuffer = 4096;

// Memories of `buffers` buffers each, which the test looks into.
struct Group {
  Group(std::size_t count, std::uint64_t buffers)
      : Group(std::vector<std::uint64_t>(count, buffers)) {}
  explicit Group(const std::vector<std::uint64_t>& sizes) {
    std::vector<TierGroup::Member> owned;
    for (const std::uint64_t buffers : sizes) {
      auto member = std::make_unique<VectorTier>(buffers * kBuffer);
      members.push_back(member.get());
      owned.push_back({std::move(member), buffers});
    }
    tier = std::make_unique<TierGroup>(std::move(owned), kBuffer);
  }
  std::vector<VectorTier*> members;
  std::unique_ptr<TierGroup> tier;
};

Bytes read(TierMemory& tier, std::uint64_t offset, std::size_t bytes) {
  Bytes back(bytes);
  tier.get(offset, back);
  return back;
}

TEST(TierGroup, GivesBackWhatItWasGivenFromAnyOffset) {
  for (const std::size_t count : {1U, 2U, 3U, 16U}) {
    const Group group(count, 6);
    const Bytes all = random_bytes(count * 6 * kBuffer, count);
    group.tier->put(0, all);
    EXPECT_EQ(read(*group.tier, 0, all.size()), all) << count;
    for (const std::uint64_t begin : {std::uint64_t{1}, kBuffer - 1, kBuffer, 2 * kBuffer + 7}) {
      for (const std::size_t bytes : {std::uint64_t{0}, std::uint64_t{1}, kBuffer, 3 * kBuffer}) {
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(begin);
        EXPECT_EQ(read(*group.tier, begin, bytes),
                  Bytes(from, from + static_cast<std::ptrdiff_t>(bytes)))
            << count << " memories, " << bytes << " bytes at " << begin;
      }
    }
  }
}

TEST(TierGroup, PutsNeighbouringBuffersIntoDifferentMemories) {
  const Group group(3, 2);
  for (std::size_t buffer = 0; buffer < 6; ++buffer) {
    group.tier->put(buffer * kBuffer, Bytes(kBuffer, static_cast<std::byte>(buffer)));
  }
  for (std::size_t buffer = 0; buffer < 6; ++buffer) {
    VectorTier& member = *group.members[buffer % 3];
    EXPECT_EQ(member[buffer / 3 * kBuffer], static_cast<std::byte>(buffer));
    EXPECT_EQ(member[(buffer / 3 + 1) * kBuffer - 1], static_cast<std::byte>(buffer));
  }
}

TEST(TierGroup, PassesOverMemoriesThatAreFull) {
  const Group group({1, 3, 0, 2});
  ASSERT_EQ(group.tier->buffers(), 6U);
  for (std::size_t buffer = 0; buffer < 6; ++buffer) {
    group.tier->put(buffer * kBuffer, Bytes(kBuffer, static_cast<std::byte>(buffer + 1)));
  }
  const auto holds = [&](std::size_t member, std::size_t place) {
    return static_cast<int>((*group.members[member])[place * kBuffer]) - 1;
  };
  EXPECT_EQ(holds(0, 0), 0);
  EXPECT_EQ(std::vector<int>({holds(1, 0), holds(1, 1), holds(1, 2)}), std::vector<int>({1, 3, 5}));
  EXPECT_EQ(std::vector<int>({holds(3, 0), holds(3, 1)}), std::vector<int>({2, 4}));
}

TEST(TierGroup, GivesBackWhatUnlikeMemoriesWereGiven) {
  const Group group({5, 1, 9, 5, 2});
  const Bytes all = random_bytes(22 * kBuffer, 1);
  group.tier->put(7, ConstByteSpan(all).first(all.size() - 7));
  EXPECT_EQ(read(*group.tier, 7, all.size() - 7), Bytes(all.begin(), all.end() - 7));
}

TEST(TierGroup, FillsAllMemoriesOfATierFromManyThreads) {
  constexpr std::size_t kThreads = 8;
  const Group group(3, 8);
  RunTier tier(group.tier.get(), 24, kBuffer);
  std::vector<int> wrong(kThreads, 0);
  run_workers(kThreads, [&](unsigned thread) {
    const Bytes bytes = random_bytes(kBuffer, thread);
    for (int round = 0; round < 3; ++round) {
      const auto offset = tier.append(bytes);
      wrong[thread] += offset && read(*group.tier, *offset, kBuffer) == bytes ? 0 : 1;
    }
  });
  EXPECT_EQ(wrong, std::vector<int>(kThreads, 0));
  EXPECT_EQ(tier.append(Bytes(1)), std::nullopt) << "there was room for 24 buffers";
}

TEST(TierGroup, PassesOnTheErrorOfOneMemory) {
  const Group group(2, 2);
  group.members[1]->fail_after(0);
  const Bytes bytes(kBuffer);
  group.tier->put(0, bytes);
  EXPECT_THROW(group.tier->put(kBuffer, bytes), Error);
  Bytes all(2 * kBuffer);
  EXPECT_THROW(group.tier->get(0, all), Error);
}

}  // namespace
}  // namespace gsort::io
