#include "engine/cpu/bucket_split.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "engine/footprint.hpp"
#include "io/system/memory.hpp"

namespace gsort::cpu {
namespace {

constexpr std::size_t kPageBytes = 2 * kKiB;

template <class Key>
class SplitLargeBuckets : public testing::Test {
 protected:
  // Deals `keys` out to `buckets` buckets by a map that knows nothing, splits what is too large,
  // and checks everything that is promised.
  static void expect_splits(const std::vector<Key>& keys, std::size_t buckets, std::uint64_t limit,
                            unsigned workers = 2) {
    const std::uint64_t pages = div_up(keys.size() * sizeof(Key), kPageBytes) +
                                CpuChunkFootprint::slack_pages(buckets, workers);
    const io::Arena memory(pages * kPageBytes, "pages");
    PagePool pool(memory.bytes(), kPageBytes);
    const BucketMap<Key> map(std::span<Key>(), buckets);
    std::vector<Bucket> dealt(buckets);
    Partitioner<Key> partitioner(map, pool);
    partitioner.add(keys);
    partitioner.finish(dealt);

    TaskArena tasks(workers);
    split_large_buckets<Key>(dealt, limit, pool, tasks);

    std::vector<Key> collected;
    bool first = true;
    Key greatest = 0;
    for (const Bucket& bucket : dealt) {
      if (bucket.count == 0) continue;
      const std::vector<Key> part = keys_of(bucket, pool);
      ASSERT_EQ(part.size(), bucket.count);
      const auto [low, high] = std::minmax_element(part.begin(), part.end());
      ASSERT_TRUE(first || *low >= greatest) << "buckets are out of order";
      ASSERT_TRUE(!bucket.uniform || *low == *high);
      ASSERT_TRUE(bucket.uniform || bucket.count <= limit) << bucket.count;
      first = false;
      greatest = *high;
      collected.insert(collected.end(), part.begin(), part.end());
    }
    std::vector<Key> wanted = keys;
    std::sort(wanted.begin(), wanted.end());
    std::sort(collected.begin(), collected.end());
    EXPECT_TRUE(collected == wanted) << "keys were lost or changed";
  }

 private:
  static std::vector<Key> keys_of(const Bucket& bucket, const PagePool& pool) {
    std::vector<Key> keys;
    for (const PageChain& chain : bucket.chains) {
      for_each_page<Key>(pool, chain, [&](PagePool::Page, std::span<const Key> page) {
        keys.insert(keys.end(), page.begin(), page.end());
      });
    }
    return keys;
  }
};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(SplitLargeBuckets, Widths);

template <class Key, class Make>
std::vector<Key> made(std::size_t count, const Make& make) {
  std::mt19937_64 random(count);
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>(make(random));
  return keys;
}

TYPED_TEST(SplitLargeBuckets, LeavesBucketsWithinTheLimitAlone) {
  this->expect_splits(made<TypeParam>(10'000, [](auto& r) { return r(); }), 16, 10'000);
}

TYPED_TEST(SplitLargeBuckets, SplitsEverythingInOneBucket) {
  this->expect_splits(made<TypeParam>(100'000, [](auto& r) { return r() % 1'000'000; }), 16, 1'000);
  this->expect_splits(made<TypeParam>(100'000, [](auto& r) { return r(); }), 1, 5'000);
}

TYPED_TEST(SplitLargeBuckets, MarksOneRepeatedKeyAsUniform) {
  this->expect_splits(made<TypeParam>(50'000, [](auto&) { return 7; }), 4, 1'000);
  this->expect_splits(made<TypeParam>(50'000, [](auto&) { return ~std::uint64_t{0}; }), 4, 1'000);
}

TYPED_TEST(SplitLargeBuckets, TellsTwoNeighbouringKeysApart) {
  this->expect_splits(made<TypeParam>(50'000, [](auto& r) { return 12'345 + r() % 2; }), 4, 1'000);
  this->expect_splits(
      made<TypeParam>(50'000, [](auto& r) { return r() % 20 == 0 ? ~std::uint64_t{0} : 0; }), 4,
      1'000);
}

TYPED_TEST(SplitLargeBuckets, SplitsKeysAmongWhichOneRepeatsMost) {
  this->expect_splits(
      made<TypeParam>(100'000, [](auto& r) { return r() % 10 < 9 ? 1'000'000 : r(); }), 16, 2'000);
}

// Each pass narrows the range only a little: the deepest splitting there is.
TYPED_TEST(SplitLargeBuckets, SplitsKeysAtAllScales) {
  this->expect_splits(made<TypeParam>(200'000,
                                      [](auto& r) {
                                        const auto bits = static_cast<TypeParam>(r());
                                        return bits >> (r() % (8 * sizeof(TypeParam)));
                                      }),
                      8, 3'000, 1);
}

// A sample sees one key in twelve; between the keys it sees lie others.
TYPED_TEST(SplitLargeBuckets, SplitsAClusterBesideFarOutliers) {
  this->expect_splits(
      made<TypeParam>(
          200'000,
          [](auto& r) { return r() % 1'000 == 0 ? r() : std::uint64_t{1} << 20 | r() % 5'000; }),
      8, 3'000);
}

}  // namespace
}  // namespace gsort::cpu
