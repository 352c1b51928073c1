#include "engine/cpu/in_place/in_place_sort.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/parallel.hpp"
#include "support/some_of.hpp"
#include "support/sorted_copy.hpp"

namespace gsort::cpu {
namespace {

using test::Bytes;

// Small sizes, so that few keys make many blocks, buckets and levels.
constexpr InPlaceTuning kTunings[] = {
    {.most_buckets = 2,
     .block_bytes = 64,
     .bucket_bytes = 1024,
     .cache_bytes = 1024,
     .worker_bytes = 512},
    {.most_buckets = 7,
     .block_bytes = 256,
     .bucket_bytes = 1024,
     .cache_bytes = 2048,
     .worker_bytes = 4096},
    {.most_buckets = 64,
     .block_bytes = 64,
     .bucket_bytes = 512,
     .cache_bytes = 1024,
     .worker_bytes = 512},
    {.most_buckets = 64,
     .block_bytes = 2048,
     .bucket_bytes = 8192,
     .cache_bytes = 16384,
     .worker_bytes = 4096},
};

class InPlaceSort : public testing::TestWithParam<KeyType> {
 protected:
  // Sorts a copy that lies between poisoned neighbours, `skip` keys from an aligned address.
  template <class Key>
  static void expect_sorted(const Bytes& raw, const Bytes& sorted, std::size_t skip,
                            const KeyFormat& format, unsigned threads,
                            const InPlaceTuning& tuning) {
    constexpr std::size_t kGuard = 64;
    const std::size_t count = raw.size() / sizeof(Key);
    Bytes wanted((count + skip + 2 * kGuard) * sizeof(Key), std::byte{0x5a});
    std::vector<Key> memory(count + skip + 2 * kGuard);
    std::memcpy(memory.data(), wanted.data(), wanted.size());
    const std::size_t begin = kGuard + skip;
    if (count > 0) std::memcpy(&memory[begin], raw.data(), raw.size());
    std::ranges::copy(sorted, wanted.begin() + static_cast<std::ptrdiff_t>(begin * sizeof(Key)));
    sort_in_place<Key>(std::span(memory).subspan(begin, count), KeyMap<Key>::of(format), threads,
                       tuning);
    EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(memory)), wanted));
  }

  static void expect_sorted(const Bytes& raw, const Bytes& sorted, std::size_t skip,
                            const KeyFormat& format, unsigned threads,
                            const InPlaceTuning& tuning) {
    switch (bytes_of(format.type)) {
      case 4:
        return expect_sorted<std::uint32_t>(raw, sorted, skip, format, threads, tuning);
      case 8:
        return expect_sorted<std::uint64_t>(raw, sorted, skip, format, threads, tuning);
      default:
        return expect_sorted<UInt128>(raw, sorted, skip, format, threads, tuning);
    }
  }

  static void expect_all_sorted(std::span<const std::size_t> counts, const KeyFormat& format,
                                std::initializer_list<unsigned> teams,
                                const InPlaceTuning& tuning) {
    test::SomeOf cases(2);
    for (const Distribution distribution : kAllDistributions) {
      for (const std::size_t count : counts) {
        if (!cases.takes()) continue;
        const Bytes raw = test::generated(format, distribution, count, count);
        const Bytes sorted = test::sorted_copy(raw, format);
        for (const unsigned threads : teams) {
          SCOPED_TRACE(testing::Message() << test::words_of(format) << ' ' << name_of(distribution)
                                          << ", " << count << " keys, " << threads << " threads, "
                                          << tuning.most_buckets << " buckets");
          expect_sorted(raw, sorted, count % 7, format, threads, tuning);
        }
      }
    }
  }
};

TEST_P(InPlaceSort, EqualsStdSortAtBordersOfBlocks) {
  KeyFormat format;
  format.type = GetParam();
  for (const InPlaceTuning& tuning : kTunings) {
    const std::size_t block = tuning.block_bytes / bytes_of(format.type);
    const std::size_t few = tuning.cache_bytes / bytes_of(format.type);
    const std::size_t counts[] = {
        0, 1, 2, few - 1, few, few + 1, 40 * block, 40 * block + 1, 40 * block - 1, 4'999, 12'345};
    expect_all_sorted(counts, format, {1U, 2U, 5U}, tuning);
  }
}

// So many keys are too many to halve, also for one worker, and for the buckets of a distribution.
TEST_P(InPlaceSort, DistributesLargeBucketsAgain) {
  constexpr std::size_t kCount[] = {100'003};
  KeyFormat format;
  format.type = GetParam();
  expect_all_sorted(kCount, format, {1U, 5U}, kTunings[0]);
}

TEST_P(InPlaceSort, KnowsEveryByteOrderAndDirection) {
  constexpr std::size_t kCount[] = {9'001};
  for (const KeyFormat& format : test::formats_of(GetParam())) {
    expect_all_sorted(kCount, format, {3U}, kTunings[2]);
  }
}

TEST_P(InPlaceSort, HasSizesOfItsOwn) {
  constexpr std::size_t kCount[] = {700'001};
  KeyFormat format;
  format.type = GetParam();
  expect_all_sorted(kCount, format, {1U, 3U}, {});
}

// They share a buffer that one of them may keep.
TEST(InPlaceSortOfFewKeys, MayRunInSeveralThreadsAtOnce) {
  run_workers(4, [](unsigned worker) {
    for (const std::size_t count : {8'191U, 8'193U, 100'000U, 131'072U}) {
      std::vector<std::uint64_t> keys(count);
      std::mt19937_64 random(worker + count);
      std::ranges::generate(keys, random);
      std::vector<std::uint64_t> sorted = keys;
      std::ranges::sort(sorted);
      sort_in_place<std::uint64_t>(keys, {}, 1);
      EXPECT_TRUE(keys == sorted) << count << " keys";
    }
  });
}

std::vector<KeyType> wide_types() {
  std::vector<KeyType> types;
  std::ranges::copy_if(kAllKeyTypes, std::back_inserter(types),
                       [](KeyType type) { return bytes_of(type) >= 4; });
  return types;
}

INSTANTIATE_TEST_SUITE_P(Types, InPlaceSort, testing::ValuesIn(wide_types()),
                         [](const auto& type) { return std::string(name_of(type.param)); });

}  // namespace
}  // namespace gsort::cpu
