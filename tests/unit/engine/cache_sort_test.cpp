#include "engine/cpu/cache_sort.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "support/sorted_copy.hpp"

namespace gsort::cpu {
namespace {

template <class Key>
class CacheSort : public testing::Test {
 protected:
  ~CacheSort() override { use_cache_sorter<Key>(CacheSorter::kDefault); }

  // Sorts in all ways, by this processor's best instruction set.
  static void expect_sorts(const std::vector<Key>& keys, std::size_t skip = 0) {
    for (const CacheSorter sorter : {CacheSorter::kSpread, CacheSorter::kQuick}) {
      SCOPED_TRACE(sorter == CacheSorter::kQuick ? "quick" : "spread");
      use_cache_sorter<Key>(sorter);
      expect_sorted(keys, skip);
    }
  }

  static void expect_sorted(const std::vector<Key>& keys, std::size_t skip) {
    const KeyMap<Key> map = KeyMap<Key>::of({sizeof(Key) == 4 ? KeyType::kF32 : KeyType::kF64});
    for (const KeyMap<Key>* before : {static_cast<const KeyMap<Key>*>(nullptr), &map}) {
      for (const KeyMap<Key>* after : {static_cast<const KeyMap<Key>*>(nullptr), &map}) {
        SCOPED_TRACE(testing::Message() << (before != nullptr) << (after != nullptr));
        expect_sorted(keys, skip, {before, after});
      }
    }
  }

  // Sorts a copy that lies between poisoned neighbours, `skip` keys from an aligned address.
  static void expect_sorted(std::vector<Key> keys, std::size_t skip, const CacheForms<Key>& forms) {
    std::vector<Key> wanted = keys;
    std::sort(wanted.begin(), wanted.end());
    for (Key& key : keys) key = forms.to_ordered == nullptr ? key : forms.to_ordered->to_raw(key);
    for (Key& key : wanted) key = forms.to_raw == nullptr ? key : forms.to_raw->to_raw(key);
    constexpr std::size_t kGuard = 64;
    constexpr auto kPoison = static_cast<Key>(0x5aa5a55a5aa5a55aULL);
    std::vector<Key> memory(keys.size() + skip + 2 * kGuard, kPoison);
    std::vector<Key> scratch(memory.size(), kPoison);
    const auto at = static_cast<std::ptrdiff_t>(kGuard + skip);
    std::copy(keys.begin(), keys.end(), memory.begin() + at);
    cache_sort(std::span(memory).subspan(kGuard + skip, keys.size()),
               std::span(scratch).subspan(kGuard + skip, keys.size()), forms);
    ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), memory.begin() + at));
    const auto is_poison = [](Key key) { return key == kPoison; };
    for (const std::vector<Key>& buffer : {memory, scratch}) {
      EXPECT_TRUE(std::all_of(buffer.begin(), buffer.begin() + at, is_poison));
      EXPECT_TRUE(std::all_of(buffer.end() - kGuard, buffer.end(), is_poison));
    }
  }

  // Merges the keys, cut into slices that are then sorted, to a place between poisoned neighbours.
  // All slices but the last have `each` keys, or as many as the last, if that is 0.
  static void expect_merges(const std::vector<Key>& keys, std::size_t count_of_slices,
                            std::size_t each = 0) {
    std::vector<Key> wanted = keys;
    std::sort(wanted.begin(), wanted.end());
    std::vector<Key> input = keys;
    std::vector<std::span<const Key>> slices;
    for (std::size_t i = 0; i < count_of_slices; ++i) {
      const auto cut = [&](std::size_t at) {
        return each == 0 || at == count_of_slices ? input.size() * at / count_of_slices : at * each;
      };
      const std::span<Key> slice = std::span(input).subspan(cut(i), cut(i + 1) - cut(i));
      if (slice.empty()) continue;
      std::sort(slice.begin(), slice.end());
      slices.push_back(slice);
    }
    const std::vector<Key> before = input;
    constexpr std::size_t kGuard = 64;
    constexpr auto kPoison = static_cast<Key>(0x5aa5a55a5aa5a55aULL);
    std::vector<Key> memory(keys.size() + 2 * kGuard, kPoison);
    std::vector<Key> scratch(memory.size(), kPoison);
    cache_merge<Key>(slices, std::span(memory).subspan(kGuard, keys.size()),
                     std::span(scratch).subspan(kGuard, keys.size()));
    const auto is_poison = [](Key key) { return key == kPoison; };
    ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), memory.begin() + kGuard));
    EXPECT_EQ(input, before);
    for (const std::vector<Key>& buffer : {memory, scratch}) {
      EXPECT_TRUE(std::all_of(buffer.begin(), buffer.begin() + kGuard, is_poison));
      EXPECT_TRUE(std::all_of(buffer.end() - kGuard, buffer.end(), is_poison));
    }
  }

  static std::vector<Key> keys_of(Distribution distribution, std::size_t count) {
    const KeyFormat format{sizeof(Key) == 4 ? KeyType::kU32 : KeyType::kU64, false, false};
    const test::Bytes raw = test::generated(format, distribution, count, count);
    const auto keys = test::keys_in<Key>(raw);
    return {keys.begin(), keys.end()};
  }
};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(CacheSort, Widths);

