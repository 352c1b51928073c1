#include "gen/generate.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "gen/worst_merge.hpp"

namespace gsort {
namespace {

std::vector<std::byte> bytes_for(const GenSpec& spec, std::uint64_t from, std::uint64_t count) {
  std::vector<std::byte> bytes(count * bytes_of(spec.format.type));
  generate(spec, from, bytes);
  return bytes;
}

// The keys as ordered numbers.
template <class Key>
std::vector<Key> keys_for(const GenSpec& spec) {
  const auto bytes = bytes_for(spec, 0, spec.count);
  std::vector<Key> keys(spec.count);
  if (!bytes.empty()) std::memcpy(keys.data(), bytes.data(), bytes.size());
  const auto map = KeyMap<Key>::of(spec.format);
  for (Key& key : keys) key = map.to_ordered(key);
  return keys;
}

GenSpec u32_spec(Distribution distribution, std::uint64_t count) {
  return {{KeyType::kU32, false, false}, distribution, 7, count};
}

TEST(Generate, GivesTheSameBytesForAnyCut) {
  for (const Distribution distribution : kAllDistributions) {
    for (const KeyType type : kAllKeyTypes) {
      const GenSpec spec{{type, true, false}, distribution, 3, 20'001};
      const auto whole = bytes_for(spec, 0, spec.count);
      const auto part = bytes_for(spec, 4'567, 8'901);
      EXPECT_TRUE(std::equal(part.begin(), part.end(),
                             whole.begin() + static_cast<std::ptrdiff_t>(4'567 * bytes_of(type))))
          << name_of(distribution) << ' ' << name_of(type);
    }
  }
}

TEST(Generate, MakesNothingAndOneElement) {
  for (const Distribution distribution : kAllDistributions) {
    EXPECT_TRUE(keys_for<std::uint32_t>(u32_spec(distribution, 0)).empty());
    EXPECT_EQ(keys_for<std::uint32_t>(u32_spec(distribution, 1)).size(), 1U);
  }
}

TEST(Generate, SortsByTheOrderOfEachType) {
  for (const KeyType type : kAllKeyTypes) {
    const GenSpec sorted{{type, true, false}, Distribution::kSorted, 5, 70'000};
    GenSpec reversed = sorted;
    reversed.distribution = Distribution::kReversed;
    with_key_of_width(bytes_of(type), [&](auto key) {
      auto keys = keys_for<decltype(key)>(sorted);
      EXPECT_TRUE(std::ranges::is_sorted(keys)) << name_of(type);
      std::ranges::reverse(keys);
      EXPECT_EQ(keys, keys_for<decltype(key)>(reversed)) << name_of(type);
    });
  }
}

TEST(Generate, DiffersBySeed) {
  GenSpec spec = u32_spec(Distribution::kUniform, 100);
  const auto first = keys_for<std::uint32_t>(spec);
  spec.seed = 8;
  EXPECT_NE(first, keys_for<std::uint32_t>(spec));
}

TEST(Generate, SpreadsUniformKeysOverTheRange) {
  const auto keys = keys_for<std::uint32_t>(u32_spec(Distribution::kUniform, 100'000));
  std::vector<int> buckets(16);
  for (const std::uint32_t key : keys) ++buckets[key >> 28];
  for (const int bucket : buckets) EXPECT_NEAR(bucket, 100'000 / 16.0, 400);
}

TEST(Generate, KeepsNearlyAllInOrder) {
  const auto keys = keys_for<std::uint32_t>(u32_spec(Distribution::kNearlySorted, 100'000));
  std::size_t descents = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) descents += keys[i] < keys[i - 1] ? 1U : 0U;
  EXPECT_GT(descents, 500U);
  EXPECT_LT(descents, 1'500U);
}

TEST(Generate, RepeatsKeysAsNamed) {
  const auto distinct = [](Distribution distribution) {
    const auto keys = keys_for<std::uint32_t>(u32_spec(distribution, 10'000));
    return std::set(keys.begin(), keys.end());
  };
  EXPECT_EQ(distinct(Distribution::kEqual).size(), 1U);
  EXPECT_EQ(distinct(Distribution::kFewDistinct).size(), 16U);
  EXPECT_EQ(distinct(Distribution::kAllMaximum), std::set<std::uint32_t>{0xffffffffU});
}

TEST(Generate, MakesTheFirstZipfKeyTheMostFrequent) {
  auto keys = keys_for<std::uint32_t>(u32_spec(Distribution::kZipf, 100'000));
  std::ranges::sort(keys);
  std::vector<std::size_t> counts;
  for (auto it = keys.begin(); it != keys.end();) {
    const auto next = std::upper_bound(it, keys.end(), *it);
    counts.push_back(static_cast<std::size_t>(next - it));
    it = next;
  }
  std::ranges::sort(counts, std::greater{});
  EXPECT_GT(counts.size(), 1'000U);
  EXPECT_GT(counts[0], 4'000U);
  EXPECT_LT(counts[100], counts[0] / 20);
}

TEST(Generate, RisesAndFallsLikeAnOrganPipe) {
  const auto keys = keys_for<std::uint32_t>(u32_spec(Distribution::kOrganPipe, 10'001));
  const auto peak = std::ranges::max_element(keys);
  EXPECT_EQ(peak - keys.begin(), 5'000);
  EXPECT_TRUE(std::is_sorted(keys.begin(), peak));
  EXPECT_TRUE(std::is_sorted(peak, keys.end(), std::greater{}));
}

TEST(Generate, StartsEachToothAtTheBottom) {
  const auto keys = keys_for<std::uint32_t>(u32_spec(Distribution::kSawtooth, 80'000));
  EXPECT_EQ(std::ranges::count(keys, 0U), 8);
}

TEST(Generate, NamesEveryDistribution) {
  for (const Distribution distribution : kAllDistributions) {
    EXPECT_EQ(distribution_named(name_of(distribution)), distribution);
  }
  EXPECT_FALSE(distribution_named("gauss"));
}

TEST(WorstMerge, IsAPermutationOfAnySize) {
  const WorstMerge worst;
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7'680},
                                    std::uint64_t{2 * 7'680}, std::uint64_t{5 * 7'680 + 3}}) {
    std::vector<bool> seen(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t rank = worst.rank_of(i, count);
      ASSERT_LT(rank, count);
      ASSERT_FALSE(seen[rank]);
      seen[rank] = true;
    }
  }
}

// The claim itself: count how many threads of a warp read one bank in one step of the last merge.
TEST(WorstMerge, MakesThreadsOfAWarpMeetInOneBank) {
  constexpr std::uint64_t kCount = 2 * WorstMerge::kTile;
  const WorstMerge worst;
  std::vector<std::uint64_t> place(
      kCount);  // of each rank: its position in its sorted run, A then B
  for (std::uint64_t run = 0; run < 2; ++run) {
    std::vector<std::uint64_t> ranks(WorstMerge::kTile);
    for (std::uint64_t i = 0; i < ranks.size(); ++i) {
      ranks[i] = worst.rank_of(run * WorstMerge::kTile + i, kCount);
    }
    std::ranges::sort(ranks);
    for (std::uint64_t i = 0; i < ranks.size(); ++i) place[ranks[i]] = run * WorstMerge::kTile + i;
  }
  std::uint64_t turns = 0;
  for (std::uint64_t step = 0; step < WorstMerge::kPerThread; ++step) {
    std::vector<std::uint64_t> readers(WorstMerge::kWarp);
    for (std::uint64_t thread = 0; thread < WorstMerge::kWarp; ++thread) {
      ++readers[place[thread * WorstMerge::kPerThread + step] % WorstMerge::kWarp];
    }
    turns += std::ranges::max(readers);
  }
  EXPECT_EQ(turns, std::uint64_t{12} * WorstMerge::kPerThread);
}

TEST(Generate, MakesNumbersThatCrowdFewCells) {
  constexpr std::uint64_t kCount = 100'000;
  const GenSpec normal{{KeyType::kF64, false, false}, Distribution::kNormal, 7, kCount};
  std::vector<double> numbers(kCount);
  generate(normal, 0, std::as_writable_bytes(std::span(numbers)));
  double sum = 0;
  double squares = 0;
  for (const double number : numbers) {
    sum += number;
    squares += number * number;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  const GenSpec signs{{KeyType::kF32, false, false}, Distribution::kBothSigns, 7, kCount};
  std::vector<float> floats(kCount);
  generate(signs, 0, std::as_writable_bytes(std::span(floats)));
  EXPECT_TRUE(std::all_of(floats.begin(), floats.end(), [](float f) { return f >= -1 && f <= 1; }));
  const auto negative = std::count_if(floats.begin(), floats.end(), [](float f) { return f < 0; });
  EXPECT_NEAR(static_cast<double>(negative) / kCount, 0.5, 0.02);
}

TEST(Generate, MakesTimesInBurstsAndKeysOfEveryWidth) {
  constexpr std::uint64_t kCount = 100'000;
  const GenSpec times{{KeyType::kU64, false, false}, Distribution::kClusteredTimes, 7, kCount};
  std::uint64_t far = 0;
  std::set<std::uint64_t> seconds;
  for (const std::uint64_t time : keys_for<std::uint64_t>(times)) {
    const std::uint64_t second = time / 1'000'000'000;
    const bool is_near = second >= 1'400'000'000 && second < 1'715'360'000;
    if (is_near) seconds.insert(second);
    far += is_near ? 0 : 1;
  }
  EXPECT_GT(far, 50U);
  EXPECT_LT(far, 200U);
  EXPECT_GT(seconds.size(), 250U);
  EXPECT_LE(seconds.size(), 310U);  // some far ones are near by chance
  const GenSpec widths{{KeyType::kU32, false, false}, Distribution::kRandomWidth, 7, kCount};
  std::vector<std::uint64_t> of_width(33);
  for (const std::uint32_t key : keys_for<std::uint32_t>(widths)) {
    unsigned width = 0;
    while (width < 32 && key >> width != 0) ++width;
    ++of_width[width];
  }
  for (unsigned width = 1; width <= 32; ++width) EXPECT_GT(of_width[width], kCount / 100) << width;
}

}  // namespace
}  // namespace gsort
