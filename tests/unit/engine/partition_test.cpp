// Partitioning: every bucket gets its keys, all of them, in the order they were added, whether
// neighbours go to the same bucket or not.
#include "engine/cpu/partition.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "engine/footprint.hpp"
#include "io/system/memory.hpp"

namespace gsort::cpu {
namespace {

constexpr std::size_t kPageBytes = 1 * kKiB;
constexpr std::size_t kBuckets = 64;

template <class Key>
class PartitionerOf : public testing::Test {
 protected:
  // Adds `keys` in blocks of `block` keys and compares with lists filled key by key.
  static void expect_dealt_out(const std::vector<Key>& keys, std::size_t block) {
    const std::uint64_t pages = div_up(keys.size() * sizeof(Key), kPageBytes) + kBuckets;
    const io::Arena memory(pages * kPageBytes, "pages");
    PagePool pool(memory.bytes(), kPageBytes);
    const BucketMap<Key> map(std::span<Key>(), kBuckets);
    std::vector<std::vector<Key>> wanted(kBuckets);
    for (const Key key : keys) wanted[map(key)].push_back(key);

    Partitioner<Key> partitioner(map, pool);
    for (std::size_t at = 0; at < keys.size(); at += block) {
      partitioner.add(std::span(keys).subspan(at, std::min(block, keys.size() - at)));
    }
    std::vector<Bucket> buckets(kBuckets);
    partitioner.finish(buckets);

    for (std::size_t i = 0; i < kBuckets; ++i) {
      std::vector<Key> dealt;
      for (const PageChain& chain : buckets[i].chains) {
        for_each_page<Key>(pool, chain, [&](PagePool::Page, std::span<const Key> page) {
          dealt.insert(dealt.end(), page.begin(), page.end());
        });
      }
      ASSERT_EQ(buckets[i].count, wanted[i].size()) << "bucket " << i;
      ASSERT_TRUE(dealt == wanted[i]) << "bucket " << i;
    }
  }

  // Keys that go to one bucket `repeats` times, then to another one: random, or the next.
  static std::vector<Key> in_groups(std::size_t count, std::size_t repeats, bool ascending) {
    std::mt19937_64 random(repeats);
    const std::size_t groups = div_up(count, repeats);
    std::vector<Key> keys(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (i % repeats == 0) {
        const std::uint64_t high = ascending ? i / repeats * (~std::uint64_t{0} / groups)
                                             : static_cast<std::uint64_t>(random());
        keys[i] = static_cast<Key>(high >> (64 - 8 * sizeof(Key)));
      } else {
        keys[i] = keys[i - 1] + (random() % 2 == 0 ? 1 : 0);
      }
    }
    return keys;
  }
};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(PartitionerOf, Widths);

TYPED_TEST(PartitionerOf, DealsOutKeysInGroupsOfAnyLength) {
  for (const std::size_t repeats : {1U, 2U, 3U, 7U, 8U, 9U, 100U, 255U, 256U, 257U, 5'000U}) {
    for (const bool ascending : {false, true}) {
      SCOPED_TRACE(testing::Message() << "groups of " << repeats << ", " << ascending);
      this->expect_dealt_out(this->in_groups(20'011, repeats, ascending), 20'011);
      this->expect_dealt_out(this->in_groups(20'011, repeats, ascending), 333);
    }
  }
}

TYPED_TEST(PartitionerOf, DealsOutOneRepeatedKey) {
  for (const std::size_t count : {1U, 15U, 16U, 17U, 255U, 256U, 257U, 10'000U}) {
    this->expect_dealt_out(std::vector<TypeParam>(count, TypeParam{77}), 1'000);
  }
}

TYPED_TEST(PartitionerOf, DealsOutNothing) {
  this->expect_dealt_out({}, 1);
}

}  // namespace
}  // namespace gsort::cpu