TYPED_TEST(CacheSort, SortsEverySmallSizeAtEveryMisalignment) {
  for (std::size_t count = 0; count <= 140; ++count) {
    for (const Distribution distribution :
         {Distribution::kUniform, Distribution::kFewDistinct, Distribution::kAllMaximum}) {
      for (const std::size_t skip : {0U, 1U, 3U}) {
        SCOPED_TRACE(testing::Message() << count << ' ' << name_of(distribution));
        this->expect_sorts(this->keys_of(distribution, count), skip);
      }
    }
  }
}

TYPED_TEST(CacheSort, SortsEveryDistributionAtTheSizeOfABucket) {
  for (const Distribution distribution : kAllDistributions) {
    for (const std::size_t count : {4'095U, 65'537U}) {
      SCOPED_TRACE(testing::Message() << count << ' ' << name_of(distribution));
      this->expect_sorts(this->keys_of(distribution, count));
    }
  }
}

TYPED_TEST(CacheSort, SortsByEveryInstructionSet) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    for (const Distribution distribution : kAllDistributions) {
      for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 129U, 1'000U, 4'095U, 33'001U}) {
        SCOPED_TRACE(testing::Message() << count << ' ' << name_of(distribution));
        this->expect_sorts(this->keys_of(distribution, count), count % 3);
      }
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

TYPED_TEST(CacheSort, MergesSlicesByEveryInstructionSet) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    for (const Distribution distribution : kAllDistributions) {
      for (const std::size_t slices : {2U, 5U, 24U, 60U, 200U}) {
        for (const std::size_t count : {2U, 63U, 1'000U, 33'001U}) {
          SCOPED_TRACE(testing::Message()
                       << count << ' ' << slices << ' ' << name_of(distribution));
          this->expect_merges(this->keys_of(distribution, count), slices);
        }
      }
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

TYPED_TEST(CacheSort, MergesOneLongSliceWithManyShortOnes) {
  for (const Distribution distribution : kAllDistributions) {
    const std::vector<TypeParam> keys = this->keys_of(distribution, 20'000);
    for (const std::size_t each : {1U, 3U, 150U}) {
      for (const std::size_t slices : {2U, 3U, 60U, 120U}) {
        SCOPED_TRACE(testing::Message() << each << ' ' << slices << ' ' << name_of(distribution));
        this->expect_merges(keys, slices, each);
      }
    }
  }
}

// The last key of a bucket must not pass the greatest key, and a bucket may hold nearly all keys.
TYPED_TEST(CacheSort, MergesSlicesOfTheLeastAndGreatestKeys) {
  for (const std::size_t count : {3U, 100U, 10'000U}) {
    const std::vector<TypeParam> keys = this->keys_of(Distribution::kUniform, count);
    for (const std::size_t share : {1U, 2U, 100U, 5'000U}) {
      std::vector<TypeParam> some = keys;
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (i % share != 0) some[i] = static_cast<TypeParam>(~TypeParam{0} - (some[i] & 0xffU));
        if (i % share == 1) some[i] = 0;
      }
      some[0] = 0;
      some[1] = static_cast<TypeParam>(~TypeParam{0});
      for (const std::size_t slices : {2U, 3U, 20U}) this->expect_merges(some, slices);
    }
  }
}

// As broken runs may be: the last keys are not the greatest. The proof finds the disorder, if the
// merge ends and keeps the keys.
TYPED_TEST(CacheSort, MergesSlicesThatAreNotSortedToTheirKeys) {
  constexpr std::size_t kCount = 10'000;
  constexpr auto kMiddle = static_cast<TypeParam>(~TypeParam{0} / 2);
  for (const std::size_t count_of_slices : {2U, 3U, 20U}) {
    std::vector<TypeParam> input = this->keys_of(Distribution::kUniform, kCount);
    std::vector<std::span<const TypeParam>> slices;
    const std::size_t each = kCount / count_of_slices;
    input.resize(each * count_of_slices);
    for (std::size_t begin = 0; begin < input.size(); begin += each) {
      const std::span<TypeParam> slice = std::span(input).subspan(begin, each);
      std::sort(slice.begin(), slice.end());
      slice.back() = kMiddle;
      slices.push_back(slice);
    }
    std::vector<TypeParam> keys(input.size());
    std::vector<TypeParam> scratch(input.size());
    cache_merge<TypeParam>(slices, keys, scratch);
    std::sort(keys.begin(), keys.end());
    std::sort(input.begin(), input.end());
    EXPECT_EQ(keys, input);
  }
}

TYPED_TEST(CacheSort, SortsAllShortSequencesOfTheLeastAndGreatestKeys) {
  const TypeParam values[] = {0, 1, static_cast<TypeParam>(~TypeParam{1}),
                              static_cast<TypeParam>(~TypeParam{0})};
  for (unsigned code = 0; code < 4U * 4 * 4 * 4 * 4 * 4; ++code) {
    std::vector<TypeParam> keys;
    for (unsigned rest = code, i = 0; i < 6; ++i, rest /= 4) keys.push_back(values[rest % 4]);
    this->expect_sorts(keys);
  }
}

// Each level finds nearly all keys in one bucket: the deepest recursion there is.
TYPED_TEST(CacheSort, SortsKeysThatCrowdTogetherAtEveryScale) {
  std::mt19937_64 random(3);
  std::vector<TypeParam> keys;
  for (unsigned shift = 0; shift < 8 * sizeof(TypeParam); ++shift) {
    keys.push_back(static_cast<TypeParam>(std::uint64_t{1} << shift));
    for (int i = 0; i < 200; ++i) {
      const auto bits = static_cast<TypeParam>(random());
      keys.push_back(static_cast<TypeParam>(bits >> shift));
    }
  }
  this->expect_sorts(keys);
  for (TypeParam& key : keys) key = static_cast<TypeParam>(~key);
  this->expect_sorts(keys);
}

TYPED_TEST(CacheSort, SortsOneKeyFarFromAllOthers) {
  std::vector<TypeParam> keys(10'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<TypeParam>(i * 7919 % 4'001);
  keys[5'000] = static_cast<TypeParam>(~TypeParam{0});
  this->expect_sorts(keys);
}

TYPED_TEST(CacheSort, SortsKeysOfFewValues) {
  for (const std::size_t values : {2U, 4'095U, 4'096U, 4'097U, 20'000U}) {
    SCOPED_TRACE(values);
    std::vector<TypeParam> keys(20'000);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      keys[i] = static_cast<TypeParam>(~TypeParam{0} - static_cast<TypeParam>(i * 7'919 % values));
    }
    this->expect_sorts(keys);
  }
}

TYPED_TEST(CacheSort, FindsTheRangeOfKeys) {
  for (std::size_t count = 1; count < 200; ++count) {
    const auto keys = this->keys_of(Distribution::kUniform, count);
    const auto range = range_of(std::span<const TypeParam>(keys));
    EXPECT_EQ(range.least, *std::min_element(keys.begin(), keys.end()));
    EXPECT_EQ(range.greatest, *std::max_element(keys.begin(), keys.end()));
  }
}

}  // namespace
}  // namespace gsort::cpu
